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

enum class Direction { forward, backward };

/// What a back end does for GaussSeidel; shapes are right. Host: host.cpp.
template <class Real, class Offset, class B>
class Sweeper {
 public:
  Sweeper(const B& on, const CsrView<Real, Offset, SpaceOf<B>>& A);
  void update_values();
  void sweep(Direction direction, const Real* b, Real* x, Real omega) const;
  void pair(const Real* b, Real* x, Real omega) const;
  void pair_from_zero(const Real* b, Real* x, Real omega) const;
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const;
  /// X is row-major.
  void pairs_from_zero(const MultiVectorView<const Real, Host>& R, const MultiVectorView<Real, Host>& X,
                       Real omega) const;
  std::int64_t wavefronts() const;
  std::int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// The same on a GPU. check() waits for the stream and throws BackendError if a wait in a sweep did not end.
template <class Real, class Offset>
class Sweeper<Real, Offset, Cuda> {
 public:
  Sweeper(const Cuda& on, const CsrView<Real, Offset, Device>& A, Span<const Index, Device> new_to_old = {});
  void update_values();
  void sweep(Direction direction, const Real* b, Real* x, Real omega) const;
  void pair(const Real* b, Real* x, Real omega) const;
  void pair_from_zero(const Real* b, Real* x, Real omega) const;
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const;
  /// Returns how many columns it did; the last few are left.
  std::int64_t strips_from_zero(const MultiVectorView<const Real, Device>& R, const MultiVectorView<Real, Device>& X,
                                Real omega) const;
  void check() const;
  std::int64_t wavefronts() const;
  std::int64_t bytes() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

/// Throws what is wrong with a row that usable_diagonal() refused, given its entries in host memory:
/// ZeroDiagonal, or InputError naming the entry.
[[noreturn]] void refuse_row(std::int64_t row, const std::vector<Index>& col_idx, const std::vector<double>& values);
double seconds_now();  // of a steady clock

}  // namespace symgs_detail

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

  /// Analysis. Keeps the view: A's arrays must outlive this.
  GaussSeidel(B on, CsrView<Real, Offset, Space> A) : GaussSeidel(on, A, symgs_detail::seconds_now()) {}

  /// On a GPU: for A permuted by new_to_old, with b and x in the order before, so that nobody has to permute those.
  GaussSeidel(B on, CsrView<Real, Offset, Space> A, Span<const Index, Space> new_to_old)
    requires(!HostBackend<B>)
      : GaussSeidel(on, A, symgs_detail::seconds_now(), new_to_old) {}

  /// To be called when A's values, but not its pattern, have changed.
  /// Cost    reads A twice: all values are checked before the first is taken over.
  /// Errors  as the constructor; sweeps then go on with the values before.
  void update_values() { sweeper_.update_values(); }

  /// One sweep. Cost  reads A once.
  void forward(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_.sweep(symgs_detail::Direction::forward, b.data(), x.data(), omega);
  }
  void backward(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_.sweep(symgs_detail::Direction::backward, b.data(), x.data(), omega);
  }
  /// A forward and a backward sweep. Cost  at most two sweeps: the backward one may take S(lower) from the forward one.
  void symmetric(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_.pair(b.data(), x.data(), omega);
  }
  /// The same pair with x = 0 at first; x is only written. Cost  reads each entry of A once.
  void symmetric_from_zero(Span<const Real, Space> b, Span<Real, Space> x, Real omega = 1) const {
    require_sizes(b, x);
    sweeper_.pair_from_zero(b.data(), x.data(), omega);
  }

  /// For A = L + D + U: p = (D + U)^-1 u, Ap = A p = u + L p, w = (D + L)^-1 A p; what an iteration of cg in
  /// Eisenstat's form asks for (solvers/eisenstat.hpp). No two of the four overlap.
  /// Cost  a backward and a forward sweep: reads each entry of A once; on a GPU the lower triangle twice.
  void split_product(Span<const Real, Space> u, Span<Real, Space> p, Span<Real, Space> Ap, Span<Real, Space> w) const {
    require_sizes(u, p);
    require_sizes(Ap, w);
    sweeper_.split_product(u.data(), p.data(), Ap.data(), w.data());
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
    std::int64_t j = 0;
    if constexpr (!HostBackend<B>)
      j = sweeper_.strips_from_zero(R, X, omega);
    else if (X.layout == Layout::row_major)
      return sweeper_.pairs_from_zero(R, X, omega);
    for (; j < X.ncols; ++j) {
      const Real* b = R.data + R.at(0, j);
      Real* x = X.data + X.at(0, j);
      const std::int64_t b_step = R.at(1, 0), x_step = X.at(1, 0);
      if ((b_step != 1 || x_step != 1) && column_.size() < 2 * n_) column_ = Array<Real, Space>(2 * n_);
      if (b_step != 1) {
        blas1::for_each_element(on_, n_, blas1::CopyStrided<Real>{b, b_step, column_.data(), 1});
        b = column_.data();
      }
      sweeper_.pair_from_zero(b, x_step == 1 ? x : column_.data() + n_, omega);
      if (x_step != 1) blas1::for_each_element(on_, n_, blas1::CopyStrided<Real>{column_.data() + n_, 1, x, x_step});
    }
  }

  /// On a GPU: waits for the sweeps. Errors  BackendError if a row's wait for another was given up, which A's changed
  /// pattern or a fault may cause; that sweep left NaN, and without this call the next one throws.
  void check() const {
    if constexpr (!HostBackend<B>) sweeper_.check();
  }

  std::int64_t size() const { return n_; }
  std::int64_t wavefronts() const {
    return sweeper_.wavefronts();
  }  ///< steps that must follow each other; n in a chain
  double analysis_seconds() const { return analysis_seconds_; }
  std::int64_t bytes() const { return sweeper_.bytes(); }  ///< memory held beside A

 private:
  template <class... Order>
  GaussSeidel(const B& on, const CsrView<Real, Offset, Space>& A, double start, Order... order)
      : n_(require_square(A.nrows, A.ncols, "Gauss-Seidel")),
        on_(on),
        sweeper_(on, A, order...),
        analysis_seconds_(symgs_detail::seconds_now() - start) {}
  void require_sizes(Span<const Real, Space> b, Span<Real, Space> x) const {
    spmv_detail::require_size(b.size(), n_, "Gauss-Seidel", "b");
    spmv_detail::require_size(x.size(), n_, "Gauss-Seidel", "x");
  }

  std::int64_t n_;
  B on_;
  symgs_detail::Sweeper<Real, Offset, B> sweeper_;
  double analysis_seconds_;
  mutable Array<Real, Space> column_;  // of R, and of X
};

}  // namespace seidel
