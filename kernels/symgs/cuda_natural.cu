// NaturalSweep: the analysis step by step, and which kernels a sweep is.
#include <chrono>

#include <seidel/formats/errors.hpp>
#include <seidel/kernels/symgs/cuda_natural.hpp>
#include <seidel/kernels/symgs/cuda_natural_analysis.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

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
  Array<unsigned, Device> ticket{1};
  Array<Index, Device> place_of_row;
  unsigned* hung = nullptr;  // page-locked: the host looks without waiting

  State(const Cuda& on, NaturalOptions options) : on(on), options(options) {
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
    S.row_of_place = plan.row_of_place.data();
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
  void deliver(int which, Real* to) const {
    launch(on, hand_over<Real>, blocks_for(plan.nrows, hand_over_rows), hand_over_threads, "giving x back",
           flags(which), place_of_row.data(), plan.nrows, to);
  }
  Real* flags(int which) const { return const_cast<Real*>(vectors.data()) + std::int64_t(which) * plan.places; }

  template <bool forward, bool general>
  void run(const Sweep<Real>& S) const;
  /// t from the old x in flags(1): S(upper) before a forward sweep, b - S(lower) before a backward one.
  template <bool lower>
  void carry(const Real* b) const;
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

template <class Real, class Offset>
__global__ void find_unusable(const CsrView<Real, Offset, Device> A, Index* first) {
  const Index row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < A.nrows && usable_diagonal(A, row) < 0) atomicMin(first, row);
}
/// Throws what is wrong with the first row that no sweep can use. Some step has found one, not always the first.
template <class Real, class Offset>
[[noreturn]] void refuse(const Cuda& on, const CsrView<Real, Offset, Device>& A, Findings* findings) {
  launch_over(on, A.nrows, find_unusable<Real, Offset>, "looking for bad rows", A, &findings->bad_row);
  const Index row = value_of(on, &findings->bad_row);
  copy_bytes(Device{}, &findings->bad_row, Host{}, &A.nrows, sizeof(Index));
  const Offset first = value_of(on, A.row_ptr.data() + row), last = value_of(on, A.row_ptr.data() + row + 1);
  std::vector<Index> columns(last - first);
  std::vector<Real> values(last - first);
  copy_bytes(Host{}, columns.data(), Device{}, A.col_idx.data() + first, columns.size() * sizeof(Index));
  copy_bytes(Host{}, values.data(), Device{}, A.values.data() + first, values.size() * sizeof(Real));
  refuse_row(row, columns, {values.begin(), values.end()});
}

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

  report.wavefronts = std::int64_t(plan.nwavefronts) * plan.node;
  report.slices = plan.slices;
  report.places = plan.places;
  report.node = plan.node;
  report.mixed = plan.mixed;
  report.long_rows = plan.has_long;
  for (int h = 0; h < 2; ++h) report.widest[h] = plan.half[h].width;
  report.bytes =
      plan.bytes() + place_of_row.size() * std::int64_t(sizeof(Index)) + vectors.size() * std::int64_t(sizeof(Real));
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
template <bool lower>
void NaturalSweep<Real>::State::carry(const Real* b) const {
  Sweep<Real> S = sweep(lower ? 0 : 1, b);
  S.x = flags(1);
  launch(on, sum_part<Real, lower>, blocks_for(S.count, carry_threads / lanes), carry_threads, "summing a triangle", S);
}

template <class Real>
void NaturalSweep<Real>::State::one(bool forward, const Real* b, Real* out, Real omega) const {
  if (plan.nrows == 0) return;
  look_for_trouble();
  launch_over(on, plan.places, gather<Real>, "gathering x", out, plan.row_of_place.data(), plan.places, flags(1));
  forward ? carry<false>(b) : carry<true>(b);
  Sweep<Real> S = sweep(forward ? 0 : 1, b);
  S.x = flags(0);
  S.old = omega == 1 ? nullptr : flags(1);
  S.carried = S.t;
  if (!forward) S.row_of_place = nullptr;  // b is in t by now
  S.omega = omega;
  forward ? run<true, true>(S) : run<false, true>(S);
  deliver(0, out);
  set_bytes(on, Span<Real, Device>(flags(0), plan.places), 0xff);
}

template <class Real>
void NaturalSweep<Real>::State::pairs(const Real* b, Real* out, Real omega, int count, bool from_zero,
                                      bool in_order) const {
  if (plan.nrows == 0 || count < 1) return;
  look_for_trouble();
  const bool relaxed = omega != 1;
  if (!from_zero) {
    launch_over(on, plan.places, gather<Real>, "gathering x", out, plan.row_of_place.data(), plan.places, flags(1));
    carry<false>(b);
  }
  for (int k = 0; k < count; ++k) {
    const bool guess = !from_zero || k > 0, last = k + 1 == count;
    Sweep<Real> S = sweep(0, b);
    if (in_order) S.row_of_place = nullptr;
    S.x = flags(0);
    S.unset = flags(1);
    S.omega = omega;
    S.old = guess && relaxed ? flags(1) : nullptr;
    S.carried = guess ? S.t : nullptr;
    guess || relaxed ? run<true, true>(S) : run<true, false>(S);

    S = sweep(1, b);
    S.row_of_place = nullptr;
    S.x = flags(1);
    S.unset = flags(0);
    S.omega = omega;
    S.old = relaxed ? flags(0) : nullptr;
    S.out = last && in_order ? out : nullptr;
    S.leaves_upper = !last;
    relaxed || !last ? run<false, true>(S) : run<false, false>(S);
  }
  if (!in_order) deliver(1, out);
}

/// In the sweep's order p is in flags(0), A p in flags(2), w in flags(1).
template <class Real>
void NaturalSweep<Real>::State::split_product(const Real* u, Real* p, Real* Ap, Real* w) const {
  if (plan.nrows == 0) return;
  look_for_trouble();
  launch_over(on, plan.places, gather<Real>, "gathering u", u, plan.row_of_place.data(), plan.places, flags(2));
  Sweep<Real> S = sweep(1, u);
  S.row_of_place = nullptr;
  S.x = flags(0);
  S.unset = flags(1);
  run<false, false>(S);
  deliver(0, p);

  S = sweep(0, flags(2));
  S.row_of_place = nullptr;
  S.x = flags(0);
  launch(on, sum_part<Real, true, +1>, blocks_for(S.count, carry_threads / lanes), carry_threads, "summing a triangle",
         S);
  deliver(2, Ap);

  S.x = flags(1);
  S.unset = flags(0);
  run<true, false>(S);
  deliver(1, w);
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
  return std::as_const(state_->plan.row_of_place).span();
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
