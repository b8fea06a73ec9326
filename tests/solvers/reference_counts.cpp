// Iteration counts against those of an independent program (CG.tsv, beside the matrices; data/README.md says how they
// were made): of the matrices in data/, and of those in the folder SEIDEL_TEST_MATRICES.
#include "systems.hpp"

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include <seidel/formats/matrix_market/matrix_market.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// Rows of a tab-separated table with a head line.
std::vector<std::map<std::string, std::string>> table(const std::string& path) {
  std::vector<std::map<std::string, std::string>> rows;
  std::vector<std::string> names;
  std::ifstream file(path);
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::vector<std::string> row;
    for (std::string cell; std::getline(cells, cell, '\t');) row.push_back(cell);
    if (names.empty()) {
      names = row;
      continue;
    }
    rows.emplace_back();
    for (std::size_t k = 0; k < std::min(row.size(), names.size()); ++k) rows.back()[names[k]] = row[k];
  }
  return rows;
}

void compare_with_reference(const std::string& folder) {
  int compared = 0;
  for (auto& row : table(folder + "/CG.tsv")) {
    if (row["spd"] != "yes") continue;
    const Matrix A = read_matrix_market(folder + "/" + row["name"] + ".mtx.gz").matrix;
    std::vector<double> b(A.nrows);
    spmv<OpenMP>(OpenMP{1}, A.view(), Array<double>(ones(A.nrows)).span(), Span<double, Host>(b.data(), A.nrows));
    const How jacobi{Method::cg, PreconditionerKind::jacobi}, symgs{Method::cg, PreconditionerKind::symgs};
    How eisenstat = symgs;
    eisenstat.form = Form::eisenstat;
    for (const auto& way : {std::pair{jacobi, "jacobi"}, {symgs, "symgs"}, {eisenstat, "symgs"}}) {
      const How& how = way.first;
      const char* const column = way.second;
      CAPTURE(row["name"]);
      CAPTURE(name_of(how));
      const double one = std::stod(row[std::string(column) + "_double"]),
                   other = std::stod(row[std::string(column) + "_longdouble"]);
      const double least = std::min(one, other), most = std::max(one, other);
      const Outcome outcome = solve_on(OpenMP{1}, how, A, b);
      const double truth = true_residual(A, outcome.x, b);
      CHECK(outcome->relative_residual == doctest::Approx(truth).epsilon(0.05));
      // How many iterations until the recurrence says yes: the reference asks nothing else.
      const double count = outcome->truth_checks.empty() ? -1 : double(outcome->truth_checks[0].iteration);
      if (row["name"] == "nos7") {
        CHECK((outcome->status == Status::stagnated || outcome->status == Status::converged));
        CHECK(truth < 3e-8);
      } else {
        CHECK(outcome->status == Status::converged);
        CHECK(truth <= 1.001e-8);
      }
      // Fewer than the reference's, which does not smooth residuals: by a quarter with jacobi, whose residuals waver.
      CHECK(count >=
            least - std::max(2.0, (way.first.preconditioner == PreconditionerKind::jacobi ? 0.25 : 0.05) * least));
      CHECK(count <= most + std::max(2.0, 0.05 * most));
      ++compared;
    }
  }
  CHECK(compared >= 18);  // six matrices, three ways
}

}  // namespace

TEST_CASE("cg needs as many iterations as the reference program on the matrices in data/, and is right") {
  compare_with_reference(SEIDEL_SOURCE_DIR "/data");
}

TEST_CASE("cg needs as many iterations as the reference program on SEIDEL_TEST_MATRICES, and is right" *
          doctest::skip(!std::getenv("SEIDEL_TEST_MATRICES"))) {
  compare_with_reference(std::getenv("SEIDEL_TEST_MATRICES"));
}
