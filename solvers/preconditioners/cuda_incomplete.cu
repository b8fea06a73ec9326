// Incomplete factors without fill, on a GPU: the operations of the host in its order, so its bits.
//
// A warp takes a row, wavefront by wavefront, by tickets, and waits for the rows that it needs. A row is done when `lower`
// says how many of its entries lie left of the diagonal.
#include <seidel/solvers/preconditioners/incomplete.hpp>

#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/kernels/cuda_waiting.cuh>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/symgs/cuda/analysis.cuh>

namespace seidel {

namespace {

using cuda::Patience, cuda::peek, cuda::Unset, cuda::warp_size, cuda::whole_warp;

constexpr int threads = 128;

struct Found {
  unsigned hung;      // a wait was given up
  unsigned unusable;  // some pivot
};

template <class Offset>
struct Factorisation {
  CsrView<double, Offset, Device> A;
  double shift;
  double* w;
  Index* lower;        // per row; unset until the row is done
  const Index* order;  // of the rows: those of a wavefront need only those of earlier ones

  __device__ Offset diagonal(Index row) const { return A.row_ptr[row] + max(lower[row], 0); }
  /// The entry of a column among first ... last - 1, or last.
  __device__ Offset entry(Offset first, Offset last, Index column) const {
    const Offset at = partition_point(first, last, [&](Offset k) { return A.col_idx[k] < column; });
    return at < last && A.col_idx[at] == column ? at : last;
  }
  __device__ void await_rows(Offset first, Index row, Patience& patience) const {
    for (std::int64_t k = first + cuda::lane(); k < A.row_ptr[row + 1] && A.col_idx[k] < row; k += warp_size)
      while (Unset<Index>::is(peek(lower + A.col_idx[k])) && !patience.ends()) {}
    __syncwarp();
    __threadfence();
  }

  /// Saad (2003), algorithm 10.4. Returns the diagonal entry's place.
  __device__ Offset lu(Index row) const {
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
    for (std::int64_t k = first + cuda::lane(); k < last; k += warp_size)
      w[k] = A.col_idx[k] == row ? A.values[k] * (1 + shift) : A.values[k];
    __syncwarp();
    Offset k = first;
    for (; A.col_idx[k] < row; ++k) {
      const Index above = A.col_idx[k];
      const Offset pivot = diagonal(above);
      const double multiple = w[k] / w[pivot];
      for (std::int64_t e = pivot + 1 + cuda::lane(); e < A.row_ptr[above + 1]; e += warp_size)
        if (const Offset at = entry(k + 1, last, A.col_idx[e]); at < last) w[at] = fma(-multiple, w[e], w[at]);
      __syncwarp();
    }
    return k;
  }

  /// sum - the products of rows `row` (its entries first ... end - 1) and `other` left of the diagonals, in the order of
  /// other's entries, each divided by its pivot. The same in all lanes.
  __device__ double less_products(double sum, Offset first, Offset end, Index other, Offset other_end) const {
    for (std::int64_t e = A.row_ptr[other] + cuda::lane();; e += warp_size) {
      double factor = 0, entry_of_other = 0;
      const Offset at = e < other_end ? entry(first, end, A.col_idx[e]) : end;
      if (at < end) factor = -w[at] / w[diagonal(A.col_idx[e])], entry_of_other = w[e];
      for (unsigned common = __ballot_sync(whole_warp, at < end); common; common &= common - 1) {
        const int l = __ffs(int(common)) - 1;
        sum = fma(__shfl_sync(whole_warp, factor, l), __shfl_sync(whole_warp, entry_of_other, l), sum);
      }
      if (!__any_sync(whole_warp, e + warp_size < other_end)) return sum;
    }
  }
  /// L D L' from the lower triangle; LD is found, and mirrored as U = (LD)'.
  __device__ Offset cholesky(Index row, bool& finite) const {
    const Offset first = A.row_ptr[row];
    Offset k = first;
    for (; A.col_idx[k] < row; ++k) {
      const Index other = A.col_idx[k];
      const Offset pivot = diagonal(other), end = A.row_ptr[other + 1];
      const double sum = less_products(A.values[k], first, k, other, pivot);
      finite &= isfinite(sum);
      __syncwarp();
      if (cuda::lane() == 0) w[k] = w[entry(pivot + 1, end, row)] = sum;
      __syncwarp();
    }
    const double pivot = less_products(A.values[k] * (1 + shift), first, k, row, k);
    if (cuda::lane() == 0) w[k] = pivot;
    __syncwarp();
    return k;
  }
};

template <Factors what, class Offset>
__global__ void __launch_bounds__(threads) factorise(Factorisation<Offset> of, unsigned* ticket, Found* found) {
  const std::int64_t warp = std::int64_t(cuda::draw_ticket(ticket)) * (threads / warp_size) + threadIdx.x / warp_size;
  if (warp >= of.A.nrows) return;
  const Index row = of.order[warp];
  Patience patience(&found->hung);
  of.await_rows(of.A.row_ptr[row], row, patience);
  bool usable = true;
  Offset diagonal;
  if constexpr (what == Factors::lu) {
    diagonal = of.lu(row);
    for (std::int64_t k = of.A.row_ptr[row] + cuda::lane(); k < of.A.row_ptr[row + 1]; k += warp_size)
      usable &= isfinite(of.w[k]);
  } else {
    diagonal = of.cholesky(row, usable);
    usable &= of.w[diagonal] > 0;
  }
  if (!usable || !usable_pivot(of.w[diagonal], of.A.values[diagonal])) *(volatile unsigned*)&found->unusable = 1;
  __syncwarp();
  __threadfence();
  if (cuda::lane() == 0) cuda::put(of.lower + row, Index(diagonal - of.A.row_ptr[row]));
}

}  // namespace

template <class Offset>
bool incomplete_factors(const Cuda& on, Factors what, const CsrView<double, Offset, Device>& A, double shift,
                        DeviceSpan<double> w) {
  if (what == Factors::cholesky && !properties(on, A).pattern_symmetric) {
    const auto here = copied_to<Host>(on, A);
    return incomplete_factors(host_of(on), what, here.view(), shift, Array<double>(A.nnz()).span());  // names the row
  }
  if (A.nrows == 0) return true;
  const orders_detail::Pattern<Offset> pattern{A.nrows, A.row_ptr.data(), A.col_idx.data()};
  const auto order = colour_order(on, symgs_detail::device::row_wavefronts(on, pattern).span());
  Array<Index, Device> lower(on, A.nrows);
  Array<unsigned, Device> ticket(on, 1);
  Array<Found, Device> state(on, 1);
  cuda::set_bytes(on, lower.span(), 0xff);
  cuda::set_bytes(on, ticket.span(), 0);
  cuda::set_bytes(on, state.span(), 0);
  cuda::launch(on, what == Factors::lu ? factorise<Factors::lu, Offset> : factorise<Factors::cholesky, Offset>,
               blocks_for(A.nrows, threads / warp_size), threads, "incomplete factors",
               Factorisation<Offset>{A, shift, w.data(), lower.data(), order.data()}, ticket.data(), state.data());
  const Found found = value_of(on, state.data());
  if (found.hung)
    throw BackendError(
        "incomplete factors on the GPU: a row waited for another for seconds\n"
        "  the GPU may be suspended or the matrix may have changed meanwhile; factorise on the host instead");
  return !found.unusable;
}

template bool incomplete_factors(const Cuda&, Factors, const CsrView<double, std::int32_t, Device>&, double,
                                 DeviceSpan<double>);
template bool incomplete_factors(const Cuda&, Factors, const CsrView<double, std::int64_t, Device>&, double,
                                 DeviceSpan<double>);

}  // namespace seidel
