// What sweeps on the host will hold, before they take it.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

namespace symgs_detail {
template <class Offset>
[[gnu::used]] std::int64_t sweep_bytes(const OpenMP& on, HostSpan<const Offset> row_ptr, HostSpan<const Index> col_idx,
                                       int bytes_per_value);
}  // namespace symgs_detail

/// GaussSeidel(on, A).bytes(), without making it: how many columns rows share, and how many runs of rows
/// alike there are, only the order of the sweep tells.
///
/// Shapes  A is square with every diagonal entry stored; values are not read.
/// Cost    the first half of the analysis: three to five sweeps, in parallel; 20 n bytes, given back.
template <HostBackend B, class Real, class Offset>
std::int64_t sweep_bytes(const B& on, const CsrView<Real, Offset, Host>& A) {
  return symgs_detail::sweep_bytes<Offset>(OpenMP{on.threads}, A.row_ptr, A.col_idx, int(sizeof(Real)));
}

}  // namespace seidel
