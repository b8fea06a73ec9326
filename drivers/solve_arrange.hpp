// The matrix that a preconditioner is made of, where that is not A itself.
#pragma once
#include <memory>

#include <seidel/drivers/solve_load.hpp>
#include <seidel/formats/arrange.hpp>

namespace seidel::drivers {

/// A' = P R A C, on the host.
struct Arranged {
  Arrangement by = {};
  Csr<double, std::int32_t> narrow = {};  // one of the two, as in Loaded
  Csr<double, std::int64_t> wide = {};
  Inspected seen = {};
  std::string why = {};  // "rows permuted and scaled, because ..."
};

/// Rows that bring nonzeros to a diagonal with zeros, which no preconditioner takes; scales where no preconditioner is
/// used and norms of rows differ much. Nothing where neither helps, where it was refused, or for lsmr, which takes no
/// preconditioner.
std::unique_ptr<Arranged> arrange(const SolveOptions& options, const Loaded& loaded, const Inspected& seen);

}  // namespace seidel::drivers
