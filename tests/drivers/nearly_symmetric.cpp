// seidel solve of a matrix whose entries differ from their mirrors by rounding, as finite elements leave it.
#include "solution.hpp"
#include "solve_json.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <sstream>

using namespace seidel::tests;
using nlohmann::json;

namespace {

constexpr int side = 60;

/// A lattice of points whose unknowns have different units, with entries that are off by up to `ulps` roundings.
void write_lattice(const std::string& path, double ulps) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> number(-ulps, ulps);
  std::ostringstream A;
  A.precision(17);
  std::int64_t count = 0;
  const auto unit = [](int i) { return std::exp(3 * std::sin(i / side)); };
  const auto put = [&](int i, int j, double a) {
    const double off = i == j ? 0 : number(random) * std::numeric_limits<double>::epsilon();
    A << i + 1 << " " << j + 1 << " " << unit(i) * unit(j) * (a + off) << "\n", ++count;
  };
  const int n = side * side;
  for (int i = 0; i < n; ++i) {
    put(i, i, 4);
    if (i % side > 0) put(i, i - 1, -1);
    if (i % side < side - 1) put(i, i + 1, -1);
    if (i >= side) put(i, i - side, -1);
    if (i + side < n) put(i, i + side, -1);
  }
  write_file(path, "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " + std::to_string(n) +
                       " " + std::to_string(count) + "\n" + A.str());
}

}  // namespace

TEST_CASE("a matrix that is symmetric but for rounding is solved as a symmetric one, by every method that needs one") {
  Folder folder;
  write_lattice(folder / "near.mtx", 4);
  write_lattice(folder / "far.mtx", 4000);
  const json near = report_of({folder / "near.mtx"}, 0);
  CHECK(near["matrix"]["symmetric"] == false);
  CHECK(near["matrix"]["nearly_symmetric"] == true);
  CHECK(near["method"] == "cg");
  CHECK(contains(near["choice"].get<std::string>(),
                 "because A is symmetric (but for rounding) with a positive diagonal"));
  for (const Words& way : {Words{"--precond", "amg"},
                           {"--precond", "ic0"},
                           {"--method", "minres"},
                           {"--method", "multigrid"},
                           {"--method", "direct"},
                           {"--precond", "symgs", "--set", "form=eisenstat"}}) {
    CAPTURE(way.back());
    const json report = report_of(Words{folder / "near.mtx", "--tol", "1e-12", "--out", folder / "x.mtx"} + way, 0);
    CHECK(report["verdict"] == "solved");
    CHECK(relative_error(folder / "x.mtx", std::vector<double>(side * side, 1.0)) < 1e-5);
  }
  const json far = report_of({folder / "far.mtx"}, 0);
  CHECK(far["matrix"]["nearly_symmetric"] == false);
  CHECK(far["method"] != "cg");
  CHECK(contains(seidel_program({"info", folder / "near.mtx"}).out, "symmetric but for rounding: the largest"));
  CHECK_FALSE(contains(seidel_program({"info", folder / "far.mtx"}).out, "but for rounding: the largest"));
}
