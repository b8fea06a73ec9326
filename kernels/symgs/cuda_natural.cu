// NaturalSweep: the analysis step by step, and which kernels a sweep is.
#include <chrono>

#include <seidel/formats/errors.hpp>
#include <seidel/kernels/symgs/cuda_natural.hpp>
#include <seidel/kernels/symgs/cuda_natural_analysis.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

#include <seidel/kernels/symgs/cuda_natural_carry.cuh>
#include <seidel/kernels/symgs/cuda_natural_wide.cuh>

namespace seidel::symgs_detail {

using namespace natural;

namespace {

/// Wavefronts so few and so wide, as colours are, that each is worth a launch.
constexpr Index most_wide = 64, least_wide = 4096;

}  // namespace

template <class Real>
struct NaturalSweep<Real>::State {
  Cuda on;
  Plan<Real> plan;
  NaturalOptions options;
  NaturalReport report;
  Array<Findings, Device> findings{1};
  Array<Real, Device> vectors;  // y, which is unset between sweeps, x and t: one allocation, since each takes long
  Array<unsigned, Device> ticket{1};
  Array<Index, Device> place_of_row;  // of the vectors' rows
  Array<Index, Device> row_of_place;  // likewise; empty where the vectors are in A's order
  unsigned* hung = nullptr;           // page-locked: the host looks without waiting
  bool can_begin_early = false;       // a launch, before the one before it has ended

  State(const Cuda& on, NaturalOptions options) : on(on), options(options) {
    cudaFuncAttributes compiled;
    cuda_check(cudaFuncGetAttributes(&compiled, sweep_first_wavefront<Real, true, false>),
               "asking what a kernel is for");
    can_begin_early = compiled.ptxVersion >= 90;  // else it has no instruction to wait with
    cuda_check(cudaHostAlloc(reinterpret_cast<void**>(&hung), sizeof(unsigned), cudaHostAllocDefault),
               "taking page-locked memory");
    *hung = 0;
  }
  ~State() { cudaFreeHost(hung); }

  template <class Offset>
  void analyse(const CsrView<Real, Offset, Device>& A);
  template <class Offset>
  void refill(const CsrView<Real, Offset, Device>& A, const Index* place_of_row);

  void reset() const {
    set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
    for (const auto& half : plan.half)
      set_bytes(on, Span<Real, Device>(const_cast<Real*>(half.sums.data()), half.sums.size()), 0xff);
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
  /// A launch a wavefront. `ends`: what the forward sweep leaves in the last one is the pair's result.
  template <bool forward, bool general>
  void run_wide(Sweep<Real> S, bool ends) const;
  /// t from the old x: S(upper) before a forward sweep, b - S(lower) before a backward one.
  template <bool lower>
  void carry(const Real* b, const Real* old) const;
  void one(bool forward, const Real* b, Real* x, Real omega) const;
  void pairs(const Real* b, Real* x, Real omega, int count, bool from_zero, bool in_order) const;
  void split_product(const Real* u, Real* p, Real* Ap, Real* w) const;
};

namespace {

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
  plan.wide = plan.node == 1 && plan.nwavefronts <= most_wide && A.nrows / plan.nwavefronts >= least_wide &&
              found.longest_part <= most_in_parts;
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

  refill(A, order.place_of_row.data());
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
void NaturalSweep<Real>::State::refill(const CsrView<Real, Offset, Device>& A, const Index* place_of_row) {
  if (A.nrows == 0) return;
  fill(on, A, place_of_row, findings.data(), plan);
  if (value_of(on, &findings.data()->bad_row) < A.nrows) refuse(on, A, findings.data());
}

template <class Real>
template <bool forward, bool general>
void NaturalSweep<Real>::State::run(const Sweep<Real>& S) const {
  const auto go = [&](auto kernel, int threads) {
    launch(on, kernel, blocks_for(S.count, threads / lanes), threads, "a Gauss-Seidel sweep", S);
  };
  const int width = plan.half[forward ? 0 : 1].width;
  if (plan.mixed || plan.has_long)
    go(sweep_items<Real, forward, general, 7, 7, 128>, 128);
  else if (plan.node > 3 || (plan.node > 1 && width <= 13))
    go(sweep_slices<Real, forward, general, largest_node - 1, 13, 7, false, 128, 1>, 128);
  else if (plan.node > 1)
    go(sweep_slices<Real, forward, general, 2, 39, 8, false, 64, 1>, 64);
  else if (width <= 3)
    go(sweep_slices < Real, forward, general, 0, 3, 3, true, 512, general ? 3 : 4 >, 512);
  else if (width <= 7)
    go(sweep_slices<Real, forward, general, 0, 7, 7, true, 128, 1>, 128);
  else if (width <= 13)
    go(sweep_slices<Real, forward, general, 0, 13, 7, true, 256, 1>, 256);
  else
    go(sweep_slices<Real, forward, general, 0, 41, 8, false, 64, 1>, 64);
}

template <class Real>
template <bool forward, bool general>
void NaturalSweep<Real>::State::run_wide(Sweep<Real> S, bool ends) const {
  const Index count = plan.nwavefronts;
  const Triangle<Real>& half = plan.half[forward ? 0 : 1];
  Real* const t = S.t;
  for (Index k = !forward && ends ? 1 : 0; k < count; ++k) {
    const Index w = forward ? k : count - 1 - k, begin = plan.first_slice[w], end = plan.first_slice[w + 1];
    const Index first = forward ? begin : plan.slices - end, last = forward ? end : plan.slices - begin;
    const bool b_is_t = w == 0 && plan.as_it_stands;
    if (forward) S.t = b_is_t || (ends && w == count - 1) ? nullptr : t;
    if (!forward && b_is_t) S.right = S.b;
    const auto go = [&](auto kernel, int slices_a_warp) {
      // What came before the first forward launch may have written what it reads at once.
      launch_after(on, can_begin_early && (!forward || k > 0), kernel,
                   blocks_for(last - first, wide_threads / lanes * slices_a_warp), wide_threads,
                   "a Gauss-Seidel sweep of a wavefront", S, first, last);
    };
    if (k == 0)
      go(sweep_first_wavefront<Real, forward, general>, slices_at_once);
    else if (plan.in_parts && half.widths[w] > short_sum)
      go(sweep_wavefront<Real, forward, general, true, 8>, 1);
    else if (half.width <= 6)
      go(sweep_wavefront<Real, forward, general, false, 6>, 1);
    else
      go(sweep_wavefront<Real, forward, general, false, 8>, 1);
  }
}

template <class Real>
template <bool lower>
void NaturalSweep<Real>::State::carry(const Real* b, const Real* old) const {
  Sweep<Real> S = sweep(lower ? 0 : 1, b);
  S.x = const_cast<Real*>(old);
  const auto kernel = plan.in_parts ? sum_part<Real, lower, true> : sum_part<Real, lower, false>;
  launch(on, kernel, blocks_for(S.count, carry_threads / lanes), carry_threads, "summing a triangle", S);
}

template <class Real>
void NaturalSweep<Real>::State::one(bool forward, const Real* b, Real* out, Real omega) const {
  if (plan.nrows == 0) return;
  look_for_trouble();
  const bool wide = plan.wide;
  Real* const old = plan.as_it_stands ? out : flags(1);
  if (old != out) bring_in(out);
  forward ? carry<false>(b, old) : carry<true>(b, old);
  Sweep<Real> S = sweep(forward ? 0 : 1, b);
  S.x = wide ? old : flags(0);
  S.old = omega == 1 ? nullptr : old;
  S.carried = S.t;
  if (!forward) S.row_of_place = nullptr;  // b is in t by now
  S.omega = omega;
  if (wide)
    forward ? run_wide<true, true>(S, false) : run_wide<false, true>(S, false);
  else
    forward ? run<true, true>(S) : run<false, true>(S);
  if (S.x != out) deliver(S.x, out);
  if (!wide) set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
}

template <class Real>
void NaturalSweep<Real>::State::pairs(const Real* b, Real* out, Real omega, int count, bool from_zero,
                                      bool in_order) const {
  if (plan.nrows == 0 || count < 1) return;
  look_for_trouble();
  const bool relaxed = omega != 1, wide = plan.wide;
  // Sweeps that await each other's values write an array each, and leave the other's unset.
  const bool in_place = wide && (plan.as_it_stands || in_order);
  Real* const after = in_place ? out : flags(1);
  Real* const between = wide ? after : flags(0);
  if (!from_zero) {
    if (after != out) bring_in(out);
    carry<false>(b, after);
  }
  for (int k = 0; k < count; ++k) {
    const bool guess = !from_zero || k > 0, last = k + 1 == count, ends = last && !relaxed;
    Sweep<Real> S = sweep(0, b);
    if (in_order || plan.as_it_stands) S.row_of_place = nullptr;  // b is in the sweep's order too
    S.x = between;
    S.unset = wide ? nullptr : after;
    S.omega = omega;
    S.old = guess && relaxed ? after : nullptr;
    S.carried = guess ? S.t : nullptr;
    if (wide)
      guess || relaxed ? run_wide<true, true>(S, ends) : run_wide<true, false>(S, ends);
    else
      guess || relaxed ? run<true, true>(S) : run<true, false>(S);

    S = sweep(1, b);
    S.row_of_place = nullptr;
    S.x = after;
    S.unset = wide ? nullptr : between;
    S.omega = omega;
    S.old = relaxed ? between : nullptr;
    S.out = last && in_order && !wide ? out : nullptr;
    S.leaves_upper = !last;
    if (wide)
      relaxed || !last ? run_wide<false, true>(S, ends) : run_wide<false, false>(S, ends);
    else
      relaxed || !last ? run<false, true>(S) : run<false, false>(S);
  }
  if (!in_order && after != out) deliver(after, out);
}

/// In the sweep's order p is in flags(0), A p in flags(2), w in flags(1).
template <class Real>
void NaturalSweep<Real>::State::split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
  if (plan.nrows == 0) return;
  look_for_trouble();
  launch_over(on, plan.places, gather<Real>, "gathering u", u, vector_rows(), plan.places, flags(2));
  Sweep<Real> S = sweep(1, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  S.unset = plan.wide ? nullptr : flags(1);
  plan.wide ? run_wide<false, false>(S, false) : run<false, false>(S);
  deliver(S.x, p);

  S = sweep(0, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  const auto multiply = plan.in_parts ? sum_part<Real, true, true, +1> : sum_part<Real, true, false, +1>;
  launch(on, multiply, blocks_for(S.count, carry_threads / lanes), carry_threads, "summing a triangle", S);
  deliver(S.t, Ap);

  S.x = flags(1);
  S.unset = plan.wide ? nullptr : flags(0);
  plan.wide ? run_wide<true, false>(S, false) : run<true, false>(S);
  deliver(S.x, w);
}

template <class Real>
template <class Offset>
NaturalSweep<Real>::NaturalSweep(const Cuda& on, const CsrView<Real, Offset, Device>& A, NaturalOptions options)
    : state_(std::make_shared<State>(on, options)) {
  require_square(A.nrows, A.ncols);
  state_->analyse(A);
}

template <class Real>
template <class Offset>
void NaturalSweep<Real>::update_values(const CsrView<Real, Offset, Device>& A) {
  state_->refill(A, nullptr);
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
