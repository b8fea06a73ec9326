// The rules of `auto`, and the sentence that says which one applied.
#include <seidel/solvers/choose_method.hpp>

#include <algorithm>

#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/solvers/choose_order.hpp>

namespace seidel {

std::string_view to_string(Order order) { return order == Order::natural ? "natural" : "colours"; }
std::string_view to_string(Form form) { return forms[int(form)]; }

namespace {

// An iteration of cg with symgs in Eisenstat's form, in iterations of the plain one, on one and on two cores: 0.81 and
// 0.98 with 7 entries per row (poisson3d:96), 0.77 and 0.85 with 27 (hpcg:64), 0.61 and 0.6 with 75 (elasticity3d:24).
constexpr double entries_that_pay = 16;

/// Whether cg with symgs would take so many iterations that setting up amg pays. Where rows sum to little, smooth errors last,
/// and travel from end to end: of a lattice, whose planes have as many rows as the bandwidth says, symgs needs about one
/// iteration per plane. Where few rows are dominated by their diagonal, as with the displacements of an elastic body, it
/// needs about five (61, 97, 149 for elasticity3d:12, 20, 32). Where the coefficient varies much, it needs two or more: 3.5 for
/// log-normal values on 72^3 cells, 5 for a checkerboard of 1 and 10^6, 13 for conductances of six decades. Where rows have no
/// order, as those of many meshes, the bandwidth says nothing, and the levels of a search count: lattices in random order
/// need one or two iterations per level, triangulations of random points three, tetrahedra four to five.
bool amg_pays(const MatrixProperties& A, const RowStatistics& rows,
              const std::function<std::int64_t(std::int64_t)>& levels) {
  // One core gains nothing up to some 150 iterations, 16 cores and a GPU gain from 50 on (docs/multigrid.md). A larger sum
  // than small_row_sums counts would end symgs by itself in about 140.
  constexpr std::int64_t iterations_that_pay = 100, least_rows = 10000;
  constexpr std::int64_t least_planes = 10;  // of an order that the bandwidth tells of: a cube of 10,000 points has 21
  constexpr double varies_much = 1000;
  const std::int64_t bandwidth = std::max<std::int64_t>({A.bandwidth_lower, A.bandwidth_upper, 1});
  const bool dominant = 2 * A.weakly_dominant_rows >= rows.nrows;
  const bool varying = A.small_sum_max_diagonal >= varies_much * A.small_sum_min_diagonal;
  if (2 * A.small_row_sums < rows.nrows || rows.nrows < least_rows) return false;
  const std::int64_t per_plane = !dominant ? 5 : varying ? 2 : 1;
  if (per_plane * rows.nrows >= iterations_that_pay * bandwidth) return true;
  if (!levels || rows.nrows >= least_planes * bandwidth) return false;
  const std::int64_t per_level = !dominant ? 5 : varying ? 4 : 2, enough = iterations_that_pay / per_level;
  return levels(enough) >= enough;
}

/// Whether amg can be expected to converge by this method. Where a flow carries more than diffuses, the two entries of a coupling
/// differ in sign, and smoothers of few dominated rows make errors grow: finite elements with up to 16 % of such couplings were
/// solved, as was a reaction of two species with 20 %; finite elements with 36 % were not.
bool suits_amg(const MatrixProperties& A, const Method& method) {
  if (A.nearly_symmetric) return method == Method::cg;
  return method == Method::bicgstab || (method == Method::gmres && 4 * A.pairs_of_both_signs <= A.below);
}

/// Whether something was asked for that only symgs has.
bool asks_for_sweeps(const MethodRequest& request) {
  const auto form = request.settings.find(form_setting);
  return request.order || !request.settings.usual(PreconditionerKind::symgs.settings) ||
         (form && Form(int(*form)) == Form::eisenstat);
}

bool has_forms(const Method& method) { return method == Method::cg || method == Method::gmres; }

/// Of the method chosen, which `sentence` tells of. Errors  as choose_method().
Form form_of(const MethodChoice& choice, const MethodRequest& request, const RowStatistics& rows, bool linear,
             const std::string& sentence) {
  const bool possible = choice.method == Method::cg && choice.preconditioner == PreconditionerKind::symgs &&
                        choice.order == Order::natural && request.settings.usual(choice.preconditioner.settings);
  if (const auto form = request.settings.find(form_setting)) {
    if (Form(*form) == Form::eisenstat && !possible)
      throw UsageError("form=eisenstat: found " + sentence +
                       "\n  Eisenstat's form is one of cg with symgs in natural order, with omega=1, sweeps=1 and "
                       "storage=fp64");
    if (Form(*form) == Form::flexible && !has_forms(choice.method))
      throw UsageError("form=flexible: found " + sentence + "\n  cg and gmres have a flexible form");
    return has_forms(choice.method) ? Form(*form) : Form::plain;
  }
  if (!linear && has_forms(choice.method)) return Form::flexible;
  return possible && rows.mean >= entries_that_pay ? Form::eisenstat : Form::plain;
}

/// What was taken, and why: "cg, because A is symmetric".
struct Taken {
  void say(const auto& what, const std::string& why) { say(to_string(what), why); }
  void say(std::string_view what, const std::string& why) {
    sentence += (sentence.empty() ? "" : "; ") + std::string(what) + why;
  }
  std::string sentence;
};

}  // namespace

MethodChoice choose_method(const MatrixProperties& A, const RowStatistics& rows, const MethodRequest& request,
                           const Questions& questions) {
  const bool least_squares = request.goal == Goal::least_squares;
  if (!A.square && !least_squares)
    throw ShapeError("the matrix is " + std::to_string(rows.nrows) + " x " + std::to_string(rows.ncols) +
                     "; a linear system needs as many rows as columns");
  MethodChoice choice;
  Taken taken;
  const bool positive_diagonal = A.diagonal_positive == rows.nrows;
  const std::string symmetric = A.symmetric ? "symmetric" : "symmetric (but for rounding)";
  const bool full_diagonal = A.diagonal_positive + A.diagonal_negative == rows.nrows;
  // Where most rows are dominated by their diagonal, eigenvalues lie around it, away from 0: sweeps converge or nearly
  // so, and the short recurrence of bicgstab is safe. Elsewhere gmres is: it cannot break down, and its residual never
  // grows.
  const bool dominant = 2 * A.weakly_dominant_rows >= rows.nrows;

  choice.settings = request.settings;
  choice.automatic = !request.method && !request.preconditioner;
  choice.norm_inf = A.norm_inf;
  choice.symmetric = A.nearly_symmetric;
  const auto all_of_few = double(rows.nrows <= 1000 ? std::max<std::int64_t>(1, rows.nrows) : 50);
  choice.restart = int(request.settings.find(restart_setting).value_or(all_of_few));
  if (request.method) {
    choice.method = *request.method;
    if (least_squares && choice.method.needs != Needs::nothing)
      throw UsageError(std::string(choice.method.name) + " solves square systems; least squares are found by " +
                       std::string(Method::lsmr.name));
    taken.say(choice.method, ", as asked");
  } else if (least_squares) {
    choice.method = Method::lsmr;
    taken.say(choice.method, ", for least squares");
  } else if (A.nearly_symmetric && positive_diagonal &&
             (!request.preconditioner || request.preconditioner->keeps_symmetry)) {
    choice.method = Method::cg;
    choice.fallbacks = {Method::minres, Method::gmres};
    taken.say(choice.method, ", because A is " + symmetric + " with a positive diagonal");
  } else if (rows.empty_rows > 0 && !A.nearly_symmetric && !request.preconditioner) {
    choice.method = Method::lsmr;  // others end in a breakdown, or not at all
    taken.say(choice.method,
              ", because A is singular: " + plural(rows.empty_rows, "row has", "rows have") + " no entries");
  } else {
    const std::string because = !A.nearly_symmetric ? ", because A is not symmetric"
                                : positive_diagonal
                                    ? ", because the preconditioner is not symmetric"
                                    : ", because A is " + symmetric + ", but its diagonal is not all positive";
    const bool definite_M = request.preconditioner.value_or(PreconditionerKind::none) == PreconditionerKind::none;
    if (dominant && full_diagonal) {
      choice.method = Method::bicgstab;
      choice.fallbacks = {Method::gmres, Method::idr};
      taken.say(choice.method, because + ", and most rows are dominated by their diagonal");
    } else if (A.nearly_symmetric && definite_M) {
      choice.method = Method::minres;
      choice.fallbacks = {Method::gmres};
      taken.say(choice.method, because);
    } else {
      choice.method = Method::gmres;
      choice.fallbacks = {Method::idr};
      taken.say(choice.method, because + (full_diagonal ? ", and few rows are dominated by their diagonal"
                                                        : ", and zeros on the diagonal are no harm to it"));
    }
  }

  const auto take = [&](const PreconditionerKind& preconditioner, const std::string& why) {  // that nobody asked for
    choice.preconditioner = preconditioner;
    choice.may_drop_preconditioner = true;
    taken.say(preconditioner, why);
  };
  if (request.preconditioner) {
    choice.preconditioner = *request.preconditioner;
    if (choice.method.only_with.empty()) taken.say(choice.preconditioner_name(), ", as asked");
    if (!choice.method.takes(choice.preconditioner.name))
      throw UsageError(std::string(choice.method.name) + ": found " + std::string(choice.preconditioner_name()) +
                       " as preconditioner, expected " + std::string(choice.method.only_with) + "\n  leave it out");
  } else if (choice.method == Method::multigrid) {
    choice.preconditioner = PreconditionerKind::amg;
    taken.say(choice.preconditioner_name(), ", whose cycles are the method");
  } else if (choice.method == Method::lsmr) {
    choice.preconditioner = PreconditionerKind::none;
    taken.sentence += "; no preconditioner, because it would have to be one of A'A";
  } else if (!full_diagonal) {
    choice.preconditioner = PreconditionerKind::none;
    taken.sentence += "; no preconditioner, because the others divide by the diagonal, and row " +
                      std::to_string(A.first_bad_diagonal + 1) + " has no nonzero entry there";
  } else if (choice.method == Method::minres) {
    choice.preconditioner = PreconditionerKind::none;
    taken.sentence += "; no preconditioner, because minres needs a positive definite one";
  } else if (choice.method == Method::gmres && choice.restart >= rows.nrows && !dominant) {
    // Of 24 random matrices of 100 to 800 rows symgs let gmres fail on 6; without it all were solved.
    choice.preconditioner = PreconditionerKind::none;
    taken.sentence +=
        "; no preconditioner, because gmres keeps all directions of so small a system, and sweeps may do harm where "
        "few rows are "
        "dominated";
  } else if (suits_amg(A, choice.method) && A.pattern_symmetric && positive_diagonal &&
             amg_pays(A, rows, questions.levels)) {
    choice.may_try_gmres = choice.method == Method::cg;
    take(PreconditionerKind::amg,
         ": most rows sum to little or nothing, and simpler ones take many iterations on so long a system");
  } else if (choice.method == Method::cg && dominant && !asks_for_sweeps(request)) {
    take(PreconditionerKind::jacobi, ": most rows are dominated by their diagonal");
  } else {
    take(PreconditionerKind::symgs, ": its diagonal is full");
  }

  if (choice.preconditioner.needs_definite && !(A.nearly_symmetric && positive_diagonal))
    throw InputError(std::string(choice.preconditioner_name()) +
                     " needs a symmetric matrix with a positive diagonal, and " +
                     (A.nearly_symmetric ? "not all diagonal entries are positive" : "A is not symmetric") +
                     "\n  take one that needs less, such as symgs or ilu0, or none");

  if (choice.preconditioner.needs_positive && !(A.pattern_symmetric && positive_diagonal))
    throw InputError(std::string(choice.preconditioner_name()) +
                     " needs a positive diagonal and a symmetric pattern, and " +
                     (positive_diagonal ? "that of A is not symmetric" : "not all diagonal entries are positive") +
                     "\n  take one that needs less, such as symgs or ilu0, or none");

  if (choice.preconditioner.orders.size() > 1) {
    if (request.order) {
      choice.order = *request.order;
      taken.say(choice.order, " order, as asked");
    } else if (questions.order) {
      const OrderChoice chosen = questions.order();
      choice.order = chosen.order;
      taken.say(choice.order, " order, " + chosen.reason);
    }
  }
  const bool linear = !choice.preconditioner.is_linear || choice.preconditioner.is_linear(request.settings);
  choice.form = form_of(choice, request, rows, linear, taken.sentence);
  if (!linear) {
    if (!choice.method.takes_nonlinear || (has_forms(choice.method) && choice.form == Form::plain))
      throw UsageError(std::string(choice.preconditioner_name()) + ": found " + std::string(choice.method.name) +
                       " in its " + std::string(to_string(choice.form)) +
                       " form, and settings with which the preconditioner changes from one iteration to the next\n"
                       "  take other settings, or cg or gmres in their flexible form");
    std::erase_if(choice.fallbacks, [](const Method& next) { return !next.takes_nonlinear; });
    if (choice.form == Form::flexible)
      taken.sentence += "; its flexible form, because the preconditioner changes from one iteration to the next";
  }
  choice.reason = std::move(taken.sentence);
  return choice;
}

}  // namespace seidel
