// Exact Gauss-Seidel sweeps in natural order on a GPU, one launch a sweep: the default of GaussSeidel on CUDA.
#pragma once
#include <memory>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::symgs_detail {

struct NaturalOptions {
  float distance = 0;  // wavefronts between a row and the one that it awaits first; 0: chosen, negative: none
  Index ahead = 1024;  // slices whose data are brought into L2 before their turn; 0: none
  bool nodes = true;   // take rows of one pattern together
  /// Not empty: A is a matrix permuted by it, and b and x are in the order before. Copied.
  Span<const Index, Device> new_to_old;
};

/// What the analysis found and took.
struct NaturalReport {
  std::int64_t wavefronts = 0;  // of rows
  std::int64_t slices = 0, places = 0;
  int node = 1;        // rows taken together; then steps that wait for each other are wavefronts / node
  bool mixed = false;  // wavefronts of a few rows: this order has next to no parallelism
  bool long_rows = false;
  int widest[2] = {0, 0};  // terms a lane in the lower and the upper triangle
  std::int64_t bytes = 0;
  double examine_seconds = 0, wavefront_seconds = 0, order_seconds = 0, layout_seconds = 0, fill_seconds = 0;
};

/// x_i <- swept(...) of kernels/symgs/row.hpp, i from first to last (forward) or last to first, each with the newest x.
///
/// Shapes  A is square with a full, nonzero, finite diagonal and ascending columns; b and x have nrows entries in A's
///         order.
/// Cost    nothing is allocated and nothing waits for the device in a sweep. Copies share one workspace.
/// Repeats bit for bit the serial sweep.
/// Errors  of the analysis: as GaussSeidel; BackendError at the first sweep after, or in check() of, one in which a
///         wait did not end; the sweeps after that are whole again.
template <class Real>
class NaturalSweep {
 public:
  template <class Offset>
  [[gnu::used]] NaturalSweep(const Cuda& on, const CsrView<Real, Offset, Device>& A, NaturalOptions options = {});
  /// A has new values and the same pattern. Errors  as GaussSeidel's: the values before stay.
  template <class Offset>
  [[gnu::used]] void update_values(const CsrView<Real, Offset, Device>& A);

  void forward(const Real* b, Real* x, Real omega = 1) const;
  void backward(const Real* b, Real* x, Real omega = 1) const;
  /// `count` forward and backward sweeps. Reads the upper triangle once more than the pairs do.
  void pairs(const Real* b, Real* x, Real omega = 1, int count = 1) const;
  /// The same from x = 0, which is not read: each pair reads each entry of A once.
  void pairs_from_zero(const Real* b, Real* x, Real omega = 1, int count = 1) const;
  /// One pair from zero for each column of R, each with the bits of its own, in strips of eight columns, four strips at
  /// once. Leaves the last columns to pairs_from_zero where they are few_columns or fewer, which takes less time;
  /// returns how many it did. The first call for so many columns allocates 24 entries a row for each strip.
  std::int64_t strips_from_zero(const MultiVectorView<const Real, Device>& R, const MultiVectorView<Real, Device>& X,
                                Real omega = 1) const;
  static constexpr int few_columns = 2;
  /// pairs_from_zero with b and x in the sweep's order: report().places entries, entry p of row order()[p]. Where that
  /// is -1 b is ignored.
  void pair_in_order(const Real* b, Real* x) const;
  Span<const Index, Device> order() const;
  /// As GaussSeidel's.
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const;
  /// What the device keeps of the lower (0) or upper (1) triangle; for a test of what a fault does.
  Span<std::byte, Device> stream(int half) const;

  /// Waits for the stream. Errors  BackendError if a wait in a sweep did not end.
  void check() const;
  const NaturalReport& report() const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace seidel::symgs_detail
