// What a NaturalSweep holds: the plan of its analysis, and vectors in the sweep's order.
#pragma once
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/symgs/cuda_natural.hpp>
#include <seidel/kernels/symgs/cuda_natural_analysis.hpp>

#include <seidel/kernels/symgs/cuda_natural_carry.cuh>

namespace seidel::symgs_detail {

using namespace natural;

template <class Real>
struct NaturalSweep<Real>::State {
  Cuda on;
  Plan<Real> plan;
  NaturalOptions options;
  NaturalReport report;
  Array<Findings, Device> findings{1};
  Array<Real, Device> vectors;  // y, which is unset between sweeps, x and t: one allocation, since each takes long
  /// The same of strips of columns, and their sums of blocks: of all that a sweep awaits nothing is left set. Made by
  /// the first sweep of so many columns.
  Array<Real, Device> strip_vectors;
  int room_for_strips = 0;
  Array<unsigned, Device> ticket{1};
  Array<Index, Device> place_of_row;  // of the vectors' rows
  Array<Index, Device> row_of_place;  // likewise; empty where the vectors are in A's order
  unsigned* hung = nullptr;           // page-locked: the host looks without waiting
  bool can_begin_early = false;       // a launch, before the one before it has ended

  State(const Cuda& on, NaturalOptions options);
  ~State() { cudaFreeHost(hung); }

  template <class Offset>
  void analyse(const CsrView<Real, Offset, Device>& A);
  template <class Offset>
  void refuse_if_found(const CsrView<Real, Offset, Device>& A);

  void reset() const {
    set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
    for (const auto& half : plan.half)
      set_bytes(on, Span<Real, Device>(const_cast<Real*>(half.sums.data()), half.sums.size()), 0xff);
    set_bytes(on, Span<Real, Device>(const_cast<Real*>(strip_vectors.data()), strip_vectors.size()), 0xff);
  }
  /// Throws if an earlier sweep gave a wait up, and makes whole what it left behind.
  void look_for_trouble() const {
    if (*(volatile unsigned*)hung == 0) return;
    on.synchronize();
    *hung = 0;
    reset();
    throw BackendError(
        "Gauss-Seidel on the GPU: a row waited for another for seconds, and the result of that sweep is wrong\n"
        "  the matrix's columns must ascend in each row, and its pattern must not have changed since the analysis");
  }

  Sweep<Real> sweep(int h, const Real* b) const {
    const Triangle<Real>& half = plan.half[h];
    Sweep<Real> S{};
    S.stream = half.stream.data();
    S.items = half.items.data();
    S.count = Index(half.items.size());
    S.b = b;
    S.t = flags(2);
    S.right = S.t;
    S.row_of_place = vector_rows();
    S.sums = const_cast<Real*>(half.sums.data());
    S.omega = 1;
    S.node = plan.node;
    S.stream_bytes = half.stream.size();
    S.places = plan.places;
    S.ahead = options.ahead;
    S.ahead_bytes = S.count ? half.stream.size() / S.count * options.ahead / unit_bytes * unit_bytes : 0;
    S.ticket = const_cast<unsigned*>(ticket.data());
    S.hung = hung;
    return S;
  }
  /// A row that stored its own x would fill a quarter of a sector: four times slower than this pass.
  void deliver(const Real* x, Real* to) const {
    launch(on, hand_over<Real>, blocks_for(plan.nrows, hand_over_rows), hand_over_threads, "giving x back", x,
           place_of_row.data(), plan.nrows, to);
  }
  const Index* vector_rows() const { return row_of_place.empty() ? plan.row_of_place.data() : row_of_place.data(); }
  /// x before a sweep, into flags(1).
  void bring_in(const Real* x) const {
    launch_over(on, plan.places, gather<Real>, "gathering x", x, vector_rows(), plan.places, flags(1));
  }
  Real* flags(int which) const { return const_cast<Real*>(vectors.data()) + std::int64_t(which) * plan.places; }

  template <bool forward, bool general>
  void run(const Sweep<Real>& S) const;
  template <bool forward, bool general>
  void run_wide(const Sweep<Real>& S, bool ends) const;
  /// t from the old x: S(upper) before a forward sweep, b - S(lower) before a backward one.
  template <bool lower>
  void carry(const Real* b, const Real* old) const;
  void one(bool forward, const Real* b, Real* x, Real omega) const;
  void pairs(const Real* b, Real* x, Real omega, int count, bool from_zero, bool in_order) const;
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const;

  template <bool forward, bool general>
  void run_strips(const Sweep<Real>& S, bool ends) const;
  /// Columns first ... first + 8 strips - 1 of R and X, or as many as there are.
  void strips_from_zero(const MultiVectorView<const Real, Device>& R, const MultiVectorView<Real, Device>& X,
                        std::int64_t first, int strips, Real omega);
  std::int64_t strips_from_zero(const MultiVectorView<const Real, Device>& R, const MultiVectorView<Real, Device>& X,
                                Real omega);
};

}  // namespace seidel::symgs_detail
