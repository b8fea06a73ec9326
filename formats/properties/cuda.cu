// What can be said of a matrix by looking at each entry, in the memory of the device.
#include <numeric>

#include <seidel/formats/properties/cuda_rows.cuh>
#include <seidel/formats/properties/seen.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>

namespace seidel::properties_detail {

namespace {

/// A long row, by a warp: lanes read, and add one after another.
__device__ void look_together(const auto& A, std::int64_t row, Seen& seen) {
  const std::int64_t begin = A.row_ptr[row], end = A.row_ptr[row + 1];
  RowSums sums;
  std::int64_t below = 0;
  bool stored = false;
  for (std::int64_t first = begin; first < end; first += warp_size) {
    const std::int64_t k = first + lane();
    const int n = int(std::min<std::int64_t>(warp_size, end - first));
    const Index col = lane() < n ? A.col_idx[k] : -1;
    const double value = lane() < n ? double(A.values[k]) : 0;
    if (lane() < n) seen.entry(row, col, value);
    below += __popc(__ballot_sync(whole_warp, lane() < n && col < row));
    const unsigned diagonal = __ballot_sync(whole_warp, lane() < n && col == row);
    stored |= diagonal != 0;
    for (int l = 0; l < n; ++l) sums.add(diagonal >> l & 1, __shfl_sync(whole_warp, value, l));
  }
  if (lane() == 0) seen.row(A, row, below, stored, sums);
}

/// Where part `part` of `nparts` begins, the rows shared out as share_by_nonzeros() does.
__device__ std::int64_t share_begin(const auto& A, int part, int nparts) {
  if (part == nparts) return A.nrows;
  const std::int64_t n = A.nrows + A.nnz(), size = n / nparts, rest = n % nparts;
  const std::int64_t target = part * size + std::min<std::int64_t>(part, rest);
  return partition_point(std::int64_t(0), std::int64_t(A.nrows),
                         [&](auto row) { return row + A.row_ptr[row] < target; });
}

/// The sum of squares of one share of the rows, from left to right, by a warp.
template <class View>
__global__ void squares_of_shares(View A, int nshares, int exponent, double* sums) {
  const int share = int((blockIdx.x * block_size + threadIdx.x) / warp_size);
  if (share >= nshares) return;
  const std::int64_t begin = A.row_ptr[share_begin(A, share, nshares)];
  const std::int64_t end = A.row_ptr[share_begin(A, share + 1, nshares)];
  constexpr int batch = 8;  // loads in flight while the values before are added
  const auto squared = [&](std::int64_t k) { return k < end ? scaled_square(double(A.values[k]), exponent) : 0; };
  double next[batch], sum = 0;
  for (int j = 0; j < batch; ++j) next[j] = squared(begin + j * warp_size + lane());
  for (std::int64_t first = begin; first < end; first += batch * warp_size) {
    double now[batch];
    for (int j = 0; j < batch; ++j) now[j] = next[j];
    for (int j = 0; j < batch; ++j) next[j] = squared(first + (batch + j) * warp_size + lane());
    for (int j = 0; j < batch; ++j)
      for (int l = 0; l < warp_size; ++l) sum += __shfl_sync(whole_warp, now[j], l);  // past the end they are 0
  }
  if (lane() == 0) sums[share] = sum;
}

/// Rows and everything in them but mirrors.
template <class View>
struct LookAtRows {
  View A;

  __device__ void alone(std::int64_t row, Seen& seen) const { seen.whole_row(A, row, 0); }
  __device__ void together(std::int64_t row, Seen& seen) const { look_together(A, row, seen); }
};

/// Calls look(A, row, k, seen) for each entry k.
template <class View, class Look>
struct LookAtEntries {
  View A;
  Look look;

  __device__ void alone(std::int64_t row, Seen& seen) const { entries(row, 0, 1, seen); }
  __device__ void together(std::int64_t row, Seen& seen) const { entries(row, lane(), warp_size, seen); }
  __device__ void entries(std::int64_t row, int first, int step, Seen& seen) const {
    for (std::int64_t k = A.row_ptr[row] + first; k < std::int64_t(A.row_ptr[row + 1]); k += step)
      look(A, row, k, seen);
  }
};

struct LookForMirror {
  Half half;

  __device__ void operator()(const auto& A, std::int64_t row, std::int64_t k, Seen& seen) const {
    const Index col = A.col_idx[k];
    if (half == Half::lower ? col >= row : col <= row) return;
    const std::int64_t begin = A.row_ptr[col], end = A.row_ptr[col + std::int64_t(1)];
    const std::int64_t low = begin + count_below(A.col_idx.data() + begin, end - begin, row);
    const bool stored = low < end && A.col_idx[low] == row;
    seen.mirror(half, double(A.values[k]), stored, stored ? double(A.values[low]) : 0);
  }
};

struct CountDifference {
  __device__ void operator()(const auto& A, std::int64_t row, std::int64_t k, Seen& seen) const {
    seen.unequal += differs(A, row, k);
  }
};

/// Does not wait.
void add_squares(const Cuda& on, const auto& A, int exponent, DeviceSpan<double> sums) {
  constexpr int warps = block_size / warp_size;
  squares_of_shares<<<blocks_for(sums.size(), warps), block_size, 0, on.stream()>>>(A, int(sums.size()), exponent,
                                                                                    sums.data());
  check_launch("adding squares");
}

/// Waits.
double in_order(const Cuda& on, DeviceSpan<const double> there) {
  const Array<double> sums = copied_to<Host>(on, there);
  return std::accumulate(sums.begin(), sums.end(), 0.0);
}

struct Look {
  Seen seen;
  double squares;
};
template <class Real, class Offset>
Look look(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  using View = CsrView<Real, Offset, Device>;
  if (A.nrows == 0) return {};
  Scratch<Cuda> scratch(on);
  const auto seen = scratch.take<Seen>(2);
  const auto squares = scratch.take<double>(shares_of_squares(A.nrows, A.nnz()));
  look_at_rows(on, LookAtRows<View>{A}, "looking at rows", seen.data());
  add_squares(on, A, 0, squares);
  const bool square = A.nrows == A.ncols;
  if (square)
    look_at_rows(on, LookAtEntries<View, LookForMirror>{A, {Half::lower}}, "looking for mirrors", seen.data() + 1);
  const Array<Seen> found = copied_to<Host>(on, Span<const Seen, Device>(seen.subspan(0, square ? 2 : 1)));
  Look all{found[0], in_order(on, squares)};
  if (square) all.seen.join(found[1]);
  return all;
}

template <class Real, class Offset>
Seen look_at_upper_half(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  Scratch<Cuda> scratch(on);
  const auto seen = scratch.take<Seen>(1);
  look_at_rows(on, LookAtEntries<CsrView<Real, Offset, Device>, LookForMirror>{A, {Half::upper}}, "looking for mirrors",
               seen.data());
  return value_of(on, seen.data());
}

template <class Real, class Offset>
bool any_differs(const Cuda& on, const CsrView<Real, Offset, Device>& A) {
  Scratch<Cuda> scratch(on);
  const auto seen = scratch.take<Seen>(1);
  look_at_rows(on, LookAtEntries<CsrView<Real, Offset, Device>, CountDifference>{A, {}}, "comparing mirrors",
               seen.data());
  return value_of(on, seen.data()).unequal > 0;
}

template <class Real, class Offset>
double scaled_squares(const Cuda& on, const CsrView<Real, Offset, Device>& A, int exponent) {
  Scratch<Cuda> scratch(on);
  const auto squares = scratch.take<double>(shares_of_squares(A.nrows, A.nnz()));
  add_squares(on, A, exponent, squares);
  return in_order(on, squares);
}

}  // namespace

}  // namespace seidel::properties_detail

#include <seidel/formats/properties/told.hpp>

namespace seidel {

template MatrixProperties properties(const Cuda&, const CsrView<double, std::int32_t, Device>&);
template MatrixProperties properties(const Cuda&, const CsrView<double, std::int64_t, Device>&);
template MatrixProperties properties(const Cuda&, const CsrView<float, std::int32_t, Device>&);
template MatrixProperties properties(const Cuda&, const CsrView<float, std::int64_t, Device>&);

}  // namespace seidel
