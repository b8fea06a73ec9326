// Gauss-Seidel on the host: the analysis, in two halves. The first orders the rows, the second takes the values.
// It copies A into two triangles, entries in the order in which the sweep reads them, so that a sweep streams and the
// pair from a zero guess reads each entry once: a half row of CSR drags the other half along in its cache lines.
#include <array>
#include <atomic>
#include <bit>
#include <limits>

#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/symgs/host/sweeps.hpp>

namespace seidel::symgs_detail {

namespace {

/// Whether none is NaN or infinite. In integers, whose loop compilers make a vector of.
template <class Real>
bool all_finite(const Real* values, std::int64_t size) {
  using Bits = std::conditional_t<sizeof(Real) == 8, std::uint64_t, std::uint32_t>;
  constexpr Bits exponent = std::bit_cast<Bits>(std::numeric_limits<Real>::infinity()), lowest = exponent & -exponent;
  Bits carried = 0;  // its first bit: an exponent of ones has one too many
  for (std::int64_t i = 0; i < size; ++i) carried |= (std::bit_cast<Bits>(values[i]) & exponent) + lowest;
  return carried >> (8 * sizeof(Real) - 1) == 0;
}

/// Sweeps of A; one core is one thread.
template <class Real, class Offset>
struct Analysed : Sweeps<Real> {
  using Sweeps<Real>::schedule, Sweeps<Real>::runs, Sweeps<Real>::first_run, Sweeps<Real>::lower, Sweeps<Real>::upper,
      Sweeps<Real>::reciprocal, Sweeps<Real>::t;
  OpenMP on;
  CsrView<Real, Offset, Host> A;

  Analysed(OpenMP on, const CsrView<Real, Offset, Host>& A)
      : Sweeps<Real>(on.threads > 1 ? Schedule(on, A.row_ptr, A.col_idx) : Schedule(A.nrows)), on(on), A(A) {
    runs = cut_into_runs(on, A.row_ptr, A.col_idx, schedule);
    if (runs.empty()) refuse_unusable_rows(A);  // a diagonal entry is not stored
    schedule.each_stretch([&](std::int64_t first, std::int64_t) { first_run.push_back(this->run_of(first)); });
    first_run.push_back(std::int64_t(runs.size()));
  }

  void fill(HostSpan<const Real> values) override {
    auto with_values = A;
    with_values.values = values;
    if (reciprocal.size() < A.nrows)
      allocate();
    else
      refuse_unusable_rows(with_values);  // before the first value is taken over
    A = with_values;
    std::atomic<bool> usable = true;
    parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
      if (first == last) return;
      auto run = runs.begin() + this->run_of(first);
      std::int64_t s = (first - run->first + run->height - 1) / run->height;
      bool all = true;
      for (std::int64_t p = run->first + s * run->height; p < last; p += run->height, ++s) {
        if (p == run->last) ++run, s = 0;
        all &= run->height == slice_height ? fill_slice(*run, s, std::integral_constant<int, slice_height>{})
                                           : fill_slice(*run, s, run->height);
      }
      if (!all) usable = false;
    });
    if (!usable) refuse_unusable_rows(A);
  }
  std::int64_t wavefronts() const override { return orders_detail::wavefronts_of(A.row_ptr, A.col_idx).count(); }

  void refuse_unusable_rows(const CsrView<Real, Offset, Host>& A) const {
    const auto unusable = [&](std::int64_t row) { return usable_diagonal(A, row) < 0; };
    if (const std::int64_t row = first_where(on, A.nrows, 8, unusable); row < A.nrows) refuse_row(on, A, row);
  }

  /// A slice of fewer than 8 rows is read as if there were 8, the last one beyond the end.
  void allocate() {
    const auto triangle = [&](Index Run::*length) {
      const auto [entries, columns] = this->sizes(length);
      Triangle<Real> empty{Array<Index>(columns), Array<Real>(entries + slice_height - 1)};
      std::fill(empty.values.end() - (slice_height - 1), empty.values.end(), Real(0));
      return empty;
    };
    reciprocal = Array<Real>(A.nrows);
    t = Array<Real>(A.nrows);
    lower = triangle(&Run::lower);
    upper = triangle(&Run::upper);
  }

  /// Whether a sweep can use its rows, as usable_diagonal() has it.
  bool fill_slice(const Run& run, std::int64_t s, auto height) {
    const std::int64_t place = run.first + s * height, back = run.slices() - 1 - s;
    const Index* const rows = std::as_const(schedule).rows() + place;
    std::array<Offset, slice_height> first, last;
    bool usable = true;
    for (int l = 0; l < height; ++l) {
      first[l] = A.row_ptr[rows[l]];
      last[l] = A.row_ptr[rows[l] + 1] - 1;
      const Real a = A.values[first[l] + run.lower], d = 1 / a;
      reciprocal[place + l] = d;
      usable &= a - a == 0 && d - d == 0;
    }
    usable &= fill_side(lower, height, run.lower_at + run.before(s, run.lower), first, 1, run.lower);
    usable &= fill_side(upper, height, run.upper_at + run.before(back, run.upper), last, -1, run.upper);
    if (run.shifted && s > 0) return usable;
    const int rows_with_columns = run.shifted ? 1 : int(height);
    const Index shift = run.shifted ? rows[0] : 0;
    const auto fill_columns = [&](Triangle<Real>& to, std::int64_t at, const auto& from, int step, Index length) {
      for (std::int64_t k = 0; k < length; ++k)
        for (int l = 0; l < rows_with_columns; ++l)
          to.col_idx[at + k * rows_with_columns + l] = A.col_idx[from[l] + k * step] - shift;
    };
    fill_columns(lower, run.lower_columns_at + run.columns_before(s, run.lower), first, 1, run.lower);
    fill_columns(upper, run.upper_columns_at + run.columns_before(back, run.upper), last, -1, run.upper);
    return usable;
  }

  /// `length` values of each row of a slice, A's from `first` on; whether all are finite.
  bool fill_side(Triangle<Real>& to, auto height, std::int64_t at, const std::array<Offset, slice_height>& first,
                 int step, Index length) const {
    Real* const values = to.values.data() + at;
    for (std::int64_t k = 0; k < length; ++k)
      for (int l = 0; l < height; ++l) values[k * height + l] = A.values[first[l] + k * step];
    return all_finite(values, std::int64_t(length) * height);
  }
};

}  // namespace

template <class Real, class Offset>
std::shared_ptr<Sweeper<Real, Host>> sweeper(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  return std::make_shared<Analysed<Real, Offset>>(on, A);
}

template std::shared_ptr<Sweeper<double, Host>> sweeper(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template std::shared_ptr<Sweeper<double, Host>> sweeper(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template std::shared_ptr<Sweeper<float, Host>> sweeper(const OpenMP&, const CsrView<float, std::int32_t, Host>&);
template std::shared_ptr<Sweeper<float, Host>> sweeper(const OpenMP&, const CsrView<float, std::int64_t, Host>&);

}  // namespace seidel::symgs_detail
