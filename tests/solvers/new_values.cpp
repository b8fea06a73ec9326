// New values in the same pattern: every preconditioner becomes that of the new matrix, bit for bit, and says what it is.
#include "systems.hpp"

#include <seidel/solvers/preconditioners/amg.hpp>
#include <seidel/solvers/preconditioners/jacobi.hpp>
#include <seidel/solvers/preconditioners/split_symgs.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>
#include <seidel/solvers/preconditioners/threshold.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

/// make(A) makes a preconditioner; its arrays other than the first ones may go away after update_values().
template <class B, class Make>
void check_new_values(const B& on, const Matrix& old_matrix, const Matrix& new_matrix, const char* description,
                      const Make& make) {
  INFO(std::string(description));
  using V = Vector<double, B>;
  const auto first = moved_to(on, old_matrix.view()), fresh = moved_to(on, new_matrix.view());
  auto updated = make(first.view());
  const auto other = make(fresh.view());
  updated.update_values(first.view());
  const auto second = moved_to(on, new_matrix.view());
  updated.update_values(second.view());
  const auto other_size = moved_to(on, matrix_of(1, {{{0, 1.0}}}).view());
  CHECK_THROWS_AS(updated.update_values(other_size.view()), ShapeError);
  V r(on, moved_to(on, ramp(old_matrix.nrows))), z = like(r), expected = like(r);
  updated.apply(r, z);
  other.apply(r, expected);
  const auto found = copied_to<Host>(on, std::as_const(z).span()),
             wanted = copied_to<Host>(on, std::as_const(expected).span());
  CHECK(std::vector(found.begin(), found.end()) == std::vector(wanted.begin(), wanted.end()));
  CHECK(updated.describe().find(description) == 0);
  CHECK(updated.describe() == other.describe());
  CHECK(updated.bytes() >= other.bytes());  // amg: with the analysis that new values need
  const AnyPreconditioner<V> any = make(fresh.view());
  CHECK(any.describe() == other.describe());
  CHECK(any.bytes() == other.bytes());
}

}  // namespace

TEST_CASE("with new values in the same pattern every preconditioner is that of the new matrix") {
  const Matrix old_matrix = random_spd(fresh_seed(), 3000, 4);
  Matrix new_matrix = copy_of(old_matrix);
  for (double& v : new_matrix.values) v *= 1.25 + (v > 0);
  on_every_backend([&](auto on) {
    using B = decltype(on);
    using View = CsrView<double, std::int64_t, SpaceOf<B>>;
    const auto check = [&](const char* description, const auto& make) {
      check_new_values(on, old_matrix, new_matrix, description, make);
    };
    check("jacobi", [&](const View& A) { return JacobiPreconditioner(on, A); });
    for (const Order order : {Order::natural, Order::colours}) {
      const char* description = order == Order::natural ? "symgs in natural order, " : "symgs in colours order, ";
      check(description, [&](const View& A) { return SymgsPreconditioner<double, std::int64_t, B>(on, A, order); });
      check(description,
            [&](const View& A) { return SymgsPreconditioner<double, std::int64_t, B, float>(on, A, order); });
    }
    check("symgs in natural order, ", [&](const View& A) { return SplitSymgsPreconditioner(on, A); });
    for (const Factors what : {Factors::lu, Factors::cholesky}) {
      check(what == Factors::lu ? "ilu0, " : "ic0, ",
            [&](const View& A) { return IncompletePreconditioner<std::int64_t, B>(on, A, what); });
      check(what == Factors::lu ? "ilut, " : "ict, ", [&](const View& A) {
        const auto here = copied_to<Host>(on, A);
        return ThresholdPreconditioner<std::int64_t, B>(on, {here.view(), A}, what, {});
      });
    }
    Matrix scaled = copy_of(old_matrix);  // its couplings are as strong, so that its levels are alike
    for (double& v : scaled.values) v *= 2.5;
    for (const AmgSmoother smoother : {AmgSmoother::automatic, AmgSmoother::symgs})
      for (const AmgCycle cycle : {AmgCycle::v, AmgCycle::k})
        check_new_values(on, old_matrix, scaled, "amg by smoothed aggregation, ", [&](const View& A) {
          return AmgPreconditioner<std::int64_t, B>(on, A, {.smoother = smoother, .cycle = cycle});
        });
  });
}

TEST_CASE("values that a preconditioner refuses do it no lasting harm: it takes the next ones") {
  const Matrix good = random_spd(fresh_seed(), 900, 4);
  Matrix bad = copy_of(good), nan = copy_of(good);
  for (Index i = 0; i < good.nrows; ++i)
    for (std::int64_t k = good.row_ptr[i]; k < good.row_ptr[i + 1]; ++k) {
      if (good.col_idx[k] == i && i % 7 == 3) bad.values[k] = 0;
      if (i == 500) nan.values[k] = std::numeric_limits<double>::quiet_NaN();
    }
  on_every_backend([&](auto on) {
    using B = decltype(on);
    using Space = SpaceOf<B>;
    using V = Vector<double, B>;
    const auto A = copied_to<Space>(on, good.view()), without = copied_to<Space>(on, bad.view()),
               with_nan = copied_to<Space>(on, nan.view());
    const auto check = [&](const char* name, auto updated) {
      CAPTURE(name);
      V r(on, moved_to(on, ramp(good.nrows))), z = like(r), expected = like(r);
      updated.apply(r, expected);
      for (const auto* wrong : {&without, &with_nan}) {
        try {
          updated.update_values(wrong->view());
          updated.apply(r, z);
        } catch (const Error&) {}
        updated.update_values(A.view());
        fill(z, std::numeric_limits<double>::quiet_NaN());
        updated.apply(r, z);
        const auto found = copied_to<Host>(on, std::as_const(z).span()),
                   wanted = copied_to<Host>(on, std::as_const(expected).span());
        CHECK(std::vector(found.begin(), found.end()) == std::vector(wanted.begin(), wanted.end()));
      }
    };
    check("jacobi", JacobiPreconditioner(on, A.view()));
    for (const Order order : {Order::natural, Order::colours})
      check("symgs", SymgsPreconditioner<double, std::int64_t, B>(on, A.view(), order));
    check("split symgs", SplitSymgsPreconditioner(on, A.view()));
    for (const Factors what : {Factors::lu, Factors::cholesky}) {
      check("ilu0, ic0", IncompletePreconditioner<std::int64_t, B>(on, A.view(), what));
      check("ilut, ict", ThresholdPreconditioner<std::int64_t, B>(on, {good.view(), A.view()}, what, {}));
    }
    for (const AmgSmoother smoother : {AmgSmoother::automatic, AmgSmoother::symgs})
      check("amg", AmgPreconditioner<std::int64_t, B>(on, A.view(), {.smoother = smoother}));
  });
}
