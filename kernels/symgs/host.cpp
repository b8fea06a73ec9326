// Gauss-Seidel sweeps on the host, 8 independent rows at a time where there are as many.
//
// The analysis copies A into two triangles, entries in the order in which the sweep reads them, so that a sweep streams
// and the pair from a zero guess reads each entry once: a half row of CSR drags the other half along in its cache lines.
#include <atomic>

#include <seidel/formats/parallel.hpp>
#include <seidel/kernels/spmm/row.hpp>
#include <seidel/kernels/symgs/slices.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

namespace {

/// More than 64 terms; apart from the loops over rows, whose code it would swell.
template <class Real>
[[gnu::noinline]] Real long_sum(const RowPart<Real>& part) {
  Real sum;
  with_simd([&] { sum = sum_of_long<Real>(part.length, part.term); });
  return sum;
}

template <class Real, int W>
using RowMajorTerm = ColumnsTerm<Real, W, Layout::row_major>;
template <class Real, int W>
[[gnu::noinline]] Columns<Real, W> long_sums(std::int64_t length, const RowMajorTerm<Real, W>& term) {
  Columns<Real, W> sums;
  with_simd([&] { sums = sum_of_long<Columns<Real, W>>(length, term); });
  return sums;
}

/// One side of the diagonal, entries in the order of the sweep: see Run.
template <class Real>
struct Triangle {
  Array<Index> col_idx;
  Array<Real> values;

  std::int64_t bytes() const { return col_idx.size() * std::int64_t(sizeof(Index) + sizeof(Real)); }
};

/// How far ahead of the sums memory is asked for, since the order of a sweep is none that a processor foresees: entries
/// of A, and rows of x and b.
constexpr std::int64_t entries_ahead = 640, rows_ahead = 64;

/// The side of H rows next to each other: entry k of row l at H k + l.
template <class Real, int H>
struct Side {
  const Index* col_idx;
  const Real* values;
  std::int64_t length;

  Columns<Real, H> sums(const Real* x) const {
    if constexpr (H == 1)
      if (length > short_sum) return {long_sum<Real>({{col_idx, values, 1, x}, length})};
    if constexpr (H == 1) fetch_later(0), fetch_later(8);
    Columns<Real, H> sum{};
    for (std::int64_t k = 0; k < length; ++k) {
      if constexpr (H > 1) fetch_later(k * H);
      for (int l = 0; l < H; ++l) sum.at[l] = std::fma(values[k * H + l], x[col_idx[k * H + l]], sum.at[l]);
    }
    return sum;
  }
  void fetch_later(std::int64_t entry) const {  // into L2: L1 is for x
    __builtin_prefetch(values + entry + entries_ahead, 0, 2);
    __builtin_prefetch(col_idx + entry + entries_ahead, 0, 2);
  }
  /// With x and with y, in one pass over the entries.
  std::pair<Columns<Real, H>, Columns<Real, H>> sums_of_two(const Real* x, const Real* y) const {
    if (length > short_sum) return {sums(x), sums(y)};
    Columns<Real, H> with_x{}, with_y{};
    for (std::int64_t k = 0; k < length; ++k) {
      if (H > 1 || k % 8 == 0) fetch_later(k * H);
      for (int l = 0; l < H; ++l) {
        with_x.at[l] = std::fma(values[k * H + l], x[col_idx[k * H + l]], with_x.at[l]);
        with_y.at[l] = std::fma(values[k * H + l], y[col_idx[k * H + l]], with_y.at[l]);
      }
    }
    return {with_x, with_y};
  }
  /// Those of row l with W columns of a row-major X, from the one that x is the first element of.
  template <int W>
  Columns<Real, W> sums_of_columns(int l, const Real* x, std::int64_t leading_dimension) const {
    const RowMajorTerm<Real, W> term{col_idx + l, values + l, H, x, leading_dimension};
    return length <= short_sum ? sum_left_to_right<Columns<Real, W>>(0, length, 1, term) : long_sums(length, term);
  }
};

/// Rows in places `place` ... place + H - 1, none of which needs another.
template <class Real, int H>
struct Slice {
  static constexpr int height = H;
  std::int64_t place;
  Side<Real, H> lower, upper;
};

/// Analysis and sweeps; one core is one thread.
template <class Real, class Offset>
struct Sweeps {
  OpenMP on;
  CsrView<Real, Offset, Host> A;
  Triangle<Real> lower, upper;
  Array<Real> reciprocal, t;  // by place; t_p = b_i - S(lower), left by the forward sweep of a pair
  Array<Real> t_of_columns;   // the same for several columns, which stand side by side
  Schedule schedule{A.nrows};
  std::vector<Run<Offset>> runs;

  Sweeps(OpenMP on, const CsrView<Real, Offset, Host>& A) : on(on), A(A), reciprocal(A.nrows), t(A.nrows) {
    refuse_unusable_rows();
    if (on.threads > 1) schedule = Schedule(on, A.row_ptr, A.col_idx);
    runs = cut_into_runs(on, A.row_ptr, A.col_idx, schedule);
    allocate_triangles();
    fill();
  }

  void refuse_unusable_rows() const {
    std::atomic<std::int64_t> first_bad = A.nrows;
    parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t row = first; row < last; ++row) {
        if (usable_diagonal(A, row) >= 0) continue;
        std::int64_t known = first_bad.load();
        while (row < known && !first_bad.compare_exchange_weak(known, row)) {}
        break;
      }
    });
    const std::int64_t row = first_bad;
    if (row == A.nrows) return;
    const Offset first = A.row_ptr[row], last = A.row_ptr[row + 1];
    refuse_row(row, {A.col_idx.data() + first, A.col_idx.data() + last},
               {A.values.data() + first, A.values.data() + last});
  }

  void allocate_triangles() {
    std::int64_t nlower = 0, nupper = 0;
    for (const Run<Offset>& run : runs) nlower += run.count() * run.lower, nupper += run.count() * run.upper;
    lower = {Array<Index>(nlower), Array<Real>(nlower)};
    upper = {Array<Index>(nupper), Array<Real>(nupper)};
  }

  void fill() {
    const Index* const rows = std::as_const(schedule).rows();
    parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
      auto run = runs.begin() + run_of(first);
      for (std::int64_t p = first; p < last; ++p) {
        if (p == run->last) ++run;
        const Offset begin = A.row_ptr[rows[p]], diagonal = begin + run->lower, end = A.row_ptr[rows[p] + 1];
        reciprocal[p] = 1 / A.values[diagonal];
        const std::int64_t lane = (p - run->first) % run->height, step = run->height;
        std::int64_t to = run->lower_of_slice(p - lane) + lane;
        for (Offset k = begin; k < diagonal; ++k, to += step) {
          lower.col_idx[to] = A.col_idx[k];
          lower.values[to] = A.values[k];
        }
        to = run->upper_of_slice(p - lane) + lane;
        for (Offset k = end - 1; k > diagonal; --k, to += step) {
          upper.col_idx[to] = A.col_idx[k];
          upper.values[to] = A.values[k];
        }
      }
    });
  }

  /// The run that place p is in; there is one.
  std::int64_t run_of(std::int64_t p) const {
    return std::partition_point(runs.begin(), runs.end(), [p](const Run<Offset>& run) { return run.last <= p; }) -
           runs.begin();
  }

  template <int H>
  Slice<Real, H> slice(const Run<Offset>& run, std::int64_t p) const {
    const std::int64_t low = run.lower_of_slice(p), up = run.upper_of_slice(p);
    return {p,
            {lower.col_idx.data() + low, lower.values.data() + low, run.lower},
            {upper.col_idx.data() + up, upper.values.data() + up, run.upper}};
  }
  template <int H, Direction direction, class Visit>
  void each_slice_of(const Run<Offset>& run, const Visit& visit) const {
    if constexpr (direction == Direction::forward)
      for (std::int64_t p = run.first; p < run.last; p += H) visit(slice<H>(run, p));
    else
      for (std::int64_t p = run.last - H; p >= run.first; p -= H) visit(slice<H>(run, p));
  }

  /// visit(slice) for all slices, those before (or, backward, after) that its rows need first.
  template <Direction direction, class Visit>
  void each_slice(const Visit& visit) const {
    schedule.run(direction, [&](std::int64_t first, std::int64_t last) {
      if (first == last) return;
      const std::int64_t first_run = run_of(first), last_run = run_of(last - 1);
      with_simd([&] {
        const Visit local = visit;
        for (std::int64_t r = first_run; r <= last_run; ++r) {
          const Run<Offset> run = runs[direction == Direction::forward ? r : last_run - (r - first_run)];
          run.height == slice_height ? each_slice_of<slice_height, direction>(run, local)
                                     : each_slice_of<1, direction>(run, local);
        }
      });
    });
  }

  void sweep(Direction direction, const Real* b, Real* x, Real omega) const {
    const auto visit = [=, rows = schedule.rows(), d = reciprocal.data()](const auto& slice) {
      const auto low = slice.lower.sums(x), up = slice.upper.sums(x);
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        x[i] = swept(b[i] - low.at[l], up.at[l], d[p], omega, x[i]);
      }
    };
    direction == Direction::forward ? each_slice<Direction::forward>(visit) : each_slice<Direction::backward>(visit);
  }
  /// Forward, leaving t for backward_from_t.
  void forward_keeping_t(const Real* b, Real* x, Real omega) const {
    const auto visit = [=, rows = schedule.rows(), d = reciprocal.data(),
                        t = const_cast<Real*>(t.data())](const auto& slice) {
      const auto low = slice.lower.sums(x), up = slice.upper.sums(x);
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        t[p] = b[i] - low.at[l];
        x[i] = swept(t[p], up.at[l], d[p], omega, x[i]);
      }
    };
    each_slice<Direction::forward>(visit);
  }
  /// Forward from x = 0, where S(upper) is 0.
  void forward_from_zero(const Real* b, Real* x, Real omega) const {
    const auto visit = [=, n = A.nrows, rows = schedule.rows(), d = reciprocal.data(),
                        t = const_cast<Real*>(t.data())](const auto& slice) {
      const std::int64_t later = std::min<std::int64_t>(slice.place + rows_ahead, n - slice.height);
      for (int l = 0; l < slice.height; ++l)
        __builtin_prefetch(b + rows[later + l]), __builtin_prefetch(x + rows[later + l], 1);
      const auto low = slice.lower.sums(x);
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        t[p] = b[i] - low.at[l];
        x[i] = swept(t[p], Real(0), d[p], omega, Real(0));
      }
    };
    each_slice<Direction::forward>(visit);
  }
  void backward_from_t(Real* x, Real omega) const {
    const auto visit = [=, rows = schedule.rows(), d = reciprocal.data(), t = t.data()](const auto& slice) {
      const std::int64_t later = std::max<std::int64_t>(slice.place - rows_ahead, 0);
      for (int l = 0; l < slice.height; ++l) __builtin_prefetch(x + rows[later + l], 1);
      const auto up = slice.upper.sums(x);
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        x[i] = swept(t[p], up.at[l], d[p], omega, x[i]);
      }
    };
    each_slice<Direction::backward>(visit);
  }
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
    const auto solve_upper = [=, rows = schedule.rows(), d = reciprocal.data()](const auto& slice) {
      const auto up = slice.upper.sums(p);
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t i = rows[slice.place + l];
        p[i] = swept(u[i], up.at[l], d[slice.place + l], Real(1), Real(0));
      }
    };
    each_slice<Direction::backward>(solve_upper);
    const auto multiply_and_solve_lower = [=, rows = schedule.rows(), d = reciprocal.data()](const auto& slice) {
      const auto [with_p, with_w] = slice.lower.sums_of_two(p, w);
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t i = rows[slice.place + l];
        Ap[i] = u[i] + with_p.at[l];
        w[i] = swept(Ap[i] - with_w.at[l], Real(0), d[slice.place + l], Real(1), Real(0));
      }
    };
    each_slice<Direction::forward>(multiply_and_solve_lower);
  }
  using Many = MultiVectorView<Real, Host>;
  using ManyConst = MultiVectorView<const Real, Host>;

  /// visit(j, width) for columns j ... j + width - 1 of ncols, the width a constant: so that the sums stay in
  /// registers.
  template <class Visit>
  static void in_strips(std::int64_t ncols, const Visit& visit) {
    std::int64_t j = 0;
    for (; j + 8 <= ncols; j += 8) visit(j, std::integral_constant<int, 8>{});
    for (; j + 2 <= ncols; j += 2) visit(j, std::integral_constant<int, 2>{});
    if (j < ncols) visit(j, std::integral_constant<int, 1>{});
  }
  void columns_forward_from_zero(const ManyConst& R, const Many& X, Real omega) const {
    each_slice<Direction::forward>(
        [=, this, rows = schedule.rows(), ts = const_cast<Real*>(t_of_columns.data())](const auto& slice) {
          for (int l = 0; l < slice.height; ++l) {
            const std::int64_t p = slice.place + l, i = rows[p];
            in_strips(X.ncols, [&](std::int64_t j, auto width) {
              const auto low = slice.lower.template sums_of_columns<width()>(l, X.data + j, X.leading_dimension);
              for (int c = 0; c < width(); ++c) {
                const Real t = ts[p * X.ncols + j + c] = R(i, j + c) - low.at[c];
                X(i, j + c) = swept(t, Real(0), reciprocal[p], omega, Real(0));
              }
            });
          }
        });
  }
  void columns_backward_from_t(const Many& X, Real omega) const {
    each_slice<Direction::backward>([=, this, rows = schedule.rows()](const auto& slice) {
      for (int l = 0; l < slice.height; ++l) {
        const std::int64_t p = slice.place + l, i = rows[p];
        in_strips(X.ncols, [&](std::int64_t j, auto width) {
          const auto up = slice.upper.template sums_of_columns<width()>(l, X.data + j, X.leading_dimension);
          for (int c = 0; c < width(); ++c)
            X(i, j + c) = swept(t_of_columns[p * X.ncols + j + c], up.at[c], reciprocal[p], omega, X(i, j + c));
        });
      }
    });
  }
};

}  // namespace

template <class Real, class Offset, class B>
struct Sweeper<Real, Offset, B>::State : Sweeps<Real, Offset> {
  using Sweeps<Real, Offset>::Sweeps;
};

template <class Real, class Offset, class B>
Sweeper<Real, Offset, B>::Sweeper(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A)
    : state_(std::make_shared<State>(OpenMP{on.threads}, A)) {}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::update_values() {
  state_->refuse_unusable_rows();
  state_->fill();
}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::sweep(Direction direction, const Real* b, Real* x, Real omega) const {
  state_->sweep(direction, b, x, omega);
}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::pair(const Real* b, Real* x, Real omega) const {
  state_->forward_keeping_t(b, x, omega);
  state_->backward_from_t(x, omega);
}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::pair_from_zero(const Real* b, Real* x, Real omega) const {
  state_->forward_from_zero(b, x, omega);
  state_->backward_from_t(x, omega);
}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
  state_->split_product(u, p, Ap, w);
}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::pairs_from_zero(const MultiVectorView<const Real, Host>& R,
                                               const MultiVectorView<Real, Host>& X, Real omega) const {
  const std::int64_t size = X.nrows * X.ncols;
  if (state_->t_of_columns.size() < size) state_->t_of_columns = Array<Real>(size);
  state_->columns_forward_from_zero(R, X, omega);
  state_->columns_backward_from_t(X, omega);
}

template <class Real, class Offset, class B>
std::int64_t Sweeper<Real, Offset, B>::wavefronts() const {
  return wavefronts_of(state_->A.row_ptr, state_->A.col_idx).count();
}

template <class Real, class Offset, class B>
std::int64_t Sweeper<Real, Offset, B>::bytes() const {
  const State& s = *state_;
  return s.lower.bytes() + s.upper.bytes() + (2 * s.t.size() + s.t_of_columns.size()) * std::int64_t(sizeof(Real)) +
         s.schedule.bytes() + std::int64_t(s.runs.size() * sizeof(Run<Offset>));
}

template class Sweeper<double, std::int32_t, Serial>;
template class Sweeper<double, std::int64_t, Serial>;
template class Sweeper<float, std::int32_t, Serial>;
template class Sweeper<float, std::int64_t, Serial>;
template class Sweeper<double, std::int32_t, OpenMP>;
template class Sweeper<double, std::int64_t, OpenMP>;
template class Sweeper<float, std::int32_t, OpenMP>;
template class Sweeper<float, std::int64_t, OpenMP>;

}  // namespace seidel::symgs_detail
