// What a sweep on the host reads, and the sweeps: free of A's offsets, so that each is compiled once.
#pragma once
#include <seidel/kernels/symgs/host/slices.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

/// One side of the diagonal, entries in the order of the sweep: see Run.
template <class Real>
struct Triangle {
  Array<Index> col_idx;
  Array<Real> values;
};

/// Instantiated for double and float. fill() is its analysis's.
template <class Real>
struct Sweeps : Sweeper<Real, Host> {
  using Many = MultiVectorView<Real, Host>;
  using ManyConst = MultiVectorView<const Real, Host>;

  Schedule schedule;
  std::vector<Run> runs;
  std::vector<std::int64_t> first_run;  // of each stretch, and the end of the last
  Triangle<Real> lower, upper;
  Array<Real> reciprocal, t;  // by place; t_p = b_i - S(lower), left by the forward sweep of a pair
  Array<Real> t_of_columns;   // the same for several columns, which stand side by side

  explicit Sweeps(Schedule schedule) : schedule(std::move(schedule)) {}

  /// Leaves t for backward_from_t.
  void forward(const Real* b, Real* x, Real omega) override;
  void backward(const Real* b, Real* x, Real omega) override;
  void pair(const Real* b, Real* x, Real omega) override {
    forward(b, x, omega);
    backward_from_t(b, x, omega);
  }
  void pair_from_zero(const Real* b, Real* x, Real omega) override {
    forward_from_zero(b, x, omega);
    backward_from_t(b, x, omega);
  }
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) override;
  /// All columns if X is row-major, otherwise none.
  std::int64_t columns_from_zero(const ManyConst& R, const Many& X, Real omega) override;
  std::int64_t bytes() const override;

  /// Forward from x = 0, where S(upper) is 0. Leaves t where backward_from_t with the same b and omega reads it: not
  /// where it is b, as for all of the first colour, nor where x is right already, as for all of the last.
  void forward_from_zero(const Real* b, Real* x, Real omega);
  void backward_from_t(const Real* b, Real* x, Real omega) const;

  /// The run that place p is in; there is one.
  std::int64_t run_of(std::int64_t p) const {
    return std::partition_point(runs.begin(), runs.end(), [p](const Run& run) { return run.last <= p; }) - runs.begin();
  }
  /// Entries of a triangle, and columns that it stores.
  std::pair<std::int64_t, std::int64_t> sizes(Index Run::*length) const {
    std::int64_t entries = 0, columns = 0;
    for (const Run& run : runs) {
      entries += run.count() * run.*length;
      columns += run.rows_with_columns() * run.*length;
    }
    return {entries, columns};
  }

 private:
  template <Direction direction, class Visit>
  void each_slice(const Visit& visit) const;
};

}  // namespace seidel::symgs_detail
