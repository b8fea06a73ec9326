// What the host must know of a level before P is made.
#pragma once
#include <algorithm>
#include <cstdint>

#include <seidel/formats/runtime/array.hpp>
#include <seidel/kernels/aggregation/hash.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/blas1/step.hpp>
#include <seidel/solvers/lanczos.hpp>
#include <seidel/solvers/matrix_operator.hpp>

namespace seidel {

/// Numbers that are left in the memory of a back end, then sent to the host together: on a GPU one wait, before which it can be
/// given more to do, but no sums for which the host waits.
template <class B>
class LevelNumbers {
 public:
  static constexpr int lanczos_steps = 8;

  explicit LevelNumbers(const B& on) : on_(on), left_(on, count) {}

  /// Where they are to be left. `lanczos` has room for the numbers of that many steps in single precision.
  double* max_off_diagonal() { return left_.data(); }
  double* max_scale() { return left_.data() + 1; }
  double* lanczos() { return left_.data() + 2; }

  void send() {
    if constexpr (!HostBackend<B>) {
      blas1::for_each_element(on_, count, blas1::Copy<double>{left_.data(), on_.staging()});
      blas1::mark(on_);
    }
  }
  void receive() {
    const double* from = left_.data();
    if constexpr (!HostBackend<B>) blas1::wait_for_mark(on_), from = on_.staging();
    std::copy(from, from + count, here);
  }

  static constexpr std::int64_t count = 2 + (blas1::LanczosNumbers<float>::count(lanczos_steps) + 1) / 2;
  double here[count] = {};  // in the same order

 private:
  B on_;
  Array<double, SpaceOf<B>> left_;
};

namespace multigrid_detail {

/// Whether each row is weakly dominated by its diagonal, where the sum beside that is at most so many times as large.
inline bool all_dominated(double max_off_diagonal) { return max_off_diagonal <= 1 + 1e-10; }

/// An upper bound of the eigenvalues of D^-1 A, or nearly one, from an estimate by Lanczos steps, but no more than by
/// Gershgorin's circles.
/// Source  Vanek, Brezina, Mandel, Convergence of algebraic multigrid based on smoothed aggregation, Numer. Math. 88,
///         2001, for why an estimate will do.
inline double spectral_bound(double estimate, double max_off_diagonal) {
  constexpr double margin = 1.05;  // for what so few steps do not see
  const double bound = std::min(margin * estimate, 1 + max_off_diagonal);
  return bound > 0 ? bound : 1;  // of a matrix of zeros
}

/// That estimate, with the matrix in double precision.
template <class B, class Offset>
double estimate_in_double(const B& on, const CsrView<double, Offset, SpaceOf<B>>& A,
                          Span<double, SpaceOf<B>> inverse_diagonal) {
  using V = Vector<double, B>;
  V start(on, A.nrows);
  const V inverse(on, inverse_diagonal);
  fill_start(on, A.row_ptr, inverse_diagonal, start.span());
  return estimate_largest_eigenvalue(MatrixOperator(on, A), &inverse, start, LevelNumbers<B>::lanczos_steps);
}

}  // namespace multigrid_detail
}  // namespace seidel
