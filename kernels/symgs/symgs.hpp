// Gauss-Seidel sweeps, forward, backward and symmetric: the front door.
#pragma once
#include <memory>
#include <vector>

#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/kernels/symgs/row.hpp>

namespace seidel {

namespace symgs_detail {

/// The sweeps of one matrix on the host or on a GPU, for GaussSeidel; shapes are right. host/sweeps.hpp, cuda/sweeps.cuh.
template <class Real, class Space>
class Sweeper {
 public:
  virtual ~Sweeper() = default;
  /// Takes its memory, if it has not, and these values of A.
  virtual void fill(Span<const Real, Space> values) = 0;
  virtual void forward(const Real* b, Real* x, Real omega) = 0;
  virtual void backward(const Real* b, Real* x, Real omega) = 0;
  virtual void pair(const Real* b, Real* x, Real omega) = 0;
  virtual void pair_from_zero(const Real* b, Real* x, Real omega) = 0;
  virtual void split_product(const Real* u, Real* p, Real* Ap, Real* w) = 0;
  /// The pair from zero for the first columns of R at once; returns how many these are.
  virtual std::int64_t columns_from_zero(const MultiVectorView<const Real, Space>& R,
                                         const MultiVectorView<Real, Space>& X, Real omega) = 0;
  virtual void check() {}
  virtual Span<const Index, Space> order() const { return {}; }
  virtual std::int64_t wavefronts() const = 0;
  virtual std::int64_t bytes() const = 0;  // with what fill() will take
};

/// The order of the sweeps of A, which is as much of the analysis as bytes() needs.
template <class Real, class Offset>
std::shared_ptr<Sweeper<Real, Host>> sweeper(const OpenMP& on, const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
[[gnu::used]] std::shared_ptr<Sweeper<Real, Device>> sweeper(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                                                             Span<const Index, Device> new_to_old);

/// Throws what is wrong with a row that usable_diagonal() refused, given its entries in host memory:
/// ZeroDiagonal, or InputError naming the entry.
[[noreturn]] void refuse_row(std::int64_t row, const std::vector<Index>& col_idx, const std::vector<double>& values);
template <class B, class Real, class Offset>
[[noreturn]] void refuse_row(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A, std::int64_t row) {
  const auto ends = copied_to<Host>(on, A.row_ptr.subspan(row, 2));
  const auto col_idx = copied_to<Host>(on, A.col_idx.subspan(ends[0], ends[1] - ends[0]));
  const auto values = copied_to<Host>(on, A.values.subspan(ends[0], ends[1] - ends[0]));
  refuse_row(row, {col_idx.begin(), col_idx.end()}, {values.begin(), values.end()});
}

}  // namespace symgs_detail

/// The first half of the analysis for GaussSeidel: the order of its sweeps, and the memory that they will take.
///
/// Cost    a third to a half of the analysis; reads no values. A's pattern must outlive this, and the sweeps made of it.
/// Errors  ShapeError.
template <class Real, class Offset, Backend B>
class SweepAnalysis {
 public:
  using Space = SpaceOf<B>;

  /// With new_to_old, on a GPU: for A permuted by it, and b and x in the order before, so that nobody has to permute those.
  SweepAnalysis(B on, CsrView<Real, Offset, Space> A, Span<const Index, Device> new_to_old = {})
      : n_(require_square(A.nrows, A.ncols, "Gauss-Seidel")), nnz_(A.nnz()), on_(on) {
    if constexpr (HostBackend<B>)
      sweeper_ = symgs_detail::sweeper(on, A);
    else
      sweeper_ = symgs_detail::sweeper(on, A, new_to_old);
  }

  std::int64_t bytes() const { return sweeper_->bytes(); }  ///< GaussSeidel::bytes(), before it is made
  /// On a GPU: all rows, each behind those before it that it is coupled to; -1 between them is none.
  Span<const Index, Space> order() const { return sweeper_->order(); }

 private:
  template <class, class, Backend>
  friend class GaussSeidel;

  std::int64_t n_, nnz_;
  B on_;
  std::shared_ptr<symgs_detail::Sweeper<Real, Space>> sweeper_;
};

/// Gauss-Seidel sweeps on A x = b in natural order: x_i <- (b_i - sum over j != i of a_ij x_j) / a_ii, i from first to
/// last (forward) or from last to first (backward), always with the newest x_j; over-relaxed by omega.
///
/// Shapes  A is n x n with every diagonal entry stored, finite and not zero; b and x have n entries and do not overlap.
/// Units   omega is the relaxation factor, 0 < omega < 2; 1 is plain Gauss-Seidel.
/// Cost    the analysis, once: about ten pairs of sweeps, and a copy of A in the order of the sweeps; nothing is
///         allocated in a sweep. Copies share one workspace: use one at a time.
/// Repeats bit for bit on every back end and with any number of threads: wavefronts change who computes, never what.
/// Errors  ShapeError; ZeroDiagonal, or InputError for a NaN or infinite entry or a reciprocal that overflows, naming
///         the first such row.
/// Source  Saad, Iterative Methods for Sparse Linear Systems, SIAM 2003, sec. 4.1.
template <class Real, class Offset, Backend B>
class GaussSeidel {
 public:
  using Space = SpaceOf<B>;

  /// Both halves of the analysis. A's pattern must outlive this.
  GaussSeidel(B on, CsrView<Real, Offset, Space> A, Span<const Index, Device> new_to_old = {})
      : GaussSeidel(SweepAnalysis<Real, Offset, B>(on, A, new_to_old), A.values) {}
  /// The second half: takes the memory and the values.
  GaussSeidel(SweepAnalysis<Real, Offset, B> analysis, Span<const Real, Space> values)
      : n_(analysis.n_), nnz_(analysis.nnz_), on_(analysis.on_), sweeper_(std::move(analysis.sweeper_)) {
    update_values(values);
  }

  /// New values in the same pattern, which need not outlive the call.
  /// Cost    reads A twice: all values are checked before the first is taken over.
  /// Errors  as the constructor; sweeps then go on with the values before.
  void update_values(Span<const Real, Space> values) {
    spmv_detail::require_size(values.size(), nnz_, "update_values", "the array of values");
    sweeper_->fill(values);
  }

  /// One sweep. Cost  reads A once.
  void forward(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_->forward(b.data(), x.data(), omega);
  }
  void backward(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_->backward(b.data(), x.data(), omega);
  }
  /// A forward and a backward sweep. Cost  at most two sweeps: the backward one may take S(lower) from the forward one.
  void symmetric(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_->pair(b.data(), x.data(), omega);
  }
  /// The same pair with x = 0 at first; x is only written. Cost  reads each entry of A once.
  void symmetric_from_zero(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_->pair_from_zero(b.data(), x.data(), omega);
  }

  /// For A = L + D + U: p = (D + U)^-1 u, Ap = A p = u + L p, w = (D + L)^-1 A p; what an iteration of cg in
  /// Eisenstat's form asks for (solvers/eisenstat.hpp). No two of the four overlap.
  /// Cost  a backward and a forward sweep: reads each entry of A once; on a GPU the lower triangle twice.
  void split_product(Span<const Real, Space> u, Span<Real, Space> p, Span<Real, Space> Ap, Span<Real, Space> w) const {
    require_sizes(u, p);
    require_sizes(Ap, w);
    sweeper_->split_product(u.data(), p.data(), Ap.data(), w.data());
  }

  /// The same for each column of R at once: column j of X has the bits of the pair for column j of R alone.
  ///
  /// Shapes  R and X are n x k, each in a layout of its own, and do not overlap.
  /// Cost    reads A once for each 8 columns on the host with X row-major, all but the first time from the cache; once
  ///         for each 32 on a GPU, but for one or two columns left. Otherwise column after column. The first call for so
  ///         many columns allocates n k entries, on a GPU 3 n k up to k = 32, or 2 n.
  void symmetric_from_zero(MultiVectorView<const Real, Space> R, MultiVectorView<Real, Space> X, Real omega = 1) const {
    require_shape(R, n_, X.ncols, "Gauss-Seidel", "R");
    require_shape(X, n_, R.ncols, "Gauss-Seidel", "X");
    for (std::int64_t j = sweeper_->columns_from_zero(R, X, omega); j < X.ncols; ++j) {
      const Real* b = R.data + R.at(0, j);
      Real* x = X.data + X.at(0, j);
      const std::int64_t b_step = R.at(1, 0), x_step = X.at(1, 0);
      if ((b_step != 1 || x_step != 1) && column_.size() < 2 * n_) column_ = Array<Real, Space>(on_, 2 * n_);
      if (b_step != 1) {
        blas1::for_each_element(on_, n_, blas1::CopyStrided<Real>{b, b_step, column_.data(), 1});
        b = column_.data();
      }
      sweeper_->pair_from_zero(b, x_step == 1 ? x : column_.data() + n_, omega);
      if (x_step != 1) blas1::for_each_element(on_, n_, blas1::CopyStrided<Real>{column_.data() + n_, 1, x, x_step});
    }
  }

  /// On a GPU: waits for the sweeps. Errors  BackendError if a row's wait for another was given up, which A's changed
  /// pattern or a fault may cause; that sweep left NaN, and without this call the next one throws.
  void check() const { sweeper_->check(); }

  std::int64_t size() const { return n_; }
  /// Steps that must follow each other; n in a chain.
  std::int64_t wavefronts() const { return sweeper_->wavefronts(); }
  std::int64_t bytes() const { return sweeper_->bytes(); }  ///< memory held beside A

 private:
  void require_sizes(Span<const Real, Space> b, Span<Real, Space> x) const {
    spmv_detail::require_size(b.size(), n_, "Gauss-Seidel", "b");
    spmv_detail::require_size(x.size(), n_, "Gauss-Seidel", "x");
  }

  std::int64_t n_, nnz_;
  B on_;
  std::shared_ptr<symgs_detail::Sweeper<Real, Space>> sweeper_;  // shared by copies
  mutable Array<Real, Space> column_;                            // of R, and of X
};

}  // namespace seidel
