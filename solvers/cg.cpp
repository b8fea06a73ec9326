// The method cg, and its forms for preconditioners that open up, or change.
#include <seidel/solvers/cg.hpp>
#include <seidel/solvers/eisenstat.hpp>
#include <seidel/solvers/flexible.hpp>
#include <seidel/solvers/method_entry.hpp>

namespace seidel {

namespace {

constexpr auto by_form = [](const auto& A, const auto& M, const MethodChoice& choice, const auto& b, auto& x,
                            const Criteria& criteria) {
  if (choice.form != Form::eisenstat) return cg(A, choice.form == Form::flexible ? flexible(M) : M, b, x, criteria);
  if (!M.is_split())
    throw UsageError("Eisenstat's form: the preconditioner does not give its halves; take SplitSymgsPreconditioner");
  return eisenstat_cg(A, M, b, x, criteria);
};

constexpr Setting details[] = {form_setting};

}  // namespace

constinit const Method Method::cg = {.name = "cg",
                                     .help = "conjugate gradients, for symmetric positive definite A",
                                     .needs = Needs::definite,
                                     .takes_nonlinear = true,
                                     .settings = details,
                                     .vectors = [](const MethodChoice& choice) -> std::int64_t {
                                       return (choice.form == Form::eisenstat ? eisenstat_vectors : cg_vectors) -
                                              iterate_vectors;
                                     },
                                     .run = methods_detail::runs(by_form)};

}  // namespace seidel
