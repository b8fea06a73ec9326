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

bool mostly_dominated(const MatrixProperties& properties, const RowStatistics& statistics) {
  return 2 * properties.weakly_dominant_rows >= statistics.nrows;
}

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
  const bool dominant = mostly_dominated(A, rows);
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

/// The choice as it is made: method, preconditioner, order, form, each with the words that say why.
class Chooser {
 public:
  Chooser(const MatrixProperties& A, const RowStatistics& rows, const MethodRequest& request,
          const Questions& questions)
      : A_(A), rows_(rows), request_(request), questions_(questions) {
    choice_.settings = request.settings;
    choice_.automatic = !request.method && !request.preconditioner;
    choice_.norm_inf = A.norm_inf;
    choice_.symmetric = A.nearly_symmetric;
    const auto all_of_few = double(rows.nrows <= 1000 ? std::max<std::int64_t>(1, rows.nrows) : 50);
    choice_.restart = int(request.settings.find(restart_setting).value_or(all_of_few));
  }

  MethodChoice choose() {
    if (request_.method)
      require_suitable_method();
    else
      choose_method();
    if (request_.preconditioner)
      require_suitable_preconditioner();
    else
      choose_preconditioner();
    require_suitable_matrix();
    choose_order();
    choose_form();
    return std::move(choice_);
  }

 private:
  void choose_method();
  void require_suitable_method();
  void choose_preconditioner();
  void require_suitable_preconditioner();
  void require_suitable_matrix() const;
  void choose_order();
  void choose_form();
  Form form(bool linear) const;

  /// "cg, because A is symmetric": the next part of the reason.
  void say(std::string_view what, const std::string& why) {
    choice_.reason += (choice_.reason.empty() ? "" : "; ") + std::string(what) + why;
  }
  void say_no_preconditioner(const std::string& why) { say("no preconditioner", ", because " + why); }
  void take(const Method& method, std::vector<Method> fallbacks, const std::string& why) {
    choice_.method = method;
    choice_.fallbacks = std::move(fallbacks);
    say(to_string(method), why);
  }
  /// One that nobody asked for.
  void take(const PreconditionerKind& preconditioner, const std::string& why) {
    choice_.preconditioner = preconditioner;
    choice_.may_drop_preconditioner = true;
    say(to_string(preconditioner), why);
  }

  const MatrixProperties& A_;
  const RowStatistics& rows_;
  const MethodRequest& request_;
  const Questions& questions_;
  MethodChoice choice_ = {};
  const bool positive_diagonal_ = A_.diagonal_positive == rows_.nrows,
             full_diagonal_ = A_.diagonal_positive + A_.diagonal_negative == rows_.nrows;
  // Where most rows are dominated by their diagonal, eigenvalues lie around it, away from 0: sweeps converge or nearly
  // so, and the short recurrence of bicgstab is safe. Elsewhere gmres is: it cannot break down, and its residual never
  // grows.
  const bool dominant_ = mostly_dominated(A_, rows_);
};

void Chooser::require_suitable_method() {
  choice_.method = *request_.method;
  if (request_.goal == Goal::least_squares && choice_.method.needs != Needs::nothing)
    throw UsageError(std::string(choice_.method.name) + " solves square systems; least squares are found by " +
                     std::string(Method::lsmr.name));
  say(to_string(choice_.method), ", as asked");
}

void Chooser::choose_method() {
  const std::string symmetric = A_.symmetric ? "symmetric" : "symmetric (but for rounding)";
  if (request_.goal == Goal::least_squares) return take(Method::lsmr, {}, ", for least squares");
  if (A_.nearly_symmetric && positive_diagonal_ &&
      (!request_.preconditioner || request_.preconditioner->keeps_symmetry))
    return take(Method::cg, {Method::minres, Method::gmres},
                ", because A is " + symmetric + " with a positive diagonal");
  if (rows_.empty_rows > 0 && !A_.nearly_symmetric &&
      !request_.preconditioner)  // others end in a breakdown, or not at all
    return take(Method::lsmr, {},
                ", because A is singular: " + plural(rows_.empty_rows, "row has", "rows have") + " no entries");
  const std::string because = !A_.nearly_symmetric && !questions_.of_symmetric_A ? ", because A is not symmetric"
                              : !A_.nearly_symmetric || positive_diagonal_
                                  ? ", because the preconditioner is not symmetric"
                                  : ", because A is " + symmetric + ", but its diagonal is not all positive";
  const bool definite_M = request_.preconditioner.value_or(PreconditionerKind::none) == PreconditionerKind::none;
  if (dominant_ && full_diagonal_)
    take(Method::bicgstab, {Method::gmres, Method::idr}, because + ", and most rows are dominated by their diagonal");
  else if (A_.nearly_symmetric && definite_M)
    take(Method::minres, {Method::gmres}, because);
  else
    take(Method::gmres, {Method::idr},
         because + (full_diagonal_ ? ", and few rows are dominated by their diagonal"
                                   : ", and zeros on the diagonal are no harm to it"));
}

void Chooser::require_suitable_preconditioner() {
  choice_.preconditioner = *request_.preconditioner;
  if (choice_.method.only_with.empty()) say(choice_.preconditioner_name(), ", as asked");
  if (!choice_.method.takes(choice_.preconditioner.name))
    throw UsageError(std::string(choice_.method.name) + ": found " + std::string(choice_.preconditioner_name()) +
                     " as preconditioner, expected " + std::string(choice_.method.only_with) + "\n  leave it out");
}

void Chooser::choose_preconditioner() {
  choice_.preconditioner = PreconditionerKind::none;
  if (choice_.method == Method::multigrid) {
    choice_.preconditioner = PreconditionerKind::amg;
    say(choice_.preconditioner_name(), ", whose cycles are the method");
  } else if (choice_.method == Method::lsmr) {
    say_no_preconditioner("it would have to be one of A'A");
  } else if (!full_diagonal_) {
    say_no_preconditioner("the others divide by the diagonal, and row " + std::to_string(A_.first_bad_diagonal + 1) +
                          " has no nonzero entry there");
  } else if (choice_.method == Method::minres) {
    say_no_preconditioner("minres needs a positive definite one");
  } else if (choice_.method == Method::gmres && choice_.restart >= rows_.nrows && !dominant_) {
    // Of 24 random matrices of 100 to 800 rows symgs let gmres fail on 6; without it all were solved.
    say_no_preconditioner(
        "gmres keeps all directions of so small a system, and sweeps may do harm where few rows are dominated");
  } else if (suits_amg(A_, choice_.method) && A_.pattern_symmetric && positive_diagonal_ &&
             amg_pays(A_, rows_, questions_.levels)) {
    choice_.may_try_gmres = choice_.method == Method::cg;
    take(PreconditionerKind::amg,
         ": most rows sum to little or nothing, and simpler ones take many iterations on so long a system");
  } else if (choice_.method == Method::cg && dominant_ && !asks_for_sweeps(request_)) {
    take(PreconditionerKind::jacobi, ": most rows are dominated by their diagonal");
  } else {
    take(PreconditionerKind::symgs, ": its diagonal is full");
  }
}

void Chooser::require_suitable_matrix() const {
  const PreconditionerKind& kind = choice_.preconditioner;
  const auto refuse = [&](const std::string& needs, const std::string& found) {
    throw InputError(std::string(choice_.preconditioner_name()) + " needs " + needs + ", and " + found +
                     "\n  take one that needs less, such as symgs or ilu0, or none");
  };
  const std::string not_positive = "not all diagonal entries are positive";
  if (kind.needs_definite && !(A_.nearly_symmetric && positive_diagonal_))
    refuse("a symmetric matrix with a positive diagonal", A_.nearly_symmetric ? not_positive : "A is not symmetric");
  if (kind.needs_positive && !(A_.pattern_symmetric && positive_diagonal_))
    refuse("a positive diagonal and a symmetric pattern",
           positive_diagonal_ ? "that of A is not symmetric" : not_positive);
}

void Chooser::choose_order() {
  if (choice_.preconditioner.orders.size() <= 1) return;
  if (request_.order) {
    choice_.order = *request_.order;
    say(to_string(choice_.order), " order, as asked");
  } else if (questions_.order) {
    const OrderChoice chosen = questions_.order();
    choice_.order = chosen.order;
    say(to_string(choice_.order), " order, " + chosen.reason);
  }
}

Form Chooser::form(bool linear) const {
  const bool possible = choice_.method == Method::cg && choice_.preconditioner == PreconditionerKind::symgs &&
                        choice_.order == Order::natural && request_.settings.usual(choice_.preconditioner.settings);
  if (const auto form = request_.settings.find(form_setting)) {
    if (Form(*form) == Form::eisenstat && !possible)
      throw UsageError("form=eisenstat: found " + choice_.reason +
                       "\n  Eisenstat's form is one of cg with symgs in natural order, with omega=1, sweeps=1 and "
                       "storage=fp64");
    if (Form(*form) == Form::flexible && !has_forms(choice_.method))
      throw UsageError("form=flexible: found " + choice_.reason + "\n  cg and gmres have a flexible form");
    return has_forms(choice_.method) ? Form(*form) : Form::plain;
  }
  if (!linear && has_forms(choice_.method)) return Form::flexible;
  return possible && rows_.mean >= entries_that_pay ? Form::eisenstat : Form::plain;
}

void Chooser::choose_form() {
  const bool linear = !choice_.preconditioner.is_linear || choice_.preconditioner.is_linear(request_.settings);
  choice_.form = form(linear);
  if (linear) return;
  if (!choice_.method.takes_nonlinear || (has_forms(choice_.method) && choice_.form == Form::plain))
    throw UsageError(std::string(choice_.preconditioner_name()) + ": found " + std::string(choice_.method.name) +
                     " in its " + std::string(to_string(choice_.form)) +
                     " form, and settings with which the preconditioner changes from one iteration to the next\n"
                     "  take other settings, or cg or gmres in their flexible form");
  std::erase_if(choice_.fallbacks, [](const Method& next) { return !next.takes_nonlinear; });
  if (choice_.form == Form::flexible)
    say("its flexible form", ", because the preconditioner changes from one iteration to the next");
}

}  // namespace

MethodChoice choose_method(const MatrixProperties& A, const RowStatistics& rows, const MethodRequest& request,
                           const Questions& questions) {
  if (!A.square && request.goal != Goal::least_squares)
    throw ShapeError("the matrix is " + std::to_string(rows.nrows) + " x " + std::to_string(rows.ncols) +
                     "; a linear system needs as many rows as columns");
  return Chooser(A, rows, request, questions).choose();
}

}  // namespace seidel
