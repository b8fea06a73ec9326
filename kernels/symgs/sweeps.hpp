// What a sweep on the host reads, and the sweeps: free of A's offsets, so that each is compiled once.
#pragma once
#include <seidel/kernels/symgs/slices.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

/// One side of the diagonal, entries in the order of the sweep: see Run.
template <class Real>
struct Triangle {
  Array<Index> col_idx;
  Array<Real> values;

  std::int64_t bytes() const {
    return col_idx.size() * std::int64_t(sizeof(Index)) + values.size() * std::int64_t(sizeof(Real));
  }
};

/// Instantiated for double and float.
template <class Real>
struct Sweeps {
  using Many = MultiVectorView<Real, Host>;
  using ManyConst = MultiVectorView<const Real, Host>;

  Schedule schedule;
  std::vector<Run> runs;
  std::vector<std::int64_t> first_run;  // of each stretch, and the end of the last
  Triangle<Real> lower, upper;
  Array<Real> reciprocal, t;  // by place; t_p = b_i - S(lower), left by the forward sweep of a pair
  Array<Real> t_of_columns;   // the same for several columns, which stand side by side

  /// Leaves t for backward_from_t.
  void forward(const Real* b, Real* x, Real omega);
  void backward(const Real* b, Real* x, Real omega) const;
  /// Forward from x = 0, where S(upper) is 0. Leaves t where backward_from_t with the same b and omega reads it: not
  /// where it is b, as for all of the first colour, nor where x is right already, as for all of the last.
  void forward_from_zero(const Real* b, Real* x, Real omega);
  void backward_from_t(const Real* b, Real* x, Real omega) const;
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const;
  /// The last two for several columns; X is row-major.
  void columns_forward_from_zero(const ManyConst& R, const Many& X, Real omega);
  void columns_backward_from_t(const Many& X, Real omega) const;

  /// The run that place p is in; there is one.
  std::int64_t run_of(std::int64_t p) const {
    return std::partition_point(runs.begin(), runs.end(), [p](const Run& run) { return run.last <= p; }) - runs.begin();
  }
  std::int64_t bytes() const {
    return lower.bytes() + upper.bytes() +
           (reciprocal.size() + t.size() + t_of_columns.size()) * std::int64_t(sizeof(Real)) + schedule.bytes() +
           std::int64_t(runs.size() * sizeof(Run) + first_run.size() * sizeof(std::int64_t));
  }

 private:
  template <Direction direction, class Visit>
  void each_slice(const Visit& visit) const;
};

}  // namespace seidel::symgs_detail
