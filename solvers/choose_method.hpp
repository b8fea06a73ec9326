// The `auto` of the command line: looks at the matrix, says what it takes and why.
#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/solvers/criteria.hpp>
#include <seidel/solvers/methods.hpp>
#include <seidel/solvers/preconditioners/list.hpp>

namespace seidel {

struct MatrixProperties;  // formats/properties.hpp
struct RowStatistics;     // formats/statistics.hpp
struct OrderChoice;       // solvers/choose_order.hpp

/// How cg or gmres goes about it.
enum class Form {
  plain,      // a product with A and an application of M^-1 in each iteration: cg.hpp
  eisenstat,  // of cg, both in one, for symgs in natural order: eisenstat.hpp
  flexible,   // as plain, for preconditioners that are not linear (concepts.hpp)
};
std::string_view to_string(Form);  ///< as on the command line

/// What the choice itself looks at of the settings of methods; unless set, it takes what suits A.
inline constexpr std::string_view forms[] = {"plain", "eisenstat", "flexible"};
inline constexpr Setting form_setting{
    .key = "form",
    .help =
        "form=F     of cg and gmres: plain; eisenstat, of cg with symgs, which reads A once per iteration; or "
        "flexible, for preconditioners that change (chosen by the matrix and the preconditioner)",
    .words = forms};
inline constexpr Setting restart_setting{
    .key = "restart",
    .help = "restart=N  directions that gmres keeps before it starts again (50; all if A has at most 1000 rows)",
    .usual = 50,
    .min = 1,
    .max = 10000,
    .whole = true};

/// What was asked for; what is left out is chosen.
struct MethodRequest {
  std::optional<Method> method = {};
  std::optional<PreconditionerKind> preconditioner = {};
  std::optional<Order> order = {};
  Settings settings = {};
  Goal goal = Goal::solution;
};

/// What the choice asks of A, and only where it matters.
struct Questions {
  std::function<OrderChoice()> order = {};                       // natural without it
  std::function<std::int64_t(std::int64_t enough)> levels = {};  // count_of_levels(), kernels/orders/orders.hpp
  bool of_symmetric_A =
      false;  // the properties are those of a matrix that stands for a symmetric A and is not symmetric
};

struct MethodChoice {
  Method method = Method::gmres;
  PreconditionerKind preconditioner = PreconditionerKind::none;
  Order order = Order::natural;
  int restart = 50;
  std::vector<Method> fallbacks = {};    // go on, one after the other; none if `method` was asked for by name
  bool may_try_gmres = false;            // where A turns out to be indefinite, with M, while each restart gains a digit
  std::string reason = {};               // one sentence: what was taken, and why
  Form form = Form::plain;               // of cg and gmres
  bool may_drop_preconditioner = false;  // as solve() says: it was not asked for by name
  Settings settings = {};                // as requested
  bool automatic = false;                // neither method nor preconditioner was asked for by name
  bool symmetric = true;                 // A is
  double norm_inf = 0;                   // of A, for solve() to know what rounding explains; 0: nothing
  /// Called now and then by a setup that may be long; what it throws ends that.
  std::function<void()> on_step = [] {};

  /// That of the preconditioner with these settings: "gmg" for amg on a lattice.
  std::string_view preconditioner_name() const {
    return preconditioner.name_with ? preconditioner.name_with(settings) : preconditioner.name;
  }
};

/// Whether half of the rows or more are weakly dominated by their diagonal.
bool mostly_dominated(const MatrixProperties& properties, const RowStatistics& statistics);

/// Method          lsmr where least squares are the goal; otherwise cg if A is symmetric with a positive diagonal, which goes
///                 on with minres, then with gmres, but with amg, if that was not asked for, may_try_gmres; otherwise lsmr
///                 if rows without entries make A singular; otherwise bicgstab if the diagonal is full and half of the
///                 rows or more are weakly dominated by it, which goes on with gmres, then with idr; otherwise minres if A
///                 is symmetric, unless a preconditioner was asked for that may not be positive definite, which goes on
///                 with gmres; otherwise gmres, which goes on with idr.
/// Preconditioner  amg for cg, for bicgstab where the pattern of A is symmetric, and for gmres if besides at most a quarter of the
///                 couplings have two signs, where half of the rows or more sum to at most a thousandth of their diagonal,
///                 and there are 10,000 rows or more, and 100 times the bandwidth (20 times where fewer than half are weakly
///                 dominated, 50 times where the diagonals of such rows differ by 1000 or more), or, where there are fewer
///                 than 10 times the bandwidth, so that rows have no order, 50 `levels` (20; 25). Else jacobi for cg where half
///                 of the rows or more are weakly dominated, unless something was asked for that symgs alone has: symgs
///                 takes fewer iterations, but more time. Else symgs if the diagonal is full and nonzero, and positive for
///                 minres; otherwise none. None, too, for gmres that keeps all directions where fewer than half of the rows
///                 are weakly dominated: it needs no help, and may get none. Where all methods break down with it, gmres
///                 goes on without.
/// Order           what `order` says (choose_order.hpp), which is called only if symgs is taken and no order was asked for;
///                 natural without it: colours need more iterations.
/// Restart         of gmres, unless asked for: none where A has at most 1000 rows, for n iterations that keep all their
///                 directions take no longer than 20,000 that keep 50; else after 50.
/// Form            eisenstat for cg with one plain pair of sweeps in natural order, where a row has 16 entries or more:
///                 what it saves, a product, must outweigh what it adds, a few vectors. Not by back end: the bits of
///                 both forms differ. flexible with a preconditioner that is not linear; then only methods go on that take
///                 one.
/// Errors  ShapeError if A is not square, and least squares are not the goal; InputError if a preconditioner was asked for
///         that needs a symmetric matrix or a positive diagonal, and A is another; UsageError for another method than lsmr
///         where least squares are the goal, or if a form, or a preconditioner that is not linear, was asked for and something
///         else excludes it.
MethodChoice choose_method(const MatrixProperties& properties, const RowStatistics& statistics,
                           const MethodRequest& request = {}, const Questions& questions = {});

}  // namespace seidel
