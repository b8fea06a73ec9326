// The method gmres, and its form for preconditioners that change.
#include <seidel/solvers/flexible.hpp>
#include <seidel/solvers/gmres.hpp>
#include <seidel/solvers/method_entry.hpp>

namespace seidel {

namespace {

constexpr auto restarted = [](const auto& A, const auto& M, const MethodChoice& choice, const auto& b, auto& x,
                              const Criteria& criteria) {
  return gmres(A, choice.form == Form::flexible ? flexible(M) : M, b, x, criteria, {.restart = choice.restart});
};

constexpr Setting details[] = {restart_setting, form_setting};

}  // namespace

constinit const Method Method::gmres = {.name = "gmres",
                                        .help = "generalised minimal residuals, restarted, for any square A",
                                        .takes_nonlinear = true,
                                        .settings = details,
                                        .vectors = [](const MethodChoice& choice) -> std::int64_t {
                                          const bool flexible = choice.form == Form::flexible;
                                          return choice.restart + 1 + (flexible ? choice.restart - 1 : 0) +
                                                 gmres_vectors - iterate_vectors;
                                        },
                                        .run = methods_detail::runs(restarted)};

}  // namespace seidel
