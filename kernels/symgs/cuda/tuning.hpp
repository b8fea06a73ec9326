// How the kernels of the sweeps are tuned. Milliseconds are of a pair from zero in FP64 on one H200; more of what was
// tried: docs/notes/symgs-gpu.md.
#pragma once

namespace seidel::symgs_detail::device {

/// A type, since kernels cannot have values of a class as template parameters (nvcc 13).
/// entries  that a lane holds at once, in registers; wider slices take several passes
/// batch    terms between two looks at what is awaited
/// blocks   that a multiprocessor must have room for, which bounds the registers
/// inner    rows of a node, but for one, at most
/// one_pass no slice is wider than `entries`
template <int entries_, int batch_, int threads_, int blocks_ = 1, int inner_ = 0, bool one_pass_ = false>
struct Tuning {
  static constexpr int entries = entries_, batch = batch_, threads = threads_, blocks = blocks_, inner = inner_;
  static constexpr bool one_pass = one_pass_;
};

/// Rows of 3 terms, as poisson3d:256: many warps. 256 or 1024 threads: 1.23 to 1.24 for 1.23.
using UpTo3 = Tuning<3, 3, 512, 4, 0, true>;
using UpTo3General = Tuning<3, 3, 512, 3, 0, true>;
/// hpcg:192. All 13 terms in one batch: 1.64 for 1.52. 256 threads: 1.50 for 1.52. Lattices with 4, 5 and 7 terms: 3.37,
/// 0.418 and 0.426; with 7 entries in 128 threads: 3.56, 0.437 and 0.447.
using UpTo13 = Tuning<13, 7, 256, 1, 0, true>;
/// Almost all registers of a multiprocessor for 8 warps: what is held need not be asked for again.
using Wide = Tuning<41, 8, 64>;
/// elasticity3d:96, nodes of 3 with 39 terms: 1.22, with each row by itself 1.89.
using NodesUpTo3 = Tuning<39, 8, 64, 1, 2>;
using Nodes = Tuning<13, 7, 128, 1, 5>;

// Slices without gaps, and long rows. The wide ones as above: banded:20000:8 13.85; with 13 entries in 128 threads: 14.33.
using DenseUpTo3 = Tuning<3, 3, 256>;

// Strips of eight right-hand sides: hpcg:128 with 8 columns 1.90; 13 terms in passes of 7: 2.74, in one batch: 3.92,
// blocks of 128 threads: 2.25. poisson3d:128 1.01; blocks of 256 threads: 1.02, of 512: 1.05, 42 registers: 1.74.
using StripsUpTo3 = Tuning<3, 3, 128, 6, 0, true>;
using StripsUpTo13 = Tuning<13, 7, 64, 1, 0, true>;
using StripsWide = Tuning<7, 7, 128>;
using StripsOfNodesUpTo3 = Tuning<10, 5, 64, 1, 2>;
using StripsOfNodes = Tuning<7, 7, 96, 1, 5>;

}  // namespace seidel::symgs_detail::device
