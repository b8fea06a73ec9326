// Sweeps on a GPU: what the analysis has laid out, and vectors in the sweep's order.
#pragma once
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/carry.cuh>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail::device {

/// fill() and the analysis are in sweeper.cu, which knows A's offsets.
template <class Real>
struct Sweeps : Sweeper<Real, Device> {
  using Many = MultiVectorView<Real, Device>;
  using ManyConst = MultiVectorView<const Real, Device>;

  Cuda on;
  Plan<Real> plan;
  Array<Real, Device> vectors;  // y, which is unset between sweeps, x and t: one allocation, since each takes long
  /// The same of strips of columns, and their sums of blocks: of all that a sweep awaits nothing is left set. Made by
  /// the first sweep of so many columns.
  Array<Real, Device> strip_vectors;
  int room_for_strips = 0;
  Array<unsigned, Device> ticket;
  Array<Index, Device> place_of_row;  // of the vectors' rows
  Array<Index, Device> row_of_place;  // likewise; empty where the vectors are in A's order
  unsigned* hung = nullptr;           // page-locked: the host looks without waiting
  bool can_begin_early = false;       // a launch, before the one before it has ended

  explicit Sweeps(const Cuda& on);
  ~Sweeps() override { cudaFreeHost(hung); }
  Sweeps(const Sweeps&) = delete;

  void forward(const Real* b, Real* x, Real omega) override { one(true, b, x, omega); }
  void backward(const Real* b, Real* x, Real omega) override { one(false, b, x, omega); }
  void pair(const Real* b, Real* x, Real omega) override { pair(b, x, omega, From::guess); }
  void pair_from_zero(const Real* b, Real* x, Real omega) override { pair(b, x, omega, From::zero); }
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) override;
  /// In strips of eight columns, four strips at once; the last columns are left to pair_from_zero where they are two or
  /// fewer, which takes less time. The first call for so many columns allocates 24 entries per row for each strip.
  std::int64_t columns_from_zero(const ManyConst& R, const Many& X, Real omega) override;
  void check() override {
    on.synchronize();
    look_for_trouble();
  }
  Span<const Index, Device> order() const override { return plan.row_of_place; }
  std::int64_t wavefronts() const override { return std::int64_t(plan.nwavefronts) * plan.node; }
  std::int64_t bytes() const override {
    return plan.bytes() + (place_of_row.size() + row_of_place.size()) * std::int64_t(sizeof(Index)) +
           (3 * std::int64_t(plan.places) + strip_vectors.size()) * std::int64_t(sizeof(Real));
  }

  enum class From { zero, guess };

  void reset() {
    set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
    for (auto& half : plan.half) set_bytes(on, half.sums.span(), 0xff);
    set_bytes(on, strip_vectors.span(), 0xff);
  }
  /// Throws if an earlier sweep gave a wait up, and makes whole what it left behind.
  void look_for_trouble() {
    if (*(volatile unsigned*)hung == 0) return;
    on.synchronize();
    *hung = 0;
    reset();
    throw BackendError(
        "Gauss-Seidel on the GPU: a row waited for another for seconds, and the result of that sweep is wrong\n"
        "  the matrix's columns must ascend in each row, and its pattern must not have changed since the analysis");
  }

  Sweep<Real> sweep(int h, const Real* b) {
    Triangle<Real>& half = plan.half[h];
    const Index count = Index(half.items.size());
    return {.stream = half.stream.data(),
            .items = half.items.data(),
            .count = count,
            .b = b,
            .t = flags(2),
            .right = flags(2),
            .row_of_place = vector_rows(),
            .sums = half.sums.data(),
            .omega = 1,
            .node = plan.node,
            .ahead_bytes = count ? half.stream.size() / count * slices_ahead / unit_bytes * unit_bytes : 0,
            .stream_bytes = half.stream.size(),
            .places = plan.places,
            .ticket = ticket.data(),
            .hung = hung};
  }
  /// A row that stored its own x would fill a quarter of a sector: four times slower than this pass.
  void deliver(const Real* x, Real* to) const {
    launch(on, hand_over<Real>, blocks_for(plan.nrows, hand_over_rows), hand_over_threads, "giving x back", x,
           place_of_row.data(), plan.nrows, to);
  }
  const Index* vector_rows() const { return row_of_place.empty() ? plan.row_of_place.data() : row_of_place.data(); }
  /// A vector before a sweep, into the sweep's order. Nothing in it looks unset.
  void bring_in(const Real* x, Real* to) const {
    cuda::for_each(on, plan.places, "gathering x", [=, row_of_place = vector_rows()] __device__(std::int64_t p) {
      const Index row = row_of_place[p];
      publish(to + p, row >= 0 ? x[row] : Real(0));
    });
  }
  Real* flags(int which) { return vectors.data() + std::int64_t(which) * plan.places; }

  /// `ends`: what a pair's forward sweep leaves in the last colour is its result.
  template <bool forward, bool general>
  void run(const Sweep<Real>& S, bool ends = false) const;
  template <bool forward, bool general>
  void run_strips(const Sweep<Real>& S, bool ends) const;
  template <Part part>
  void carry(const Sweep<Real>& S) const;
  void one(bool forward, const Real* b, Real* x, Real omega);
  void pair(const Real* b, Real* x, Real omega, From from);
  /// Columns first ... first + 8 strips - 1 of R and X, or as many as there are.
  void strips_from_zero(const ManyConst& R, const Many& X, std::int64_t first, int strips, Real omega);
};

}  // namespace seidel::symgs_detail::device
