// Gauss-Seidel sweeps on the host. One core: rows in natural order. Several: wavefront after wavefront, each shared
// out.
//
// The analysis copies A into two triangles, entries in the order of the sums and rows in the order of the sweep, so
// that a sweep streams and the pair from a zero guess reads each entry once: a half row of CSR drags the other half
// along in its cache lines.
#include <atomic>
#include <chrono>

#include <seidel/formats/parallel.hpp>
#include <seidel/kernels/spmm/row.hpp>
#include <seidel/kernels/symgs/schedule.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

std::int64_t require_square(std::int64_t nrows, std::int64_t ncols) {
  if (nrows != ncols)
    throw ShapeError("Gauss-Seidel: the matrix has " + std::to_string(nrows) + " rows and " + std::to_string(ncols) +
                     " columns, expected a square one\n  take --precond jacobi or none, or solve the normal equations");
  return nrows;
}

void refuse_row(std::int64_t row, const std::vector<Index>& col_idx, const std::vector<double>& values) {
  bool stored = false;
  double diagonal = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    if (values[k] - values[k] != 0)
      throw InputError("row " + std::to_string(row + 1) + ", column " + std::to_string(col_idx[k] + 1) + ": found " +
                       std::to_string(values[k]) +
                       ", expected a finite number\n  a sweep would spread it over all of x");
    if (col_idx[k] == row) stored = true, diagonal = values[k];
  }
  if (diagonal == 0) throw ZeroDiagonal(row, stored);
  throw InputError("row " + std::to_string(row + 1) +
                   ": the diagonal entry is so small that 1 / a_ii overflows, and this " +
                   "method divides by it\n  scale the row, or take a method that does not (--precond none)");
}

double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

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

/// One side of the diagonal: the entries of the row in place p are first[p] ... first[p + 1] - 1, in the order of the
/// sum.
template <class Real, class Offset>
struct Triangle {
  Array<Offset> first;
  Array<Index> col_idx;
  Array<Real> values;

  std::int64_t bytes() const {
    return first.size() * sizeof(Offset) + col_idx.size() * std::int64_t(sizeof(Index) + sizeof(Real));
  }
  Real sum(std::int64_t p, const Real* x) const {
    const Offset k = first[p];
    const RowPart<Real> part{{col_idx.data() + k, values.data() + k, 1, x}, std::int64_t(first[p + 1] - k)};
    return part.length <= short_sum ? sum_left_to_right<Real>(0, part.length, 1, part.term) : long_sum(part);
  }
  /// With x and with y, in one pass over the entries: the sums do not wait for each other.
  std::pair<Real, Real> sums_of_two(std::int64_t p, const Real* x, const Real* y) const {
    const Offset begin = first[p], end = first[p + 1];
    if (end - begin > short_sum) return {sum(p, x), sum(p, y)};
    Real with_x = 0, with_y = 0;
    for (Offset k = begin; k < end; ++k) {
      with_x = std::fma(values[k], x[col_idx[k]], with_x);
      with_y = std::fma(values[k], y[col_idx[k]], with_y);
    }
    return {with_x, with_y};
  }
  /// The same with W columns of a row-major X, from the one that x is the first element of.
  template <int W>
  Columns<Real, W> sums(std::int64_t p, const Real* x, std::int64_t leading_dimension) const {
    const Offset k = first[p];
    const RowMajorTerm<Real, W> term{col_idx.data() + k, values.data() + k, 1, x, leading_dimension};
    const auto length = std::int64_t(first[p + 1] - k);
    return length <= short_sum ? sum_left_to_right<Columns<Real, W>>(0, length, 1, term) : long_sums(length, term);
  }
};

/// Analysis and sweeps; one core is one thread.
template <class Real, class Offset>
struct Sweeps {
  OpenMP on;
  CsrView<Real, Offset, Host> A;
  Triangle<Real, Offset> lower, upper;
  Array<Real> reciprocal, t;  // by place; t_p = b_i - S(lower), left by the forward sweep of a pair
  Array<Real> t_of_columns;   // the same for several columns, which stand side by side
  Schedule schedule{A.nrows};

  Sweeps(OpenMP on, const CsrView<Real, Offset, Host>& A) : on(on), A(A), reciprocal(A.nrows), t(A.nrows) {
    refuse_unusable_rows();
    if (on.threads > 1) schedule = Schedule(on, A.row_ptr, A.col_idx);
    place_rows();
    fill();
  }

  std::int64_t row_at(std::int64_t p) const { return schedule.row_at(p); }

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

  Offset diagonal_of(std::int64_t row) const {
    const Index* const first = A.col_idx.data() + A.row_ptr[row];
    return Offset(std::lower_bound(first, A.col_idx.data() + A.row_ptr[row + 1], Index(row)) - A.col_idx.data());
  }

  void place_rows() {
    lower.first = Array<Offset>(A.nrows + 1);
    upper.first = Array<Offset>(A.nrows + 1);
    lower.first[0] = upper.first[0] = 0;
    parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t row = row_at(p);
        const Offset diagonal = diagonal_of(row);
        lower.first[p + 1] = diagonal - A.row_ptr[row];
        upper.first[p + 1] = A.row_ptr[row + 1] - diagonal - 1;
      }
    });
    for (std::int64_t p = 0; p < A.nrows; ++p) {
      lower.first[p + 1] += lower.first[p];
      upper.first[p + 1] += upper.first[p];
    }
    for (auto* side : {&lower, &upper}) {
      side->col_idx = Array<Index>(side->first[A.nrows]);
      side->values = Array<Real>(side->first[A.nrows]);
    }
  }

  void fill() {
    parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
      for (std::int64_t p = first; p < last; ++p) {
        const std::int64_t row = row_at(p);
        const Offset diagonal = diagonal_of(row);
        reciprocal[p] = 1 / A.values[diagonal];
        Offset to = lower.first[p];
        for (Offset k = A.row_ptr[row]; k < diagonal; ++k, ++to) {
          lower.col_idx[to] = A.col_idx[k];
          lower.values[to] = A.values[k];
        }
        to = upper.first[p];
        for (Offset k = A.row_ptr[row + 1] - 1; k > diagonal; --k, ++to) {
          upper.col_idx[to] = A.col_idx[k];
          upper.values[to] = A.values[k];
        }
      }
    });
  }

  /// visit(p) for each place p, those before (or, backward, after) that p needs first.
  template <class Visit>
  void each_place(Direction direction, const Visit& visit) const {
    schedule.run(direction, [&](std::int64_t first, std::int64_t last) {
      with_simd([&] {
        const Visit local = visit;
        if (direction == Direction::forward)
          for (std::int64_t p = first; p < last; ++p) local(p);
        else
          for (std::int64_t p = last - 1; p >= first; --p) local(p);
      });
    });
  }

  void forward(const Real* b, Real* x, Real omega) const {
    each_place(Direction::forward, [=, this](std::int64_t p) {
      const std::int64_t i = row_at(p);
      x[i] = swept(b[i] - lower.sum(p, x), upper.sum(p, x), reciprocal[p], omega, x[i]);
    });
  }
  void backward(const Real* b, Real* x, Real omega) const {
    each_place(Direction::backward, [=, this](std::int64_t p) {
      const std::int64_t i = row_at(p);
      x[i] = swept(b[i] - lower.sum(p, x), upper.sum(p, x), reciprocal[p], omega, x[i]);
    });
  }
  /// Forward, leaving t for backward_from_t.
  void forward_keeping_t(const Real* b, Real* x, Real omega) const {
    each_place(Direction::forward, [=, this, t = const_cast<Real*>(t.data())](std::int64_t p) {
      const std::int64_t i = row_at(p);
      t[p] = b[i] - lower.sum(p, x);
      x[i] = swept(t[p], upper.sum(p, x), reciprocal[p], omega, x[i]);
    });
  }
  /// Forward from x = 0, where S(upper) is 0.
  void forward_from_zero(const Real* b, Real* x, Real omega) const {
    each_place(Direction::forward, [=, this, t = const_cast<Real*>(t.data())](std::int64_t p) {
      const std::int64_t i = row_at(p);
      t[p] = b[i] - lower.sum(p, x);
      x[i] = swept(t[p], Real(0), reciprocal[p], omega, Real(0));
    });
  }
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
    each_place(Direction::backward, [=, this](std::int64_t place) {
      const std::int64_t i = row_at(place);
      p[i] = swept(u[i], upper.sum(place, p), reciprocal[place], Real(1), Real(0));
    });
    each_place(Direction::forward, [=, this](std::int64_t place) {
      const std::int64_t i = row_at(place);
      const auto [with_p, with_w] = lower.sums_of_two(place, p, w);
      Ap[i] = u[i] + with_p;
      w[i] = swept(Ap[i] - with_w, Real(0), reciprocal[place], Real(1), Real(0));
    });
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
    each_place(Direction::forward, [=, this, ts = const_cast<Real*>(t_of_columns.data())](std::int64_t p) {
      const std::int64_t i = row_at(p);
      in_strips(X.ncols, [&](std::int64_t j, auto width) {
        const auto low = lower.template sums<width()>(p, X.data + j, X.leading_dimension);
        for (int c = 0; c < width(); ++c) {
          const Real t = ts[p * X.ncols + j + c] = R(i, j + c) - low.at[c];
          X(i, j + c) = swept(t, Real(0), reciprocal[p], omega, Real(0));
        }
      });
    });
  }
  void columns_backward_from_t(const Many& X, Real omega) const {
    each_place(Direction::backward, [=, this](std::int64_t p) {
      const std::int64_t i = row_at(p);
      in_strips(X.ncols, [&](std::int64_t j, auto width) {
        const auto up = upper.template sums<width()>(p, X.data + j, X.leading_dimension);
        for (int c = 0; c < width(); ++c)
          X(i, j + c) = swept(t_of_columns[p * X.ncols + j + c], up.at[c], reciprocal[p], omega, X(i, j + c));
      });
    });
  }
  void backward_from_t(Real* x, Real omega) const {
    each_place(Direction::backward, [=, this](std::int64_t p) {
      const std::int64_t i = row_at(p);
      x[i] = swept(t[p], upper.sum(p, x), reciprocal[p], omega, x[i]);
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
  direction == Direction::forward ? state_->forward(b, x, omega) : state_->backward(b, x, omega);
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
         s.schedule.bytes();
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
