// What solve says of small systems whose entries differ by a hundred orders of magnitude.
#include "process.hpp"

#include <nlohmann/json.hpp>

using namespace seidel::tests;
using nlohmann::json;

namespace {

const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

json report_of(std::vector<std::string> words) {
  words.insert(words.begin(), "solve");
  words.insert(words.end(), {"--json", "-"});
  const Run run = seidel_program(words);
  CAPTURE(run.err);
  REQUIRE(run.exit_code <= 1);
  return json::parse(run.out);
}

}  // namespace

TEST_CASE("an x that factors find right is returned, though one that is all wrong has a smaller residual") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "2 2 4\n1 1 1e54\n1 2 0.1\n2 1 -0.8\n2 2 3e-40\n");
  write_file(folder / "b.txt", "0 1\n");  // x = -1/3e15, 1/3e-40: rounding x changes A x by 1e22
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt", "--out", folder / "x.txt"});
  CHECK(report["converged"] == false);
  CHECK(report["diagnosis"][0]["cause"] == "the limit of double precision is reached");
  CHECK(report["error_estimate"] <= 1e-12);
  CHECK(contains(read_file(folder / "x.txt"), "\n3.33333333333333"));
}

TEST_CASE("an iteration that meets the target after the factors did not is judged by them") {
  Folder folder;
  write_file(folder / "A.mtx", banner + "3 3 4\n1 1 2e-131\n2 2 3.6e34\n3 1 -0.54\n3 3 3.2e-34\n");
  write_file(folder / "b.txt", "0.1 1.7e34 -0.56\n");  // row 2 is all that a residual shows
  const json report = report_of({folder / "A.mtx", "--rhs", folder / "b.txt"});
  CHECK(report["converged"] == true);
  CHECK(report["verdict"] == "doubtful");
  CHECK(report["error_estimate"] >= 0.1);
  CHECK(report["error_estimate"] <= 10);
}
