// How the kernels of the sweeps are tuned. Milliseconds are of a pair from zero in FP64 on one H200; more of what was
// tried: docs/notes/symgs-gpu.md.
#pragma once

namespace seidel::symgs_detail::device {

/// What a tuning may leave out. They are types, since kernels cannot have values of a class as template parameters (nvcc 13).
struct Tuning {
  // static constexpr int entries;  that a lane holds at once, in registers; wider slices take several passes
  // static constexpr int batch;    terms between two looks at what is awaited
  // static constexpr int threads;
  static constexpr int blocks = 1;         // that a multiprocessor must have room for, which bounds the registers
  static constexpr bool one_pass = false;  // no slice is wider than `entries`
  static constexpr int inner = 0;          // rows of a node, but for one, at most
};

namespace tuned {

/// Rows of 3 terms, as poisson3d:256: many warps. 256 or 1024 threads: 1.23 to 1.24 for 1.23.
struct UpTo3 : Tuning {
  static constexpr int entries = 3, batch = 3, threads = 512, blocks = 4;
  static constexpr bool one_pass = true;
};
struct UpTo3General : UpTo3 {
  static constexpr int blocks = 3;
};
/// hpcg:192. All 13 terms in one batch: 1.64 for 1.52. 256 threads: 1.50 for 1.52. Lattices with 4, 5 and 7 terms: 3.37,
/// 0.418 and 0.426; with 7 entries in 128 threads: 3.56, 0.437 and 0.447.
struct UpTo13 : Tuning {
  static constexpr int entries = 13, batch = 7, threads = 256;
  static constexpr bool one_pass = true;
};
/// Almost all registers of a multiprocessor for 8 warps: what is held need not be asked for again.
struct Wide : Tuning {
  static constexpr int entries = 41, batch = 8, threads = 64;
};
/// elasticity3d:96, nodes of 3 with 39 terms: 1.22, with each row by itself 1.89.
struct NodesUpTo3 : Tuning {
  static constexpr int entries = 39, batch = 8, threads = 64, inner = 2;
};
struct Nodes : Tuning {
  static constexpr int entries = 13, batch = 7, threads = 128, inner = 5;
};

// Slices without gaps, and long rows.
struct DenseUpTo3 : Tuning {
  static constexpr int entries = 3, batch = 3, threads = 256;
};
/// banded:20000:8 13.85; with 13 entries in 128 threads: 14.33.
struct DenseWide : Tuning {
  static constexpr int entries = 41, batch = 8, threads = 64;
};

// Strips of eight right-hand sides: hpcg:128 with 8 columns 1.90; 13 terms in passes of 7: 2.74, in one batch: 3.92,
// blocks of 128 threads: 2.25. poisson3d:128 1.01; blocks of 256 threads: 1.02, of 512: 1.05, 42 registers: 1.74.
struct StripsUpTo3 : Tuning {
  static constexpr int entries = 3, batch = 3, threads = 128, blocks = 6;
  static constexpr bool one_pass = true;
};
struct StripsUpTo13 : Tuning {
  static constexpr int entries = 13, batch = 7, threads = 64;
  static constexpr bool one_pass = true;
};
struct StripsWide : Tuning {
  static constexpr int entries = 7, batch = 7, threads = 128;
};
struct StripsOfNodesUpTo3 : Tuning {
  static constexpr int entries = 10, batch = 5, threads = 64, inner = 2;
};
struct StripsOfNodes : Tuning {
  static constexpr int entries = 7, batch = 7, threads = 96, inner = 5;
};

}  // namespace tuned

}  // namespace seidel::symgs_detail::device
