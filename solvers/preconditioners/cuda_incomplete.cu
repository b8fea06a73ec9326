// Incomplete factors without fill, on a GPU: the operations of the host in its order, so its bits.
//
// A warp takes a row, in an order in which each stands behind those that it needs, by tickets, and waits for these. A row is
// done when `lower` says how many of its entries lie left of the diagonal.
#include <seidel/solvers/preconditioners/incomplete.hpp>

#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/formats/runtime/search.hpp>
#include <seidel/kernels/cuda_waiting.cuh>

namespace seidel {

namespace {

using cuda::Patience, cuda::peek, cuda::Unset, cuda::warp_size, cuda::whole_warp;

constexpr int threads = 128, max_held = 256;  // entries of a row that shared memory holds

struct Found {
  unsigned hung;      // a wait was given up
  unsigned unusable;  // some pivot
};

template <class Offset>
struct Factorisation {
  CsrView<double, Offset, Device> A;
  double shift;
  double* w;
  Index* lower;  // per row; unset until the row is done

  __device__ Offset diagonal(Index row) const { return A.row_ptr[row] + max(lower[row], 0); }
};

/// A row in shared memory: its columns, what becomes of its values, and -l of the entries left of the diagonal.
struct HeldRow {
  Index columns[max_held];
  double values[max_held], multiples[max_held];
};

/// The entries `at` ... end - 1 of a row above, 32 at once, one per lane.
template <class Offset>
struct Stretch {
  Offset at, end;
  Index column = -1;  // none
  double value = 0;

  __device__ void load(const Factorisation<Offset>& of) {
    column = at < end ? of.A.col_idx[at] : -1;
    if (at < end) value = of.w[at];
  }
  __device__ bool next(const Factorisation<Offset>& of) {
    at += warp_size;
    if (!__any_sync(whole_warp, at < end)) return false;
    load(of);
    return true;
  }
};

/// The row of a warp. Its entries are counted from the first one; if they are too many, they stay where they are.
template <class Offset>
class ActiveRow {
 public:
  __device__ ActiveRow(const Factorisation<Offset>& of, Index row, HeldRow& held)
      : of_(of),
        row_(row),
        length_(int(of.A.row_ptr[row + 1] - of.A.row_ptr[row])),
        columns_(of.A.col_idx.data() + of.A.row_ptr[row]),
        w_(of.w + of.A.row_ptr[row]),
        values_(w_) {
    if (length_ <= max_held) {
      for (int k = cuda::lane(); k < length_; k += warp_size) held.columns[k] = columns_[k];
      __syncwarp();
      columns_ = held.columns, values_ = held.values, multiples_ = held.multiples;
    }
    diagonal_ = partition_point(0, length_, [&](int k) { return columns_[k] < row; });
  }

  /// Saad (2003), algorithm 10.4. Whether the entries of this lane are finite.
  __device__ bool lu(Patience& patience) {
    begin(length_, patience);
    for_each_above<Factors::lu>([&](int k, double pivot, Stretch<Offset>& above) {
      const double multiple = values_[k] / pivot;
      do {
        if (const int at = place(above.column, k + 1, length_); at < length_)
          values_[at] = fma(-multiple, above.value, values_[at]);
      } while (above.next(of_));
      __syncwarp();
    });
    bool finite = true;
    for (int k = cuda::lane(); k < length_; k += warp_size) {
      finite &= isfinite(values_[k]);
      w_[k] = values_[k];
    }
    return finite;
  }

  /// L D L' from the lower triangle; LD is found, and mirrored as U = (LD)'. Whether all is finite, and the pivot positive.
  __device__ bool cholesky(Patience& patience) {
    begin(diagonal_ + 1, patience);
    bool finite = true;
    for_each_above<Factors::cholesky>([&](int k, double pivot, Stretch<Offset>& above) {
      double sum = values_[k];
      do {  // minus the products of both rows, in the order of the other's entries
        const int at = place(above.column, 0, k);
        const double factor = at < k ? multiple(at) : 0;
        for (unsigned common = __ballot_sync(whole_warp, at < k); common; common &= common - 1) {
          const int l = __ffs(int(common)) - 1;
          sum = fma(__shfl_sync(whole_warp, factor, l), __shfl_sync(whole_warp, above.value, l), sum);
        }
      } while (above.next(of_));
      finite &= isfinite(sum);
      if (cuda::lane() == 0) {
        values_[k] = sum;
        if (multiples_) multiples_[k] = -sum / pivot;
      }
      __syncwarp();
    });
    double pivot = values_[diagonal_];
    for (int k = 0; k < diagonal_; ++k) pivot = fma(multiple(k), values_[k], pivot);
    __syncwarp();
    if (cuda::lane() == 0) values_[diagonal_] = pivot;
    __syncwarp();
    for (int k = cuda::lane(); k <= diagonal_; k += warp_size) {
      w_[k] = values_[k];
      if (k < diagonal_) *mirror(columns_[k]) = values_[k];
    }
    return finite && pivot > 0;
  }

  __device__ Index diagonal() const { return diagonal_; }
  __device__ double pivot() const { return values_[diagonal_]; }

 private:
  /// Takes the values of A up to entry `end`, and waits for the rows that are needed.
  __device__ void begin(int end, Patience& patience) {
    const double* const of_A = of_.A.values.data() + of_.A.row_ptr[row_];
    for (int k = cuda::lane(); k < end; k += warp_size)
      values_[k] = k == diagonal_ ? of_A[k] * (1 + of_.shift) : of_A[k];
    for (int k = cuda::lane(); k < diagonal_; k += warp_size)
      while (Unset<Index>::is(peek(of_.lower + columns_[k])) && !patience.ends()) {}
    __syncwarp();
    __threadfence();
  }

  /// Calls use(k, pivot of the row above that entry k names, its entries right of the diagonal, for Cholesky's left of it)
  /// for the entries left of the diagonal. What the next call needs is asked for before.
  template <Factors what, class Use>
  __device__ void for_each_above(const Use& use) {
    for (int first = 0; first < diagonal_; first += warp_size) {
      const int count = min(warp_size, diagonal_ - first);
      Offset at = 0, end = 0;
      double pivot = 1;
      if (cuda::lane() < count) {
        const Index above = columns_[first + cuda::lane()];
        const Offset diagonal = of_.diagonal(above);
        at = what == Factors::lu ? diagonal + 1 : of_.A.row_ptr[above];
        end = what == Factors::lu ? of_.A.row_ptr[above + 1] : diagonal;
        pivot = of_.w[diagonal];
      }
      const auto stretch = [&](int l) {
        Stretch<Offset> s{__shfl_sync(whole_warp, at, l) + cuda::lane(), __shfl_sync(whole_warp, end, l)};
        s.load(of_);
        return s;
      };
      Stretch<Offset> next = stretch(0);
      for (int l = 0; l < count; ++l) {
        Stretch<Offset> above = next;
        if (l + 1 < count) next = stretch(l + 1);
        use(first + l, __shfl_sync(whole_warp, pivot, l), above);
      }
    }
  }

  /// The entry of a column among low ... high - 1, or high.
  __device__ int place(Index column, int low, int high) const {
    const int at = partition_point(low, high, [&](int k) { return columns_[k] < column; });
    return at < high && columns_[at] == column ? at : high;
  }
  __device__ double multiple(int k) const {
    return multiples_ ? multiples_[k] : -values_[k] / of_.w[of_.diagonal(columns_[k])];
  }
  /// Of this row in the row of U above, which has an entry there.
  __device__ double* mirror(Index above) const {
    return of_.w + partition_point(of_.diagonal(above) + 1, of_.A.row_ptr[above + 1],
                                   [&](Offset e) { return of_.A.col_idx[e] < row_; });
  }

  const Factorisation<Offset>& of_;
  Index row_;
  int length_, diagonal_;
  const Index* columns_;
  double* w_;  // of this row
  double* values_;
  double* multiples_ = nullptr;
};

template <Factors what, class Offset>
__global__ void __launch_bounds__(threads) factorise(const __grid_constant__ Factorisation<Offset> of,
                                                     Span<const Index, Device> order, unsigned* ticket, Found* found) {
  __shared__ HeldRow held[threads / warp_size];
  const std::int64_t turn = std::int64_t(cuda::draw_ticket(ticket)) * (threads / warp_size) + threadIdx.x / warp_size;
  const Index row = turn < order.size() ? order[turn] : -1;
  if (row < 0) return;
  if (__any_sync(whole_warp, *(volatile unsigned*)&found->unusable)) {  // these factors are of no use any more
    if (cuda::lane() == 0) cuda::put(of.lower + row, 0);
    return;
  }
  Patience patience(&found->hung);
  ActiveRow<Offset> active(of, row, held[threadIdx.x / warp_size]);
  const bool usable = what == Factors::lu ? active.lu(patience) : active.cholesky(patience);
  if (!usable || !usable_pivot(active.pivot(), of.A.values[of.A.row_ptr[row] + active.diagonal()]))
    *(volatile unsigned*)&found->unusable = 1;
  __syncwarp();
  __threadfence();
  if (cuda::lane() == 0) cuda::put(of.lower + row, active.diagonal());
}

}  // namespace

template <class Offset>
void require_symmetric_pattern(const Cuda& on, const CsrView<double, Offset, Device>& A) {
  if (properties(on, A).pattern_symmetric) return;
  const auto here = copied_to<Host>(on, A);
  incomplete_factors(host_of(on), Factors::cholesky, here.view(), 0, Array<double>(A.nnz()).span());  // names the row
  throw InputError("ic0: the pattern of A is not symmetric");
}

template <class Offset>
bool incomplete_factors(const Cuda& on, Factors what, const CsrView<double, Offset, Device>& A,
                        Span<const Index, Device> order, double shift, DeviceSpan<double> w) {
  if (A.nrows == 0) return true;
  Array<Index, Device> lower(on, A.nrows);
  Array<unsigned, Device> ticket(on, 1);
  Array<Found, Device> state(on, 1);
  cuda::set_bytes(on, lower.span(), 0xff);
  cuda::set_bytes(on, ticket.span(), 0);
  cuda::set_bytes(on, state.span(), 0);
  cuda::launch(on, what == Factors::lu ? factorise<Factors::lu, Offset> : factorise<Factors::cholesky, Offset>,
               blocks_for(order.size(), threads / warp_size), threads, "incomplete factors",
               Factorisation<Offset>{A, shift, w.data(), lower.data()}, order, ticket.data(), state.data());
  const Found found = value_of(on, state.data());
  if (found.hung)
    throw BackendError(
        "incomplete factors on the GPU: a row waited for another for seconds\n"
        "  the GPU may be suspended or the matrix may have changed meanwhile; factorise on the host instead");
  return !found.unusable;
}

template void require_symmetric_pattern(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template void require_symmetric_pattern(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template bool incomplete_factors(const Cuda&, Factors, const CsrView<double, std::int32_t, Device>&,
                                 Span<const Index, Device>, double, DeviceSpan<double>);
template bool incomplete_factors(const Cuda&, Factors, const CsrView<double, std::int64_t, Device>&,
                                 Span<const Index, Device>, double, DeviceSpan<double>);

}  // namespace seidel
