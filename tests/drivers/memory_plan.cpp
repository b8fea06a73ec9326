// What a solve says that it will take is what it takes.
#include <seidel/drivers/memory_plan.hpp>

#include <malloc.h>

#include <algorithm>
#include <fstream>

#include <seidel/drivers/solve_on.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/kernels/spmv/hubs.hpp>

#include "../backends.hpp"

using namespace seidel;
using namespace seidel::drivers;

namespace {

/// Bytes that this process holds, or -1 if the system does not say. VmRSS of /proc/self/status would be off by half a megabyte
/// where there are many cores, since each counts pages by itself for a while.
std::int64_t taken(const OpenMP&) {
  malloc_trim(0);  // what is free goes back
  std::ifstream maps("/proc/self/smaps_rollup");
  for (std::string word; maps >> word;)
    if (word == "Rss:") {
      std::int64_t kib;
      maps >> kib;
      return kib * 1024;
    }
  return -1;
}
[[maybe_unused]] std::int64_t taken(const Cuda&) { return -available_bytes(Device{}); }

Placement placement(const OpenMP& on) { return {.backend = BackendName::openmp, .threads = on.threads}; }
[[maybe_unused]] Placement placement(const Cuda&) { return {.backend = BackendName::cuda}; }

/// Taken while it iterates, beyond what was before; against the plan. Arrays are rounded up to 2 MiB on a GPU.
template <class B>
void check_plan(const B& on, const Csr<double, std::int64_t>& wide, MethodChoice choice) {
  CAPTURE(choice.method.name);
  CAPTURE(choice.preconditioner.name);
  CAPTURE(to_string(choice.order));
  constexpr bool cuda = !HostBackend<B>;
  const auto A = with_offsets<std::int32_t>(OpenMP{}, wide.view());
  const Array<double> b(A.nrows, 1.0);
  SolveNeeds needs{.nrows = A.nrows, .nnz = A.nnz(), .choice = choice, .cuda = cuda, .estimates = true};
  if constexpr (!cuda)
    if (choice.preconditioner.count) {
      const std::int64_t at_most = 2 * plan_solve(needs, 0).needed();  // what worth_counting() counts on
      needs.counted_bytes = choice.preconditioner.count(on, wide.view(), choice);
      CHECK(*needs.counted_bytes >= at_least(needs).counted_bytes);
      CHECK(plan_solve(needs, 0).needed() <= at_most);
    }
  std::int64_t planned = plan_solve(needs, 0).needed();
  if (!cuda) planned -= 4 * (A.nrows + std::int64_t(1));                      // row pointers of 32 bits: taken already
  if (choice.method == Method::cg) planned -= 2 * 8 * std::int64_t(A.nrows);  // to look for what this solve does not
  const std::int64_t before = taken(on);
  std::int64_t most = 0;
  Criteria criteria;
  criteria.max_iterations = 6;
  criteria.error_tolerance = 1;
  criteria.on_iteration = [&](const IterationReport&) { most = std::max(most, taken(on) - before); };
  solve_on(placement(on), System<std::int32_t>{A.view(), b, {}, 12}, choice, criteria);
  MESSAGE("planned ", planned, " bytes, taken ", most);
  CHECK(double(most) < 1.1 * double(planned) + (cuda ? 4e7 : 5e5));
  CHECK(double(most) > 0.9 * double(planned) - (cuda ? 0 : 2.5e5));  // the heap may have kept some pages from before
}

template <class B>
void check_plans(const B& on, const char* matrix) {
  {  // threads and kernels take memory when they are first used
    const auto A = with_offsets<std::int32_t>(OpenMP{}, generate(OpenMP{}, "poisson3d:20").view());
    const Array<double> b(A.nrows, 1.0);
    for (const Order order : {Order::natural, Order::colours})
      solve_on(placement(on), System<std::int32_t>{A.view(), b, {}, 12}, {Method::cg, PreconditionerKind::symgs, order},
               {});
  }
  const auto A = generate(OpenMP{}, matrix);
  const auto cg = Method::cg;
  for (const MethodChoice& choice :
       {MethodChoice{cg}, MethodChoice{cg, PreconditionerKind::jacobi}, MethodChoice{cg, PreconditionerKind::symgs},
        MethodChoice{.method = cg, .preconditioner = PreconditionerKind::symgs, .form = Form::eisenstat},
        MethodChoice{cg, PreconditionerKind::symgs, Order::colours}, MethodChoice{Method::minres},
        MethodChoice{Method::bicgstab}, MethodChoice{Method::idr}, MethodChoice{.method = Method::gmres, .restart = 4},
        MethodChoice{Method::lsmr}})
    check_plan(on, A, choice);
}

}  // namespace

TEST_CASE("what does not fit is refused before it is read or made, with what it is for") {
  MethodRequest request;
  request.method = Method::bicgstab, request.preconditioner = PreconditionerKind::jacobi;
  const MemoryPlan plan = plan_read(1000, 1000, 5000, request, false, 100'000);
  CHECK(plan.needed() > 12 * 5000 + 8 * 1001 + (1 + 3 + 7 + 1) * 8 * 1000);  // the matrix, b, x and bicgstab's, jacobi
  try {
    plan.require();
    FAIL("was not refused");
  } catch (const ResourceError& error) {
    const std::string said = error.what();
    CAPTURE(said);
    for (const char* part : {"the matrix", "vectors of bicgstab", "jacobi", "--method cg"})
      CHECK(said.find(part) != said.npos);
  }
  std::int64_t nrows = 0, ncols = 0, nnz = 0;
  const auto sized = [&](std::int64_t rows, std::int64_t columns, std::int64_t entries) {
    nrows = rows;
    ncols = columns;
    nnz = entries;
    throw ResourceError("enough");
  };
  CHECK_THROWS_WITH_AS(generate(OpenMP{}, "poisson3d:10", 1, sized), "enough", ResourceError);
  CHECK(nrows == 1000);
  CHECK(nnz == 7000 - 600);
  for (const char* spec : {"denserow:50", "densecolumn:50", "emptyrows:50", "rmat:4", "spd:50:7", "random:50x70:90"}) {
    CAPTURE(spec);
    const auto A = generate(OpenMP{}, spec);
    CHECK_THROWS_WITH_AS(generate(OpenMP{}, spec, 1, sized), "enough", ResourceError);
    CHECK(nrows == A.nrows);
    CHECK(ncols == A.ncols);
    CHECK(nnz >= A.nnz() * 9 / 10);
    CHECK(nnz <= std::max<std::int64_t>(A.nnz() * 11 / 10, 16 * 16));  // rmat: edges in the same place count one by one
  }
  ReadOptions options;
  options.sized = sized;
  const std::string text = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n1 1 1\n2 2 1\n3 3 1\n3 1 wrong\n";
  CHECK_THROWS_WITH_AS(parse_matrix_market(text, "text", options), "enough", ResourceError);
  CHECK(nrows == 3);
  CHECK(nnz == 5);
}

TEST_CASE("a plan leaves a margin, and asks for the memory of a GPU before the matrix is made") {
  CHECK(without_margin(134'000'000'000) < 130'000'000'000);
  CHECK(without_margin(10'000'000'000) == 9'700'000'000);
  CHECK(without_margin(4'000'000'000) == 3'700'000'000);
  CHECK(without_margin(100'000'000) == 90'000'000);
  const std::int64_t n = 1100LL * 1100 * 1100, nnz = 7 * n;
  CHECK_THROWS_AS(plan_read(n, n, nnz, {}, true, without_margin(134'000'000'000)).require(), ResourceError);
  CHECK_THROWS_AS(plan_read_for_gpu(n, n, nnz, {}, without_margin(150'000'000'000)).require(), ResourceError);
  CHECK(plan_read_for_gpu(n, n, nnz, {}, 0).where == "memory of the GPU");
  plan_read_for_gpu(1000, 1000, 7000, {}, 1'000'000).require();
}

TEST_CASE("the x of a least-squares problem has as many entries as A has columns, and so the plan before reading") {
  MethodRequest request;
  request.goal = Goal::least_squares;
  const std::int64_t wide = 2'000'000'000;
  for (const bool cuda : {false, true})
    CHECK_THROWS_AS(plan_read(1, wide, 2, request, cuda, 8 * wide - 1).require(), ResourceError);
  CHECK_THROWS_AS(plan_read_for_gpu(1, wide, 2, request, 8 * wide - 1).require(), ResourceError);
  plan_read(1, 2000, 2, request, false, 1'000'000).require();
}

TEST_CASE("the plan of lsmr holds what transposition takes for a time, as far as that is more than the vectors") {
  const auto planned = [](std::int64_t n, std::int64_t nnz) {
    return plan_solve({.nrows = n, .nnz = nnz, .choice = {Method::lsmr}}, 0).needed();
  };
  const std::int64_t large = 1 << 25, small = 1 << 12, nnz = 1'900'000'000;
  CHECK(planned(large, nnz) - planned(large, nnz / 2) > (12 + 7) * nnz / 2);  // not 8: it shares with vectors
  CHECK(planned(small, nnz) - planned(small, nnz / 2) == 12 * nnz / 2);
  CHECK(planned(large, large) - planned(large, 0) == 12 * large);
}

TEST_CASE(
    "the plan of cg holds what the look for an error that no iterate shows takes, unless others that may follow take "
    "more") {
  const auto planned = [](bool estimates, std::vector<Method> fallbacks) {
    return plan_solve({.nrows = 1000,
                       .nnz = 5000,
                       .choice = {.method = Method::cg, .fallbacks = std::move(fallbacks)},
                       .estimates = estimates},
                      0)
        .needed();
  };
  CHECK(planned(true, {}) - planned(false, {}) == 3 * 8 * 1000);
  CHECK(planned(true, {Method::gmres}) - planned(false, {Method::gmres}) == 8 * 1000);
}

TEST_CASE("a method that may have to go on is left out where its memory is not there, and nothing else is") {
  const MethodChoice choice{
      .method = Method::cg, .fallbacks = {Method::minres, Method::gmres}, .reason = "cg, because"};
  const SolveNeeds needs{1'000'000, 7'000'000, choice};
  CHECK(plan_solve(needs, 0).needed() > 8'000'000 * 53LL);
  CHECK(affordable(needs, 1'000'000'000).fallbacks == choice.fallbacks);
  const MethodChoice alone = affordable(needs, 200'000'000);
  CHECK(alone.fallbacks == std::vector<Method>{Method::minres});
  CHECK(alone.reason == "cg, because; no fallback to gmres: not enough memory");
  CHECK(plan_solve({1'000'000, 7'000'000, alone}, 200'000'000).needed() < 100'000'000);
}

TEST_CASE("sweeps are counted on the host where they might not fit, or where the plan is said beforehand") {
  SolveNeeds needs{1'000'000, 7'000'000, {Method::cg, PreconditionerKind::symgs}};
  const std::int64_t about = plan_solve(needs, 0).needed();
  REQUIRE(about < 400'000'000);
  CHECK(!worth_counting(needs, 2 * about));
  CHECK(worth_counting(needs, 2 * about - 1));
  needs.cuda = true;
  CHECK(!worth_counting(needs, 0));
  SolveNeeds large{10'000'000, 70'000'000, {Method::cg, PreconditionerKind::symgs}};
  CHECK(worth_counting(large, INT64_MAX));
  large.choice.preconditioner = PreconditionerKind::jacobi;
  CHECK(!worth_counting(large, INT64_MAX));
}

TEST_CASE("a plan for a GPU holds what products keep for the hubs of a matrix, if its rows may be uneven") {
  SolveNeeds needs{.nrows = 1'000'000, .nnz = 16'000'000, .choice = MethodChoice{Method::cg}, .cuda = true};
  const std::int64_t even = plan_solve(needs, 0).needed();
  needs.uneven_rows = true;
  const std::int64_t more = plan_solve(needs, 0).needed() - even;
  CHECK(more > 4 * needs.nnz / 2);  // without what it shares with blocks
  CHECK(more < 6 * needs.nnz);
  for (const auto& [spec, uneven] :
       {std::pair{"rmat:12", true}, {"poisson3d:16", false}, {"hpcg:16", false}, {"elasticity3d:20", false}}) {
    CAPTURE(spec);
    const RowStatistics rows = row_statistics(OpenMP{}, generate(OpenMP{}, spec).view());
    CHECK(spmv_detail::Hubs::rows_allow(rows.mean, rows.variance) == uneven);
  }
}

TEST_CASE("a solve takes the memory that it says, within a tenth" * doctest::skip(SEIDEL_SANITIZED)) {
  mallopt(M_MMAP_THRESHOLD, 1 << 17);  // its default, but fixed: large arrays go back to the system, in later tests too
  // A sanitizer's own memory counts too, so there is nothing to measure.
  const std::int64_t before = taken(OpenMP{});
  const std::int64_t grown = [&] {
    const Array<double> more(1 << 22, 1.0);
    return taken(OpenMP{}) - before;
  }();
  if (before < 0 || grown > (9 << 22) || taken(OpenMP{}) - before > (1 << 20))
    tests::skipped("this system does not say what memory was used");
  else
    for (const char* matrix : {"poisson3d:64", "elasticity3d:20"}) check_plans(OpenMP{2}, matrix);
  if constexpr (built_with_cuda) {
    if (tests::have_gpu())
      check_plans(Cuda{}, "poisson3d:128");
    else
      tests::skipped_cuda();
  }
}
