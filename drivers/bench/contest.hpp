// Ways to solve one system, beside each other: ours, and those of others.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/solvers/criteria.hpp>

namespace seidel::drivers {

/// The system, and when it counts as solved.
struct Contest {
  Csr<double, std::int32_t> A;
  Array<double> b;
  MatrixProperties properties;
  Criteria criteria;
};
/// A x = A * ones, of a square A. Errors  ResourceError if it has more entries than offsets of 32 bits reach.
Contest contest_of(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A, const Criteria& criteria);

struct Solution {
  bool claimed = false;  // the method says that it got there
  std::string status;    // in its own word
  Array<double> x;
  std::int64_t iterations = 0;
  double setup_seconds = 0, solve_seconds = 0;
  std::int64_t memory_bytes = 0;  // beside the matrix as it was read
  std::vector<double> history;    // ours only
};

/// One way, under a name such as "cg.symgs-natural.openmp" or "cg.diagonal.serial.eigen".
struct Contestant {
  std::string name;
  BackendName backend;
  std::string what;
  bool baseline;
  std::function<bool(const MatrixProperties&)> takes;  // whether the method is meant for such a matrix
  std::function<Solution(const Contest&, int threads)> solve;
};

/// Every contestant of this build: ours first.
std::vector<Contestant> contestants();
/// Eigen's: conjugate gradients and BiCGSTAB, with its diagonal and incomplete factorisations.
std::vector<Contestant> eigen_contestants();

/// ||b - A x|| / ||b||, in twice the working precision: the same certificate for all. NaN where x is.
double true_residual(const Contest& contest, const Array<double>& x);

/// What to say of a solution: "solved"; "WRONG" if it was claimed and is off by more than twice the tolerance; "short"
/// if it was claimed and is off by less (a recurrence that drifted); else its status.
std::string judged(const Solution& solution, double residual, double tolerance);

}  // namespace seidel::drivers
