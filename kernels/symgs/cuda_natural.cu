// NaturalSweep: the analysis step by step, and the front door.
#include <chrono>

#include <seidel/kernels/symgs/cuda_natural_state.cuh>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::symgs_detail {

namespace {

/// Wavefronts so few and so wide, as colours are, that each is worth a launch.
constexpr Index max_wide = 64, min_wide = 4096;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Seconds since the last call, the stream's work included.
class Laps {
 public:
  explicit Laps(const Cuda& on) : on_(on), last_(now()) {}
  double lap() {
    on_.synchronize();
    const double before = last_;
    return (last_ = now()) - before;
  }

 private:
  const Cuda& on_;
  double last_;
};

}  // namespace

template <class Real>
template <class Offset>
void NaturalSweep<Real>::State::analyse(const CsrView<Real, Offset, Device>& A) {
  const Pattern<Offset> pattern{A.nrows, A.row_ptr.data(), A.col_idx.data()};
  Findings found{};
  found.bad_row = plan.nrows = A.nrows;
  if (options.nodes)
    for (int s = 2; s <= largest_node; ++s)
      if (A.nrows % s == 0) found.nodes |= 1u << s;
  if (A.nrows == 0) return;
  copy_bytes(Device{}, findings.data(), Host{}, &found, sizeof found);

  Laps laps(on);
  const Array<Index, Device> lower = lower_lengths(on, pattern, findings.data());
  found = value_of(on, findings.data());
  if (found.bad_row < A.nrows) refuse(on, A, findings.data());
  plan.has_long = found.longest_part > short_sum;
  if (!plan.has_long && found.nodes) plan.node = 31 - __builtin_clz(found.nodes);
  report.examine_seconds = laps.lap();

  Array<Index, Device> wavefront = node_wavefronts(on, pattern, lower.data(), plan.node, findings.data());
  found = value_of(on, findings.data());
  if (found.hung) throw InputError("Gauss-Seidel: the columns of some row do not ascend\n  check() names the row");
  plan.nwavefronts = found.last_wavefront + 1;
  plan.wide = plan.node == 1 && plan.nwavefronts <= max_wide && A.nrows / plan.nwavefronts >= min_wide &&
              found.longest_part <= max_in_parts;
  if (plan.wide) plan.in_parts = std::exchange(plan.has_long, false);
  report.wavefront_seconds = laps.lap();

  Order order = order_rows(on, pattern, lower.data(), wavefront, findings.data(), plan);
  wavefront = {};
  report.order_seconds = laps.lap();

  // Thin wavefronts pass faster, so a row must begin to look earlier.
  const bool thin = A.nrows / plan.nwavefronts < 2048;
  const float distance = options.distance != 0 ? options.distance : thin ? 4.0f : 3.0f;
  lay_out(on, pattern, lower.data(), order, distance, findings.data(), plan);
  report.layout_seconds = laps.lap();

  fill(on, A, order.place_of_row.data(), findings.data(), plan);
  refuse_if_found(A);
  vectors = Array<Real, Device>(3 * std::int64_t(plan.places));
  set_bytes(on, ticket.span(), 0);
  reset();
  report.fill_seconds = laps.lap();
  place_of_row = std::move(order.place_of_row);
  if (!options.new_to_old.empty()) {
    row_of_place = compose_orders(on, std::exchange(options.new_to_old, {}), plan.row_of_place.span(), place_of_row);
    plan.as_it_stands = false;
  }

  report.wavefronts = std::int64_t(plan.nwavefronts) * plan.node;
  report.slices = plan.slices;
  report.places = plan.places;
  report.node = plan.node;
  report.mixed = plan.mixed;
  report.long_rows = plan.has_long;
  for (int h = 0; h < 2; ++h) report.widest[h] = plan.half[h].width;
  report.bytes = plan.bytes() + (place_of_row.size() + row_of_place.size()) * std::int64_t(sizeof(Index)) +
                 vectors.size() * std::int64_t(sizeof(Real));
}

template <class Real>
template <class Offset>
void NaturalSweep<Real>::State::refuse_if_found(const CsrView<Real, Offset, Device>& A) {
  if (value_of(on, &findings.data()->bad_row) < A.nrows) refuse(on, A, findings.data());
}

template <class Real>
template <class Offset>
NaturalSweep<Real>::NaturalSweep(const Cuda& on, const CsrView<Real, Offset, Device>& A, NaturalOptions options)
    : state_(std::make_shared<State>(on, options)) {
  require_square(A.nrows, A.ncols, "Gauss-Seidel");
  state_->analyse(A);
}

template <class Real>
template <class Offset>
void NaturalSweep<Real>::update_values(const CsrView<Real, Offset, Device>& A) {
  if (A.nrows == 0) return;
  look_for_unusable(state_->on, A, state_->findings.data());
  state_->refuse_if_found(A);
  fill(state_->on, A, nullptr, state_->findings.data(), state_->plan);
}

template <class Real>
void NaturalSweep<Real>::forward(const Real* b, Real* x, Real omega) const {
  state_->one(true, b, x, omega);
}
template <class Real>
void NaturalSweep<Real>::backward(const Real* b, Real* x, Real omega) const {
  state_->one(false, b, x, omega);
}
template <class Real>
void NaturalSweep<Real>::pairs(const Real* b, Real* x, Real omega, int count) const {
  state_->pairs(b, x, omega, count, false, false);
}
template <class Real>
void NaturalSweep<Real>::pairs_from_zero(const Real* b, Real* x, Real omega, int count) const {
  state_->pairs(b, x, omega, count, true, false);
}
template <class Real>
std::int64_t NaturalSweep<Real>::strips_from_zero(const MultiVectorView<const Real, Device>& R,
                                                  const MultiVectorView<Real, Device>& X, Real omega) const {
  return state_->strips_from_zero(R, X, omega);
}
template <class Real>
void NaturalSweep<Real>::pair_in_order(const Real* b, Real* x) const {
  state_->pairs(b, x, 1, 1, true, true);
}
template <class Real>
Span<const Index, Device> NaturalSweep<Real>::order() const {
  return {state_->vector_rows(), state_->plan.places};
}
template <class Real>
Span<std::byte, Device> NaturalSweep<Real>::stream(int half) const {
  return state_->plan.half[half].stream.span();
}
template <class Real>
void NaturalSweep<Real>::split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
  state_->split_product(u, p, Ap, w);
}
template <class Real>
void NaturalSweep<Real>::check() const {
  state_->on.synchronize();
  state_->look_for_trouble();
}
template <class Real>
const NaturalReport& NaturalSweep<Real>::report() const {
  return state_->report;
}

template class NaturalSweep<double>;
template class NaturalSweep<float>;
template NaturalSweep<double>::NaturalSweep(const Cuda&, const CsrView<double, std::int32_t, Device>&, NaturalOptions);
template NaturalSweep<double>::NaturalSweep(const Cuda&, const CsrView<double, std::int64_t, Device>&, NaturalOptions);
template NaturalSweep<float>::NaturalSweep(const Cuda&, const CsrView<float, std::int32_t, Device>&, NaturalOptions);
template NaturalSweep<float>::NaturalSweep(const Cuda&, const CsrView<float, std::int64_t, Device>&, NaturalOptions);
template void NaturalSweep<double>::update_values(const CsrView<double, std::int32_t, Device>&);
template void NaturalSweep<double>::update_values(const CsrView<double, std::int64_t, Device>&);
template void NaturalSweep<float>::update_values(const CsrView<float, std::int32_t, Device>&);
template void NaturalSweep<float>::update_values(const CsrView<float, std::int64_t, Device>&);

}  // namespace seidel::symgs_detail
