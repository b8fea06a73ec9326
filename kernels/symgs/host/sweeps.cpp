// Gauss-Seidel sweeps on the host, 8 independent rows at a time where there are as many.
#include <seidel/kernels/symgs/host/sweeps.hpp>

#include <array>
#include <bit>
#include <cstring>

#include <seidel/kernels/spmm/row.hpp>

namespace seidel::symgs_detail {

namespace {

/// More than 64 terms; apart from the loops over rows, whose code it would swell.
template <class Real>
[[gnu::noinline]] Real long_sum(const RowTerm<Real>& term, std::int64_t length) {
  Real sum;
  with_simd([&] { sum = sum_of_long<Real>(length, term); });
  return sum;
}

/// The same of several columns.
template <class Sums, class Term>
[[gnu::noinline]] void long_sums(std::int64_t length, const Term& term, Sums& sums) {
  with_avx2([&] { sums = sum_of_long<Sums>(length, term); });
}

/// How far ahead of the sums memory is asked for, since the order of a sweep is none that a processor foresees: entries
/// of A, and rows of x and b.
constexpr std::int64_t entries_ahead = 640, rows_ahead = 64;

/// 8 sums side by side, in vectors of AVX2: compilers do not find by themselves that this gathers and adds with half of
/// the instructions.
template <class Real>
struct LaneSums {
  static constexpr int width = 32 / sizeof(Real);
  using Lanes [[gnu::vector_size(32)]] = Real;
  Lanes sums[slice_height / width]{};

  /// Adds 8 values times x(0) ... x(7).
  void add(const Real* values, const auto& x) {
    for (int part = 0; part < slice_height / width; ++part) {
      Lanes xs{}, vs, next = sums[part];
      for (int l = 0; l < width; ++l) xs[l] = x(part * width + l);
      std::memcpy(&vs, values + part * width, sizeof vs);
      for (int l = 0; l < width; ++l) next[l] = std::fma(vs[l], xs[l], next[l]);
      sums[part] = next;
    }
  }
  operator Columns<Real, slice_height>() const { return std::bit_cast<Columns<Real, slice_height>>(sums); }
};

/// How rows are taken: one alone; in slices of fewer than 8, or of 8, which have columns of their own each; the same of
/// rows that have those of one row, shifted.
enum class Taken { alone, few, together, few_shifted, shifted };

/// One side of a row, in a slice of any kind: for sums with several columns, whose loops are compiled once.
template <class Real>
struct RowSide {
  const Index* col_idx;
  const Real* values;
  std::int64_t length;
  int step_of_columns, step;
  Index shift;

  /// With W columns of a row-major X, from the one that x is the first element of.
  template <int W>
  Columns<Real, W> sums(const Real* x, std::int64_t leading_dimension) const {
    const auto term = [=, this](std::int64_t k, Columns<Real, W> s) {
      const Real a = values[k * step];
      const Real* const row = x + (std::int64_t(col_idx[k * step_of_columns]) + shift) * leading_dimension;
      for (int j = 0; j < W; ++j) s.at[j] = std::fma(a, row[j], s.at[j]);
      return s;
    };
    if (length <= short_sum) return sum_left_to_right<Columns<Real, W>>(0, length, 1, term);
    Columns<Real, W> sum;
    long_sums(length, term, sum);
    return sum;
  }
};

/// With one vector, without AVX2.
template <class Real>
[[gnu::noinline]] Columns<Real, 1> plain_sum(const RowSide<Real>& side, const Real* x) {
  return side.template sums<1>(x, 1);
}
template <class Real>
struct PlainSide : RowSide<Real> {
  static constexpr int H = 1;
  using Height = std::integral_constant<int, 1>;
  Columns<Real, 1> sums(const Real* x) const { return plain_sum<Real>(*this, x); }
  RowSide<Real> row(int) const { return *this; }
};

/// One side of a slice: entry k of row l at height k + l. The sums of fewer than 8 rows go side by side as those of 8:
/// the others have values of entries that follow, and the last row's columns, so that no x is read that is not needed.
template <class Real, Taken taken>
struct Side {
  static constexpr bool is_few = taken == Taken::few || taken == Taken::few_shifted;
  static constexpr bool is_shifted = taken == Taken::few_shifted || taken == Taken::shifted;
  static constexpr int H = taken == Taken::alone ? 1 : slice_height;
  using Height = std::conditional_t<is_few, int, std::integral_constant<int, H>>;

  Height height;
  const Index* shifts;  // H of them, if the rows are shifted
  const Index* col_idx;
  const Real* values;
  std::int64_t length;

  /// What entry k of row l is multiplied with.
  Real factor(std::int64_t k, int l, const Real* x) const {
    if constexpr (is_shifted) return (x + col_idx[k])[shifts[l]];
    return x[col_idx[k * height + (is_few ? std::min<int>(l, height - 1) : l)]];
  }
  Columns<Real, H> sums(const Real* x) const {
    if constexpr (H == 1) {
      if (length > short_sum) return {long_sum<Real>({col_idx, values, 1, x}, length)};
      if (length > 0) fetch_later(0), fetch_later(8);  // of a diagonal matrix there is nothing, not even an address
      Real sum = 0;
      for (std::int64_t k = 0; k < length; ++k) sum = std::fma(values[k], factor(k, 0, x), sum);
      return {sum};
    } else {
      LaneSums<Real> sum;
      for (std::int64_t k = 0; k < length; ++k) {
        fetch_later(k * height);
        sum.add(values + k * height, [&](int l) { return factor(k, l, x); });
      }
      return sum;
    }
  }
  void fetch_later(std::int64_t entry) const {  // into L2: L1 is for x
    __builtin_prefetch(values + entry + entries_ahead, 0, 2);
    if constexpr (!is_shifted) __builtin_prefetch(col_idx + entry + entries_ahead, 0, 2);
  }
  RowSide<Real> row(int l) const {
    if constexpr (is_shifted) return {col_idx, values + l, length, 1, height, shifts[l]};
    return {col_idx + l, values + l, length, height, height, 0};
  }
};

/// Rows in places `place` ... place + height - 1, none of which needs another.
template <class Real, class Side>
struct Slice {
  std::int64_t place;
  typename Side::Height height;
  Side lower, upper;

  /// in_place(p) for its places. To be taken before anything is stored: some processors hold a load back until a store
  /// to the same part of another page is done, and large arrays begin at the same part of theirs.
  Columns<Real, Side::H> loaded(const auto& in_place) const {
    Columns<Real, Side::H> found;
    for (int l = 0; l < height; ++l) found.at[l] = in_place(place + l);
    return found;
  }
};

template <class Real>
using PlainRow = Slice<Real, PlainSide<Real>>;

template <Taken taken, Direction direction, class Real, class Visit>
void each_slice_of(const Sweeps<Real>& of, const Run& run, const Visit& visit) {
  using Found = Slice<Real, Side<Real, taken>>;
  decltype(Found::height) height{};
  if constexpr (Side<Real, taken>::is_few) height = run.height;
  const std::int64_t nslices = run.slices();
  const auto side = [height](const Triangle<Real>& triangle, std::int64_t columns_at, std::int64_t at,
                             const Index* shifts, Index length) -> Side<Real, taken> {
    return {height, shifts, triangle.col_idx.data() + columns_at, triangle.values.data() + at, length};
  };
  for (std::int64_t i = 0; i < nslices; ++i) {
    const std::int64_t s = direction == Direction::forward ? i : nslices - 1 - i, back = nslices - 1 - s;
    const std::int64_t place = run.first + s * height;
    const Index* shifts = of.schedule.rows() + place;
    std::array<Index, slice_height> padded;
    if constexpr (taken == Taken::few_shifted) {
      for (int l = 0; l < slice_height; ++l) padded[l] = shifts[std::min<int>(l, height - 1)];
      shifts = padded.data();
    }
    visit(Found{place, height,
                side(of.lower, run.lower_columns_at + run.columns_before(s, run.lower),
                     run.lower_at + run.before(s, run.lower), shifts, run.lower),
                side(of.upper, run.upper_columns_at + run.columns_before(back, run.upper),
                     run.upper_at + run.before(back, run.upper), shifts, run.upper)});
  }
}

template <Direction direction, class Real>
const Run& run_at(const Sweeps<Real>& of, std::int64_t first, std::int64_t last, std::int64_t r) {
  return of.runs[std::size_t(direction == Direction::forward ? r : last - 1 - (r - first))];
}

/// visit(row) for the rows of runs first ... last - 1 one by one, without AVX2.
template <Direction direction, class Real>
void each_row(const Sweeps<Real>& of, std::int64_t first, std::int64_t last, FunctionRef<const PlainRow<Real>&> visit) {
  const auto visit_rows = [&](const auto& slice) {
    for (int l = 0; l < slice.height; ++l) visit({slice.place + l, {}, {slice.lower.row(l)}, {slice.upper.row(l)}});
  };
  for (std::int64_t r = first; r < last; ++r) {
    const Run& run = run_at<direction>(of, first, last, r);
    run.shifted&& run.height > 1 ? each_slice_of<Taken::few_shifted, direction>(of, run, visit_rows)
                                 : each_slice_of<Taken::few, direction>(of, run, visit_rows);
  }
}

/// visit(j, width) for columns j ... j + width - 1 of ncols, the width a constant: so that the sums stay in
/// registers.
void in_strips(std::int64_t ncols, const auto& visit) {
  std::int64_t j = 0;
  for (; j + 8 <= ncols; j += 8) visit(j, std::integral_constant<int, 8>{});
  for (; j + 2 <= ncols; j += 2) visit(j, std::integral_constant<int, 2>{});
  if (j < ncols) visit(j, std::integral_constant<int, 1>{});
}

/// Whether the backward sweep of a pair would leave the x that its forward sweep left: nothing is right of the
/// diagonal, as in all rows of the last colour.
bool swept_by_forward(const auto& slice, auto omega) { return omega == 1 && slice.upper.length == 0; }

}  // namespace

/// visit(slice) for all slices, those before (or, backward, after) that its rows need first.
template <class Real>
template <Direction direction, class Visit>
void Sweeps<Real>::each_slice(const Visit& visit) const {
  schedule.run(direction, [&](std::int64_t stretch) {
    const std::int64_t first = first_run[stretch], last = first_run[stretch + 1];
    with_avx2(
        [&] {
          const Visit local = visit;
          for (std::int64_t r = first; r < last; ++r) {
            const Run& run = run_at<direction>(*this, first, last, r);
            const bool is_full = run.height == slice_height;
            if (run.height == 1)
              each_slice_of<Taken::alone, direction>(*this, run, local);
            else if (run.shifted)
              is_full ? each_slice_of<Taken::shifted, direction>(*this, run, local)
                      : each_slice_of<Taken::few_shifted, direction>(*this, run, local);
            else
              is_full ? each_slice_of<Taken::together, direction>(*this, run, local)
                      : each_slice_of<Taken::few, direction>(*this, run, local);
          }
        },
        [&] { each_row<direction, Real>(*this, first, last, visit); });
  });
}

template <class Real>
void Sweeps<Real>::backward(const Real* b, Real* x, Real omega) {
  each_slice<Direction::backward>([=, rows = schedule.rows(), d = reciprocal.data()](const auto& slice) {
    const auto low = slice.lower.sums(x), up = slice.upper.sums(x);
    for (int l = 0; l < slice.height; ++l) {
      const std::int64_t p = slice.place + l, i = rows[p];
      x[i] = swept(b[i] - low.at[l], up.at[l], d[p], omega, x[i]);
    }
  });
}

template <class Real>
void Sweeps<Real>::forward(const Real* b, Real* x, Real omega) {
  const auto visit = [=, rows = schedule.rows(), d = reciprocal.data(), t = t.data()](const auto& slice) {
    const auto low = slice.lower.sums(x), up = slice.upper.sums(x);
    const auto rhs = slice.loaded([&](std::int64_t p) { return b[rows[p]]; });
    const auto reciprocals = slice.loaded([&](std::int64_t p) { return d[p]; });
    for (int l = 0; l < slice.height; ++l) {
      const std::int64_t p = slice.place + l, i = rows[p];
      t[p] = rhs.at[l] - low.at[l];
      x[i] = swept(t[p], up.at[l], reciprocals.at[l], omega, x[i]);
    }
  };
  each_slice<Direction::forward>(visit);
}

template <class Real>
void Sweeps<Real>::forward_from_zero(const Real* b, Real* x, Real omega) {
  const auto visit = [=, n = t.size(), rows = schedule.rows(), d = reciprocal.data(), t = t.data()](const auto& slice) {
    const std::int64_t later = std::min<std::int64_t>(slice.place + rows_ahead, n - slice.height);
    for (int l = 0; l < slice.height; ++l)
      __builtin_prefetch(b + rows[later + l]), __builtin_prefetch(x + rows[later + l], 1);
    const auto low = slice.lower.sums(x), rhs = slice.loaded([&](std::int64_t p) { return b[rows[p]]; });
    const auto reciprocals = slice.loaded([&](std::int64_t p) { return d[p]; });
    const auto sweep = [&](const auto& keep_t) {
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        const Real t_p = rhs.at[l] - low.at[l];
        keep_t(p, t_p);
        x[i] = swept(t_p, Real(0), reciprocals.at[l], omega, Real(0));
      }
    };
    const bool t_is_unused = slice.lower.length == 0 || swept_by_forward(slice, omega);
    t_is_unused ? sweep([](auto...) {}) : sweep([t](std::int64_t p, Real t_p) { t[p] = t_p; });
  };
  each_slice<Direction::forward>(visit);
}

template <class Real>
void Sweeps<Real>::backward_from_t(const Real* b, Real* x, Real omega) const {
  const auto visit = [=, rows = schedule.rows(), d = reciprocal.data(), t = t.data()](const auto& slice) {
    if (swept_by_forward(slice, omega)) return;
    const std::int64_t later = std::max<std::int64_t>(slice.place - rows_ahead, 0);
    for (int l = 0; l < slice.height; ++l) __builtin_prefetch(x + rows[later + l], 1);
    const auto up = slice.upper.sums(x);
    const auto sweep = [&](const auto& t_of) {
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        x[i] = swept(t_of(p, i), up.at[l], d[p], omega, x[i]);
      }
    };
    slice.lower.length == 0 ? sweep([b](auto, std::int64_t i) { return b[i]; })
                            : sweep([t](std::int64_t p, auto) { return t[p]; });
  };
  each_slice<Direction::backward>(visit);
}

template <class Real>
void Sweeps<Real>::split_product(const Real* u, Real* p, Real* Ap, Real* w) {
  const auto solve_upper = [=, rows = schedule.rows(), d = reciprocal.data()](const auto& slice) {
    const auto up = slice.upper.sums(p);
    for (int l = 0; l < slice.height; ++l) {
      const std::int64_t i = rows[slice.place + l];
      p[i] = swept(u[i], up.at[l], d[slice.place + l], Real(1), Real(0));
    }
  };
  each_slice<Direction::backward>(solve_upper);
  const auto multiply_and_solve_lower = [=, rows = schedule.rows(), d = reciprocal.data()](const auto& slice) {
    const auto with_p = slice.lower.sums(p), with_w = slice.lower.sums(w);
    for (int l = 0; l < slice.height; ++l) {
      const std::int64_t i = rows[slice.place + l];
      Ap[i] = u[i] + with_p.at[l];
      w[i] = swept(Ap[i] - with_w.at[l], Real(0), d[slice.place + l], Real(1), Real(0));
    }
  };
  each_slice<Direction::forward>(multiply_and_solve_lower);
}

template <class Real>
std::int64_t Sweeps<Real>::columns_from_zero(const ManyConst& R, const Many& X, Real omega) {
  if (X.layout != Layout::row_major) return 0;
  if (t_of_columns.size() < X.nrows * X.ncols) t_of_columns = Array<Real>(X.nrows * X.ncols);
  const Index* const rows = std::as_const(schedule).rows();
  const auto sweep_row = [&](std::int64_t p, const RowSide<Real>& side, const auto& new_x) __attribute__((noinline)) {
    const auto strip = [&](std::int64_t j, auto width) {
      const auto sums = side.template sums<width()>(X.data + j, X.leading_dimension);
      for (int c = 0; c < width(); ++c) X(rows[p], j + c) = new_x(p, j + c, sums.at[c]);
    };
    with_avx2([&] { in_strips(X.ncols, strip); },
              [&] {
                for (std::int64_t j = 0; j < X.ncols; ++j) strip(j, std::integral_constant<int, 1>{});
              });
  };
  const auto from_zero = [&](std::int64_t p, std::int64_t j, Real low) {
    const Real t = t_of_columns[p * X.ncols + j] = R(rows[p], j) - low;
    return swept(t, Real(0), reciprocal[p], omega, Real(0));
  };
  each_slice<Direction::forward>([&](const auto& slice) {
    for (int l = 0; l < slice.height; ++l) sweep_row(slice.place + l, slice.lower.row(l), from_zero);
  });
  const auto from_t = [&](std::int64_t p, std::int64_t j, Real up) {
    return swept(t_of_columns[p * X.ncols + j], up, reciprocal[p], omega, X(rows[p], j));
  };
  each_slice<Direction::backward>([&](const auto& slice) {
    if (swept_by_forward(slice, omega)) return;
    for (int l = 0; l < slice.height; ++l) sweep_row(slice.place + l, slice.upper.row(l), from_t);
  });
  return X.ncols;
}

template <class Real>
std::int64_t Sweeps<Real>::bytes() const {
  std::int64_t values = 2 * schedule.nrows() + t_of_columns.size(), columns = 0;
  for (const auto length : {&Run::lower, &Run::upper}) {
    const auto [entries, of_columns] = sizes(length);
    values += entries + slice_height - 1;
    columns += of_columns;
  }
  return values * std::int64_t(sizeof(Real)) + columns * std::int64_t(sizeof(Index)) + schedule.bytes() +
         std::int64_t(runs.size() * sizeof(Run) + first_run.size() * sizeof(std::int64_t));
}

template struct Sweeps<double>;
template struct Sweeps<float>;

}  // namespace seidel::symgs_detail
