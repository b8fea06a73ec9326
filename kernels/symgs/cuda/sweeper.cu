// Sweeps on a GPU: the analysis, step by step.
#include <seidel/formats/instances.hpp>
#include <seidel/kernels/symgs/cuda/sweeps.cuh>

namespace seidel::symgs_detail {

using namespace device;

template <class Real, class Offset>
struct Unusable {
  CsrView<Real, Offset, Device> A;
  __device__ bool operator()(std::int64_t row) const { return usable_diagonal(A, row) < 0; }
};

/// Throws what is wrong with the first row that no sweep can use. There is one; bad_row may name another.
template <class Real, class Offset>
[[noreturn]] void refuse(const Cuda& on, const CsrView<Real, Offset, Device>& A, Findings* findings) {
  copy_bytes(on, Device{}, &findings->bad_row, Host{}, &A.nrows, sizeof(Index));
  refuse_row(on, A, cuda::first_where(on, A.nrows, Unusable<Real, Offset>{A}));
}

/// Sets bad_row, to any row, if some value is not one that a sweep can use. The diagonal is full.
template <class Real, class Offset>
void look_for_unusable(const Cuda& on, const CsrView<Real, Offset, Device>& A, Findings* findings) {
  cuda::for_each(on, A.nnz(), "checking values", [A, findings] __device__(std::int64_t k) {
    bool usable = is_finite(A.values[k]);
    if (k < A.nrows) usable &= is_finite(1 / A.values[diagonal_of(A, Index(k))]);
    if (!usable) findings->bad_row = A.nrows - 1;
  });
}

/// For A permuted by new_to_old, and vectors in the order before: place_of_row and the row of each place become those
/// of the vectors.
void compose_orders(const Cuda& on, Span<const Index, Device> new_to_old, Span<const Index, Device> row_in_A,
                    Array<Index, Device>& place_of_row, Span<Index, Device> row_of_place) {
  const std::int64_t nrows = place_of_row.size(), places = row_in_A.size();
  const Array<Index, Device> in_A = std::exchange(place_of_row, Array<Index, Device>(on, nrows));
  cuda::for_each(on, std::max(places, nrows), "composing orders",
                 [=, place_in_A = in_A.data(), place_of_row = place_of_row.data()] __device__(std::int64_t k) {
                   if (k < nrows) place_of_row[new_to_old[k]] = place_in_A[k];
                   if (k < places) row_of_place[k] = row_in_A[k] >= 0 ? new_to_old[row_in_A[k]] : -1;
                 });
}

namespace {

/// Wavefronts so few and so wide, as colours are, that each is worth a launch.
constexpr Index max_wide = 64, min_wide = 4096;
/// Wavefronts between a row and the one that it awaits before all others; thin ones pass faster. Polls of all resident
/// warps saturate L2: without this hpcg:192 takes 3.16 ms, not 1.77, on an H200; 1 to 2.5 in place of 3 changed nothing.
constexpr float watch_distance = 3, watch_distance_if_thin = 4;
constexpr Index thin = 2048;  // rows per wavefront

/// Sweeps of A.
template <class Real, class Offset>
struct Analysed : Sweeps<Real> {
  using Sweeps<Real>::on, Sweeps<Real>::plan, Sweeps<Real>::vectors, Sweeps<Real>::place_of_row,
      Sweeps<Real>::row_of_place;
  CsrView<Real, Offset, Device> A;
  Span<const Index, Device> new_to_old;  // read by the first fill()
  Array<Findings, Device> findings;

  Analysed(const Cuda& on, const CsrView<Real, Offset, Device>& A, Span<const Index, Device> new_to_old)
      : Sweeps<Real>(on), A(A), new_to_old(new_to_old), findings(on, 1) {
    plan.nrows = A.nrows;
    if (A.nrows == 0) return;
    const Pattern<Offset> pattern{A.nrows, A.row_ptr.data(), A.col_idx.data()};
    Findings found{};
    found.bad_row = A.nrows;
    for (int s = 2; s <= largest_node; ++s)
      if (A.nrows % s == 0) found.nodes |= 1u << s;
    copy_bytes(on, Device{}, findings.data(), Host{}, &found, sizeof found);
    const Array<Index, Device> lower = lower_lengths(on, pattern, findings.data());
    found = value_of(on, findings.data());
    if (found.bad_row < A.nrows) refuse(on, A, findings.data());
    plan.has_long = found.longest_part > short_sum;
    if (!plan.has_long && found.nodes) plan.node = 31 - __builtin_clz(found.nodes);

    Array<Index, Device> wavefront = node_wavefronts(on, pattern, lower.data(), plan.node, findings.data());
    found = value_of(on, findings.data());
    if (found.hung) throw InputError("Gauss-Seidel: the columns of some row do not ascend\n  check() names the row");
    plan.nwavefronts = found.last_wavefront + 1;
    plan.wide = plan.node == 1 && plan.nwavefronts <= max_wide && A.nrows / plan.nwavefronts >= min_wide &&
                found.longest_part <= max_in_parts;
    if (plan.wide) plan.in_parts = std::exchange(plan.has_long, false);

    SortedRows order = order_rows(on, pattern, lower.data(), wavefront, findings.data(), plan);
    wavefront = {};
    lay_out(on, pattern, lower.data(), order,
            A.nrows / plan.nwavefronts < thin ? watch_distance_if_thin : watch_distance, findings.data(), plan);
    place_of_row = std::move(order.place_of_row);
    if (new_to_old.empty()) return;
    row_of_place = Array<Index, Device>(on, plan.places);
    plan.as_it_stands = false;
  }

  void fill(DeviceSpan<const Real> values) override {
    if (A.nrows == 0) return;
    auto with_values = A;
    with_values.values = values;
    const bool first = vectors.empty();
    if (first) {
      for (auto& half : plan.half) half.stream = Array<std::byte, Device>(on, half.stream_bytes);
    } else {
      look_for_unusable(on, with_values, findings.data());  // before the first value is taken over
      refuse_if_found(with_values);
    }
    A = with_values;
    device::fill(on, A, first ? place_of_row.data() : nullptr, findings.data(), plan);
    if (!first) return;
    refuse_if_found(A);
    vectors = Array<Real, Device>(on, 3 * std::int64_t(plan.places));
    this->reset();
    if (!new_to_old.empty())
      compose_orders(on, new_to_old, std::as_const(plan.row_of_place).span(), place_of_row, row_of_place);
  }
  void refuse_if_found(const CsrView<Real, Offset, Device>& A) {
    if (value_of(on, &findings.data()->bad_row) < A.nrows) refuse(on, A, findings.data());
  }
};

}  // namespace

template <class Real, class Offset>
std::shared_ptr<Sweeper<Real, Device>> sweeper(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                                               Span<const Index, Device> new_to_old) {
  return std::make_shared<Analysed<Real, Offset>>(on, A, new_to_old);
}

/// Never called: names every sweeper, so that its code is emitted here.
void instances(const Cuda& on) {
  with_each_csr<Device>([&](const auto& A, auto*) { sweeper(on, A, {}); });
}

}  // namespace seidel::symgs_detail
