// seidel solve and convert where the diagonal has zeros.
#include "process.hpp"
#include "solution.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <random>
#include <sstream>

using namespace seidel::tests;
using nlohmann::json;

namespace {

/// A dominant tridiagonal matrix with its rows moved down by one, in rows and columns of very different sizes.
std::string moved_rows(int n) {
  std::string text;
  const auto put = [&](int i, int j, double value) {
    const double scale = i % 3 == 0 ? 1e6 : 1;
    text += std::to_string((i + 1) % n + 1) + " " + std::to_string(j + 1) + " " + std::to_string(scale * value) + "\n";
  };
  for (int i = 0; i < n; ++i) {
    put(i, i, 5);
    if (i > 0) put(i, i - 1, -2);
    if (i + 1 < n) put(i, i + 1, -1);
  }
  return "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " + std::to_string(n) + " " +
         std::to_string(3 * n - 2) + "\n" + text;
}

}  // namespace

TEST_CASE("zeros on the diagonal do not stop a preconditioner, with the same bits on every back end") {
  Folder folder;
  const std::string file = folder / "A.mtx";
  write_file(file, moved_rows(2000));
  for (const char* precond : {"symgs", "jacobi", "ilu0"})
    for (const char* backend : {"serial", "openmp"}) {
      const Run run = succeeded({"solve", file, "--method", "bicgstab", "--precond", precond, "--backend", backend,
                                 "--out", folder / (std::string(precond) + backend), "--json", "-"});
      const json report = json::parse(run.out);
      CHECK(report["permuted"] == true);
      CHECK(report["scaled"] == true);
      CHECK(report["iterations"] <= 60);
      CHECK(report["error_against_ones"] <= 1e-4);
    }
  for (const std::string precond : {"symgs", "jacobi", "ilu0"})
    CHECK(read_file(folder / (precond + "serial")) == read_file(folder / (precond + "openmp")));
  const Run refused = seidel_program({"solve", file, "--precond", "symgs", "--permute", "none"});
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "--permute auto"));
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 ";
  write_file(folder / "no_order.mtx", banner + "1\n2 1 1\n");
  const Run no_order = seidel_program({"solve", folder / "no_order.mtx", "--precond", "symgs"});
  CHECK(contains(no_order.err, "no_order.mtx: row 2: "));
  CHECK(!contains(no_order.err, "--permute auto"));  // which was in vain
  write_file(folder / "tiny.mtx", banner + "1e-320\n2 2 1\n");
  CHECK(contains(seidel_program({"solve", folder / "tiny.mtx", "--precond", "symgs"}).err, "tiny.mtx: row 1: "));
  const json plain = json::parse(
      seidel_program({"solve", file, "--method", "gmres", "--precond", "jacobi", "--scale", "none", "--json", "-"})
          .out);
  CHECK(plain["permuted"] == true);
  CHECK(plain["scaled"] == false);
  CHECK(json::parse(seidel_program({"solve", "poisson2d:9", "--json", "-"}).out)["permuted"] == false);
}

TEST_CASE(
    "minres without preconditioner sees scaled rows, so that small ones are solved for: the error is what it says") {
  constexpr int n = 900, m = n / 3;  // [2^20 T, B'; B, -2^-20 I], B takes every third unknown
  std::mt19937_64 random(7);
  std::vector<double> x(n + m), b(n + m, 0.0);
  for (double& v : x) v = double(random() % 2001) - 1000;
  std::string text;
  int count = 0;
  const auto put = [&](int i, int j, double value) {
    std::ostringstream line;
    line.precision(17);
    line << i + 1 << " " << j + 1 << " " << value << "\n";
    text += line.str(), ++count;
    b[i] += value * x[j];  // exactly
    if (i != j) b[j] += value * x[i];
  };
  for (int i = 0; i < n; ++i) {
    put(i, i, std::ldexp(2.25, 20));
    if (i > 0) put(i, i - 1, -std::ldexp(1, 20));
  }
  for (int k = 0; k < m; ++k) put(n + k, 3 * k, 1), put(n + k, n + k, -std::ldexp(1, -20));
  Folder folder;
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n + m) + " " +
                                   std::to_string(n + m) + " " + std::to_string(count) + "\n" + text);
  std::ostringstream numbers;
  numbers.precision(17);
  for (const double v : b) numbers << v << "\n";
  write_file(folder / "b.txt", numbers.str());
  const Run run = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt", "--method", "minres", "--out",
                                  folder / "x.mtx", "--json", "-"});
  const json report = json::parse(run.out);
  CHECK(report["scaled"] == true);
  CHECK(report["preconditioner"] == "none");
  CHECK(report["iterations"] <= 400);
  const double error = relative_error(folder / "x.mtx", x);
  CHECK(error <= 1e-2);  // not scaled it is 1
  CHECK(error <= 30 * report["error_estimate"].get<double>());
}

TEST_CASE("symmetry of permuted rows is not taken for that of A, nor of what is made of them") {
  Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  write_file(folder / "cycle.mtx", banner + "3 3 3\n1 2 1\n2 3 2\n3 1 2\n");  // permuted it is diagonal
  write_file(folder / "swap.mtx", banner + "3 3 3\n1 1 1\n2 3 2\n3 2 2\n");   // this one is symmetric, too
  for (const char* precond : {"symgs", "jacobi", "ilu0"}) {
    const Run cycle = succeeded({"solve", folder / "cycle.mtx", "--precond", precond});
    CHECK(contains(cycle.out, "because A is not symmetric"));
    const Run swap = succeeded({"solve", folder / "swap.mtx", "--precond", precond});
    CHECK(contains(swap.out, "because the preconditioner is not symmetric"));
  }
}

TEST_CASE("convert --permute-diagonal writes the rows in that order, and says which") {
  Folder folder;
  write_file(folder / "A.mtx", moved_rows(5));
  const Words convert = {"convert", folder / "A.mtx", folder / "B.mtx", "--permute-diagonal"};
  CHECK(contains(succeeded(convert + Words{"--json", folder / "order"}).err, "another order"));
  CHECK(json::parse(read_file(folder / "order"))["rows"] == json({2, 3, 4, 5, 1}));
  CHECK(contains(seidel_program({"info", folder / "B.mtx"}).out, "5 positive"));
  CHECK(!contains(succeeded({"convert", "poisson2d:3", folder / "B.mtx", "--permute-diagonal"}).err, "another order"));
  check_refused(3, {{{"convert", "emptyrows:9", "-", "--permute-diagonal"}, {"emptyrows:9: found nonzero entries"}},
                    {{"convert", "random:3x2:4", "-", "--permute-diagonal"}, {"random:3x2:4: found 3 rows and 2"}}});
}
