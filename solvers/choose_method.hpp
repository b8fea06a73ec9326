// The `auto` of the command line: looks at the matrix, says what it takes and why.
#pragma once
#include <cstdint>
#include <string>

namespace seidel {

struct MatrixProperties;  // formats/properties.hpp
struct RowStatistics;     // formats/statistics.hpp

/// What was asked for; "auto" leaves it to choose_method().
struct MethodRequest {
  std::string method = "auto";          // auto cg bicgstab gmres
  std::string preconditioner = "auto";  // auto none jacobi symgs
  std::string order = "auto";           // auto natural colours
  int restart = 50;                     // of gmres
};

struct MethodChoice {
  std::string method, preconditioner, order;  // never "auto"; order is empty unless the preconditioner is symgs
  std::string reason;                         // one sentence a choice, for the report
  std::string fallback;                       // the method to go on with if this one cannot take A; empty if it was asked for by name
  int restart = 50;
};

/// Rules, in this order.
/// Method          cg if A is symmetric with a positive diagonal; else gmres if its diagonal is not all of one sign, or A is skew,
///                 or so small that one cycle may do; else bicgstab.
/// Preconditioner  symgs if the diagonal is full and nonzero, else none.
/// Order           natural: it needs fewer iterations than colours.
/// Errors  ShapeError if A is not square; UsageError for a word that is not known, listing those that are.
MethodChoice choose_method(const MatrixProperties& properties, const RowStatistics& statistics, const MethodRequest& request);

}  // namespace seidel
