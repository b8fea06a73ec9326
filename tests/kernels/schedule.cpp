// Who sweeps what: each stretch once, after those that it needs, however the threads run.
#include "../backends.hpp"
#include "matrices.hpp"

#include <seidel/formats/generators/generate.hpp>
#include <seidel/kernels/symgs/host/schedule.hpp>

using namespace seidel;
using namespace seidel::tests;
using namespace seidel::symgs_detail;

namespace {

/// Keeps a thread busy for a while that nobody foresees.
void dawdle(std::int64_t stretch, std::int64_t sweep) {
  for (std::int64_t i = (stretch * 7919 + sweep * 104729) % 13 * 500; i > 0; --i) pause_briefly();
}

/// How many times rows that are coupled were swept in the wrong order, or a row not once, in some sweeps both ways.
std::int64_t wrong_orders(const Plain& plain, int threads) {
  const auto A = csr_of<double>(plain);
  Schedule schedule(OpenMP{threads}, A.row_ptr.span(), A.col_idx.span());
  std::vector<Range> places;
  schedule.each_stretch([&](std::int64_t first, std::int64_t last) { places.push_back({first, last}); });
  std::vector<std::int64_t> stretch_of(A.nrows, -1);
  for (std::size_t s = 0; s < places.size(); ++s)
    for (std::int64_t p = places[s].first; p < places[s].last; ++p)
      stretch_of[std::as_const(schedule).rows()[p]] = std::int64_t(s);
  std::int64_t wrong = std::count(stretch_of.begin(), stretch_of.end(), -1);
  for (std::int64_t sweep = 0; sweep < 4; ++sweep) {
    const bool forward = sweep % 2 == 0;
    std::atomic<std::int64_t> clock = 0;
    std::vector<std::int64_t> begun(places.size(), -1), ended(places.size(), -1);
    schedule.run(forward ? Direction::forward : Direction::backward, [&](std::int64_t s) {
      begun[s] = clock++;
      dawdle(s, sweep);
      ended[s] = clock++;
    });
    for (const std::int64_t end : ended) wrong += end == -1;
    for (Index i = 0; i < A.nrows; ++i)
      for (const auto& [j, value] : plain.rows[i]) {
        const std::int64_t one = stretch_of[std::min(i, j)], other = stretch_of[std::max(i, j)];
        if (one != other) wrong += forward ? ended[one] > begun[other] : ended[other] > begun[one];
      }
  }
  return wrong;
}

}  // namespace

TEST_CASE("a stretch is swept after those that it needs, both ways, with any number of threads") {
  const unsigned seed = fresh_seed();
  std::vector<NamedPlain> matrices = awkward_to_sweep(seed);
  matrices.push_back({"lines of 64", poisson(64, 24, 20)});
  Plain upper = poisson(70, 20, 20);  // couplings that A' alone has
  for (Index i = 0; i < upper.nrows(); ++i) upper.rows[i].erase(upper.rows[i].begin(), upper.rows[i].find(i));
  matrices.push_back({"lines of an upper triangle", upper});
  for (const auto& named : matrices)
    for (const int threads : {2, 3, 7, 16}) {
      CAPTURE(named.name);
      CAPTURE(threads);
      CHECK(wrong_orders(named.plain, threads) == 0);
    }
  CHECK(wrong_orders(random_square(40000, 4, seed), 7) == 0);  // by single rows
  std::int64_t wrong = -1;
#pragma omp parallel num_threads(2)  // the region inside gets one thread
#pragma omp single
  wrong = wrong_orders(matrices.back().plain, 5);
  CHECK(wrong == 0);
}

TEST_CASE("several threads are taken only where the estimate leaves room for their waits") {
  const auto stretches = [](const char* spec) {
    const auto A = generate(OpenMP{1}, spec);
    std::int64_t count = 0;
    Schedule(OpenMP{2}, A.row_ptr.span(), A.col_idx.span()).each_stretch([&](auto, auto) { ++count; });
    return count;
  };
  CHECK(stretches("elasticity3d:10") == 1);  // 0.83 of one thread's time: measured, they are slower
  CHECK(stretches("poisson3d:32") > 1);      // 0.57
}
