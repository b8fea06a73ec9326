// Gauss-Seidel on the host: the analysis.
//
// It copies A into two triangles, entries in the order in which the sweep reads them, so that a sweep streams and the
// pair from a zero guess reads each entry once: a half row of CSR drags the other half along in its cache lines.
#include <atomic>

#include <seidel/kernels/symgs/sweeps.hpp>

namespace seidel::symgs_detail {

namespace {

/// Sweeps of A; one core is one thread.
template <class Real, class Offset>
struct Analysed : Sweeps<Real> {
  using Sweeps<Real>::schedule, Sweeps<Real>::runs, Sweeps<Real>::lower, Sweeps<Real>::upper, Sweeps<Real>::reciprocal;
  OpenMP on;
  CsrView<Real, Offset, Host> A;

  Analysed(OpenMP on, const CsrView<Real, Offset, Host>& A)
      : Sweeps<Real>{Schedule(A.nrows), {}, {}, {}, Array<Real>(A.nrows), Array<Real>(A.nrows), {}}, on(on), A(A) {
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
    const auto entries = [&](auto of_run) {
      std::int64_t sum = 0;
      for (const Run& run : runs) sum += of_run(run);
      return sum;
    };
    lower = {Array<Index>(entries([](const Run& run) { return run.rows_with_columns() * run.lower; })),
             Array<Real>(entries([](const Run& run) { return run.rows_stored() * run.lower; }))};
    upper = {Array<Index>(entries([](const Run& run) { return run.rows_with_columns() * run.upper; })),
             Array<Real>(entries([](const Run& run) { return run.rows_stored() * run.upper; }))};
  }

  void fill() {
    parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
      if (first == last) return;
      auto run = runs.begin() + this->run_of(first);
      Lane lane{(first - run->first) / run->height, int((first - run->first) % run->height)};
      for (std::int64_t p = first; p < last; ++p) {
        if (p == run->last) ++run, lane = {};
        fill_row(*run, lane, p);
        if (++lane.number == run->height) lane = {lane.slice + 1};
      }
    });
  }

  struct Lane {
    std::int64_t slice = 0;  // of the run
    int number = 0;
  };
  void fill_row(const Run& run, Lane lane, std::int64_t p) {
    const Index row = std::as_const(schedule).rows()[p];
    const Offset begin = A.row_ptr[row], diagonal = begin + run.lower, end = A.row_ptr[row + 1];
    reciprocal[p] = 1 / A.values[diagonal];
    const std::int64_t back = run.slices() - 1 - lane.slice;
    fill_side(lower, run, lane.number, run.lower_at + run.before(lane.slice, run.lower),
              run.lower_columns_at + run.columns_before(lane.slice, run.lower), row, begin, 1, run.lower);
    fill_side(upper, run, lane.number, run.upper_at + run.before(back, run.upper),
              run.upper_columns_at + run.columns_before(back, run.upper), row, end - 1, -1, run.upper);
  }

  /// `length` entries of a row, A's from `first` on, into a lane of the slice at `at`; the last lane also as padding.
  void fill_side(Triangle<Real>& to, const Run& run, int lane, std::int64_t at, std::int64_t columns_at, Index row,
                 Offset first, int step, Index length) const {
    const int lanes = int(run.lanes()), last = lane + 1 < run.height ? lane : lanes - 1;
    for (Index k = 0; k < length; ++k)
      for (int l = lane; l <= last; ++l) to.values[at + k * lanes + l] = A.values[first + k * step];
    if (!run.shifted)
      for (Index k = 0; k < length; ++k)
        for (int l = lane; l <= last; ++l) to.col_idx[columns_at + k * lanes + l] = A.col_idx[first + k * step];
    else if (row == std::as_const(schedule).rows()[run.first])
      for (Index k = 0; k < length; ++k) to.col_idx[columns_at + k] = A.col_idx[first + k * step] - row;
  }
};

}  // namespace

template <class Real, class Offset, class B>
struct Sweeper<Real, Offset, B>::State : Analysed<Real, Offset> {
  using Analysed<Real, Offset>::Analysed;
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
  state_->forward(b, x, omega);
  state_->backward_from_t(b, x, omega);
}

template <class Real, class Offset, class B>
void Sweeper<Real, Offset, B>::pair_from_zero(const Real* b, Real* x, Real omega) const {
  state_->forward_from_zero(b, x, omega);
  state_->backward_from_t(b, x, omega);
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
  return state_->bytes();
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
