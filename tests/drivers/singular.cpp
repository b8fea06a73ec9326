// seidel solve of singular systems whose null space is known.
#include "solve_json.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

using namespace seidel::tests;
using nlohmann::json;

namespace {

/// The Laplacian of `parts` rings of `n` points each.
std::string rings(int n, int parts) {
  std::string text;
  for (int p = 0; p < parts; ++p)
    for (int i = 0; i < n; ++i) {
      const int row = p * n + i + 1, next = p * n + (i + 1) % n + 1;
      text += std::to_string(row) + " " + std::to_string(row) + " 2\n" + std::to_string(std::max(row, next)) + " " +
              std::to_string(std::min(row, next)) + " -1\n";
    }
  return "%%MatrixMarket matrix coordinate real symmetric\n" + std::to_string(n * parts) + " " +
         std::to_string(n * parts) + " " + std::to_string(2 * n * parts) + "\n" + text;
}

std::string ramp(int n) {
  std::string text;
  for (int i = 0; i < n; ++i) text += std::to_string(i * i % 7) + "\n";
  return text;
}

double sum_of(const std::string& file) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  double sum = 0;
  while (std::getline(lines, line)) sum += std::stod(line);
  return sum;
}

}  // namespace

TEST_CASE("a Laplacian is called singular before it is solved, and x has least norm and a known error") {
  Folder folder;
  write_file(folder / "A.mtx", rings(50, 3));
  const json report = report_of({folder / "A.mtx", "--out", folder / "x.mtx"}, 0);
  CHECK(report["null_space"]["dimension"] == 3);
  CHECK(report["error_estimate"] <= 1e-5);
  CHECK(report["error_estimate_source"] == "exact");
  CHECK(std::abs(sum_of(folder / "x.mtx")) <= 1e-10);
  CHECK(contains(seidel_program({"solve", folder / "A.mtx"}).out, "singular: A times a constant on any of 3"));
  CHECK(report_of({"poisson2d:9"}, 0)["null_space"].is_null());
}

TEST_CASE("rows that nearly sum to zero determine x: A is not taken for a singular one") {
  Folder folder;
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 4\n1 1 1.000000000001\n1 2 -1\n2 1 -1\n"
             "2 2 1.000000000001\n");
  write_file(folder / "b.txt", "1\n1\n");  // x = 1e12, 1e12 but for the digits that A has not
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.mtx"}, 0);
  CHECK(report["null_space"].is_null());
  CHECK(sum_of(folder / "x.mtx") == doctest::Approx(2e12).epsilon(1e-3));
}

TEST_CASE("where b does not suit an A without symmetry, --least-squares is proposed, and nothing said of least norm") {
  Folder folder;
  write_file(
      folder / "Q.mtx",  // a Markov chain
      "%%MatrixMarket matrix coordinate real general\n3 3 7\n1 1 -2\n1 2 2\n2 1 1\n2 2 -4\n2 3 3\n3 1 5\n3 3 -5\n");
  write_file(folder / "b.txt", "1\n2\n4\n");
  const Run run = seidel_program({"solve", folder / "Q.mtx", "--rhs", folder / "b.txt"});
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "--least-squares"));
  CHECK(!contains(run.out, "least norm"));
  succeeded({"solve", folder / "Q.mtx", "--rhs", folder / "b.txt", "--least-squares"});
}

TEST_CASE("a b outside the range is called that, and the command that is proposed solves for the rest of it") {
  Folder folder;
  write_file(folder / "A.mtx", rings(40, 2));
  write_file(folder / "b.txt", ramp(80));
  const std::vector<std::string> words = {folder / "A.mtx", "--rhs", folder / "b.txt"};
  const json refused = report_of(words, 1);
  CHECK(refused["diagnosis"][0]["cause"] == "A is singular, and b is not in its range");
  CHECK(refused["diagnosis"][0]["try"].get<std::string>().ends_with("--null-space constant"));
  CHECK(refused["relative_residual"].get<double>() ==
        doctest::Approx(refused["null_space"]["part_of_b"].get<double>()));  // x is the least-squares solution
  for (const char* backend : {"serial", "openmp"}) {
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--null-space", "constant", "--backend", backend, "--out", folder / backend});
    const json report = report_of(asked, 0);
    CHECK(report["null_space"]["projected"] == true);
    CHECK(report["null_space"]["part_of_b"] > 0.1);
    CHECK(std::abs(sum_of(folder / backend)) <= 1e-10);
  }
  CHECK(read_file(folder / "serial") == read_file(folder / "openmp"));
}

TEST_CASE("null vectors beside the constants, as of a free elastic body, are not passed over") {
  Folder folder;
  constexpr int n = 23;  // a beam with free ends: A = D'D with second differences D also maps i to zero
  double A[n][n] = {};
  for (int i = 0; i + 2 < n; ++i)
    for (int j = 0; j < 3; ++j)
      for (int k = 0; k < 3; ++k) A[i + j][i + k] += (j == 1 ? -2 : 1) * (k == 1 ? -2 : 1);
  std::string entries;
  int count = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j)
      if (A[i][j] != 0)
        entries += std::to_string(i + 1) + " " + std::to_string(j + 1) + " " + std::to_string(A[i][j]) + "\n", ++count;
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n23 23 " + std::to_string(count) + "\n" + entries);
  std::string inside, outside;
  for (int i = 0; i < n; ++i) {
    double sum = 0;
    for (int j = 0; j < n; ++j) sum += A[i][j] * double(j * j % 7);
    inside += std::to_string(sum) + "\n";
    outside += std::to_string(i % 5) + "\n";  // has parts along the constants and along i
  }
  write_file(folder / "inside.txt", inside);
  write_file(folder / "outside.txt", outside);
  const json one_of_many = report_of({folder / "A.mtx", "--rhs", folder / "inside.txt"}, 0);
  CHECK(one_of_many["verdict"] == "doubtful");
  CHECK(one_of_many["error_estimate_source"] == "singular");
  CHECK(!contains(seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "inside.txt"}).out, "least norm"));
  CHECK(report_of({folder / "A.mtx"}, 0)["verdict"] == "doubtful");
  const json refused = report_of({folder / "A.mtx", "--rhs", folder / "outside.txt"}, 1);
  CHECK(refused["diagnosis"][0]["cause"] == "A is singular, and b is not in its range");
  CHECK(refused["diagnosis"][0]["try"].get<std::string>().ends_with("--least-squares"));
  const json least = report_of({folder / "A.mtx", "--rhs", folder / "outside.txt", "--least-squares"}, 0);
  CHECK(refused["relative_residual"].get<double>() == doctest::Approx(least["relative_residual"].get<double>()));
}

TEST_CASE("whatever found A singular, --least-squares is proposed, and calls its x solved") {
  Folder folder;
  write_file(folder / "equal.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n4\n4\n4\n");
  write_file(folder / "skew.mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 1\n3 2 2\n");
  write_file(folder / "empty.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 1 1\n2 2 1\n");
  write_file(folder / "chain.mtx",  // of Markov: its b has to suit another vector than the constants
             "%%MatrixMarket matrix array real general\n3 3\n-2\n1\n5\n2\n-4\n0\n0\n3\n-5\n");
  for (const std::string name : {"equal", "skew", "chain"})
    for (const char* method : {"auto", "direct"}) {
      CAPTURE(name);
      CAPTURE(method);
      write_file(folder / "b.txt", name == "equal" ? "1 0" : "1 2 4");
      const std::vector<std::string> words = {folder / (name + ".mtx"), "--rhs", folder / "b.txt"};
      const auto with = [&](std::initializer_list<std::string> more) {
        auto all = words;
        all.insert(all.end(), more);
        return all;
      };
      const json refused = report_of(with({"--method", method}), 1);
      CHECK(refused["diagnosis"][0]["try"].get<std::string>().ends_with("--least-squares"));
      report_of(with({"--least-squares"}), 0);
    }
  write_file(folder / "b.txt", "1 2 0");
  const std::string text = seidel_program({"solve", folder / "empty.mtx", "--rhs", folder / "b.txt"}).out;
  CHECK(!contains(text, "A times a constant is zero"));  // in row 3 alone
  CHECK(contains(text, "constant on one part of its rows"));
}

TEST_CASE("a part that nothing holds is found beside one that is held") {
  Folder folder;
  const int n = 60;  // a ring, and behind it a chain with a diagonal of 3
  std::string text;
  std::vector<double> b(2 * n, 0.0);
  for (int i = 1; i <= n; ++i) {
    text += std::to_string(i) + " " + std::to_string(i) + " 2\n";
    text += std::to_string(std::max(i, i % n + 1)) + " " + std::to_string(std::min(i, i % n + 1)) + " -1\n";
    text += std::to_string(n + i) + " " + std::to_string(n + i) + " 3\n";
    if (i > 1) text += std::to_string(n + i) + " " + std::to_string(n + i - 1) + " -1\n";
  }
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate real symmetric\n120 120 239\n" + text);
  std::string consistent = "1\n-1\n", outside = "1\n1\n";
  for (int i = 2; i < 2 * n; ++i) consistent += i < n ? "0\n" : "1\n", outside += "0\n";
  write_file(folder / "b.txt", consistent);
  write_file(folder / "outside.txt", outside);
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt"}, 0);
  CHECK(report["null_space"]["dimension"] == 1);
  CHECK(report["verdict"] == "solved");
  const json refused = report_of({folder / "A.mtx", "--rhs", folder / "outside.txt"}, 1);
  CHECK(refused["diagnosis"][0]["try"].get<std::string>().ends_with("--null-space constant"));
}

TEST_CASE("an x so large that rounding it is all of b is no solution that double precision gives") {
  // A wind in a closed box: columns sum to zero, but for rounding, and rows do not; b = ones is not in the range.
  Folder folder;
  const int n = 15, rows = n * n;
  std::string text;
  int count = 0;
  std::vector<std::vector<double>> A(rows, std::vector<double>(rows, 0.0));
  for (int i = 0; i < rows; ++i)
    for (const auto& [j, is_there, flow] : {std::tuple{i + 1, i % n + 1 < n, 0.3}, {i + n, i + n < rows, 0.2}})
      if (is_there) {
        A[i][i] += 1 + flow * 1.1, A[j][i] -= 1 + flow * 1.1;
        A[i][j] -= 1 / 1.3, A[j][j] += 1 / 1.3;
      }
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < rows; ++j)
      if (A[i][j] != 0) {
        char line[80];
        std::snprintf(line, sizeof line, "%d %d %.17g\n", i + 1, j + 1, A[i][j]);
        text += line, ++count;
      }
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n225 225 " + std::to_string(count) + "\n" + text);
  std::string ones;
  for (int i = 0; i < rows; ++i) ones += "1\n";
  write_file(folder / "b.txt", ones);
  for (const char* method : {"auto", "direct"}) {
    CAPTURE(method);
    const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--method", method}, 1);
    CHECK(report["relative_residual"] <= 1.1);
    CHECK(report["error_estimate_source"] == "singular");
    CHECK(contains(report["diagnosis"][0]["cause"].get<std::string>(), "singular"));
  }
}

TEST_CASE("a right-hand side of any size tells its part in the null space") {
  Folder folder;
  write_file(folder / "A.mtx", rings(4, 1));
  write_file(folder / "b.txt", "1e200\n-1e200\n3e200\n-4e200\n");
  CHECK(report_of({folder / "A.mtx", "--rhs", folder / "b.txt"}, 1)["null_space"]["part_of_b"].get<double>() ==
        doctest::Approx(0.5 / std::sqrt(27.0)));
}

TEST_CASE("a null space in a file is taken if it is one, and refused if not") {
  Folder folder;
  write_file(folder / "A.mtx", rings(30, 1));
  write_file(folder / "b.txt", ramp(30));
  std::string ones = "%%MatrixMarket matrix array real general\n30 1\n", ramp_file = ones;
  for (int i = 0; i < 30; ++i) ones += "2\n", ramp_file += std::to_string(i) + "\n";
  write_file(folder / "ones.mtx", ones);
  write_file(folder / "ramp.mtx", ramp_file);
  const std::vector<std::string> words = {folder / "A.mtx", "--rhs", folder / "b.txt", "--null-space"};
  const auto with = [&](const std::string& what) {
    auto all = words;
    all.push_back(what);
    return all;
  };
  const json by_file = report_of(with(folder / "ones.mtx"), 0), by_name = report_of(with("constant"), 0);
  CHECK(by_file["null_space"]["dimension"] == 1);
  CHECK(by_file["null_space"]["part_of_b"].get<double>() ==
        doctest::Approx(by_name["null_space"]["part_of_b"].get<double>()));
  check_refused(3, {{{"solve", folder / "A.mtx", "--null-space", folder / "ramp.mtx"}, {"A z of size", "A z = 0"}},
                    {{"solve", "poisson2d:9", "--null-space", "constant"}, {"do not sum to zero"}},
                    {{"solve", "poisson2d:9", "--null-space", folder / "ones.mtx"}, {"30 entries", "81"}}});
}

TEST_CASE("by factors, too, x has least norm, and a b outside the range is called that") {
  Folder folder;
  // LU of this matrix meets no zero pivot: rounding hides that A is singular.
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real symmetric\n4 4 8\n1 1 1001\n2 1 -1000\n2 2 1001\n3 1 -1\n"
             "3 3 2\n4 2 -1\n4 3 -1\n4 4 2\n");
  write_file(folder / "inside.txt", "-3\n-5\n5\n3\n");
  write_file(folder / "outside.txt", "-3\n-5\n5\n-1\n");
  write_file(folder / "rings.mtx", rings(40, 2));
  for (const std::string matrix : {"A.mtx", "rings.mtx"}) {
    const Words rhs = matrix == "A.mtx" ? Words{"--rhs", folder / "inside.txt"} : Words{};
    const json report = report_of(Words{folder / matrix, "--method", "direct", "--out", folder / "x.mtx"} + rhs, 0);
    CHECK(report["verdict"] == "solved");
    CHECK(report["error_estimate"] <= 1e-12);
    CHECK(std::abs(sum_of(folder / "x.mtx")) <= 1e-12);
  }
  const json refused = report_of({folder / "A.mtx", "--method", "direct", "--rhs", folder / "outside.txt"}, 1);
  CHECK(refused["diagnosis"][0]["cause"] == "A is singular, and b is not in its range");
}

TEST_CASE("what iterations change in the null space is no error of x") {
  Folder folder;
  write_file(folder / "A.mtx", rings(4, 1));  // after two iterations no residual is left
  write_file(folder / "b.txt", "2\n-1\n3\n-4\n");
  for (const char* method : {"cg", "minres", "bicgstab", "gmres", "idr"}) {
    CAPTURE(method);
    const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--method", method}, 0);
    CHECK(report["verdict"] == "solved");
    CHECK(report["error_estimate"] <= 1e-12);
  }
}

TEST_CASE("where rows without entries make A singular, lsmr comes first, and the verdict says why and what to do") {
  Folder folder;
  write_file(folder / "A.mtx",
             "%%MatrixMarket matrix coordinate real general\n20 20 33\n"
             "1 1 1\n1 7 -3\n1 9 -2\n2 16 -1\n3 7 -1\n3 9 -1\n3 19 3\n4 5 -3\n4 11 3\n5 1 1\n5 3 3\n5 8 -2\n6 9 -3\n"
             "6 13 2\n7 16 1\n9 10 2\n9 14 3\n12 7 -3\n12 14 3\n13 1 2\n13 4 -1\n13 18 2\n14 2 -2\n14 9 1\n14 12 -3\n"
             "14 16 2\n15 12 3\n15 15 -1\n16 10 1\n17 13 1\n18 4 -2\n18 9 -3\n18 13 -1\n");
  write_file(folder / "b.txt", "15 -2 23 -18 -9 7 2 0 9 0 0 18 -9 -7 12 0 -4 29 0 0\n");
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt"}, 0);
  CHECK(report["method"] == "lsmr");
  CHECK(report["verdict"] == "doubtful");  // one of many solutions
  CHECK(report["attempts"].size() == 1);   // gmres and idr took 20,000 iterations in vain
  const Run run = seidel_program({"solve", "emptyrows:3000", "--time-limit", "20"});
  CAPTURE(run.out);
  CHECK(contains(run.out, "A is singular, because 1,000 rows have no entries"));
  CHECK(contains(run.out, "lsmr, because A is singular: 1,000 rows have no entries"));
  CHECK(!contains(run.out, "badly conditioned"));
  CHECK(run.seconds < 5);
  // Rows of very different size are no reason to scale them for lsmr.
  write_file(folder / "uneven.mtx", "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 2 1e4\n2 1 1\n2 3 1\n");
  CHECK(report_of({folder / "uneven.mtx"}, 0)["method"] == "lsmr");
}
