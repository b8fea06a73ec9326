// What the registry of bench has not, on one back end: residuals, 64-bit offsets, sweeps from a guess, conversions,
// vector operations, the certificate; within rounding of long double, and to the bit of the other back ends.
#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/validate/checks.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/certificate/certificate.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/products/formats.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::drivers {

namespace {

using HostCsr = CsrView<double, std::int64_t, Host>;

bool equal(const HostCsr& A, const HostCsr& B) {
  return A.nrows == B.nrows && A.ncols == B.ncols &&
         std::equal(A.row_ptr.begin(), A.row_ptr.end(), B.row_ptr.begin(), B.row_ptr.end()) &&
         std::equal(A.col_idx.begin(), A.col_idx.end(), B.col_idx.begin(), B.col_idx.end()) &&
         std::equal(A.values.begin(), A.values.end(), B.values.begin(), B.values.end(),
                    [](double a, double b) { return a == b || (a != a && b != b); });
}

template <Backend B>
class KernelChecks {
  using Space = SpaceOf<B>;
  using Vector = Array<double, Space>;

 public:
  KernelChecks(Ledger& ledger, const Expected& expected, const B& on, OpenMP host)
      : ledger_(ledger), expected_(expected), on_(on), host_(host) {}

  void all() {
    const HostCsr& A = expected_.A;
    const auto narrow = with_offsets<std::int32_t>(host_, A);
    const auto csr = copied_to<Space>(on_, A);
    product("csr, 64-bit", csr.view());
    residuals("csr, 64-bit", csr.view());
    for_each_product_format([&]<class Format>(const Format&) { in_format<Format>(narrow.view()); });
    if constexpr (HostBackend<B>) {
      ledger_.holds("transpose", "csr", equal(transpose(on_, transpose(on_, A).view()).view(), A), "not so: (A')' = A");
      ledger_.holds("convert", "csc", equal(to_csr(on_, to_csc(on_, A).view()).view(), A),
                    "not so: CSR to CSC and back is the same matrix");
    }
    certificate(csr.view());
    vectors();
    if (expected_.sweeps) {
      sweeps("natural", A);
      const auto order = colour_order(host_, greedy_colours(host_, A));
      sweeps("colours", permuted(host_, A, order.span()).view());
    }
  }

 private:
  Vector there(const Array<double>& v) const { return copied_to<Space>(on_, v.span()); }
  Array<double> here(const Vector& v) const {
    on_.synchronize();
    return copied_to<Host>(on_, v.span());
  }
  Vector poisoned(std::int64_t n) const { return there(Array<double>(n, std::numeric_limits<double>::quiet_NaN())); }

  /// Residuals in a product format, made from A there, and the way back.
  template <class Format>
  void in_format(const CsrView<double, std::int32_t, Host>& A) {
    const std::string name =
        std::string(Format::name) + (Format::variant.empty() ? "" : ", " + std::string(Format::variant));
    const auto csr = copied_to<Space>(on_, A);
    try {
      const auto made = Format::made(on_, csr.view());
      residuals(name, made);
      if constexpr (!std::is_same_v<Format, product_formats::AsCsr> &&
                    !std::is_same_v<Format, product_formats::AsPrepared>) {
        const auto back = to_csr<std::int64_t>(on_, made.view());
        ledger_.holds("convert", name, equal(copied_to<Host>(on_, back.view()).view(), expected_.A),
                      std::string("not so: CSR to ") + std::string(Format::title) + " and back is the same matrix");
      }
    } catch (const ResourceError&) {  // too much padding, or no blocks: refused as designed
    }
  }

  /// Row i of A x.
  RowSum row_of_product(std::int64_t i) const {
    return row_sum(expected_.A, Index(i), [&](Index j) { return expected_.x[j]; });
  }

  /// The worst row of `found`, which is to be b - A x or, without `b`, A x.
  double error_of(const Array<double>& found, const double* b) const {
    return worst_of(expected_.A.nrows, [&](std::int64_t i) {
      const RowSum row = row_of_product(i);
      return b ? error_over_bound(found[i], b[i] - row.sum, row.scale + std::fabs(b[i]), row.terms + 1)
               : error_over_bound(found[i], row.sum, row.scale, row.terms);
    });
  }

  void product(const std::string& format, const auto& A) {
    const auto x = there(expected_.x);
    auto y = poisoned(A.nrows);
    spmv<B>(on_, A, x.span(), y.span());
    const auto found = here(y);
    if (expected_.finite) ledger_.within("spmv", format, error_of(found, nullptr));
    ledger_.same("spmv", format, "A x", found);
  }

  void residuals(const std::string& format, const auto& A) {
    const auto x = there(expected_.x), b = there(expected_.b);
    auto r = poisoned(expected_.A.nrows);
    if constexpr (requires { A.residual(x.span(), b.span(), r.span()); })
      A.residual(x.span(), b.span(), r.span());
    else
      residual<B>(on_, view_of(A), x.span(), b.span(), r.span());
    const auto rest = here(r);
    if (expected_.finite) ledger_.within("residual", format, error_of(rest, expected_.b.data()));
    ledger_.same("residual", format, "b - A x", rest);
  }

  void certificate(const CsrView<double, std::int64_t, Space>& A) {
    const auto x = there(expected_.x), b = there(expected_.b);
    auto r = poisoned(A.nrows);
    certified_residual(on_, A, x.span(), b.span(), r.span());
    const auto found = here(r);
    if (expected_.finite)  // half a unit of the last place, and what a sum in long double is off by
      ledger_.within("certificate", "csr", worst_of(found.size(), [&](std::int64_t i) {
                       const RowSum row = row_of_product(i);
                       const long double exact = expected_.b[i] - row.sum, error = std::fabs(found[i] - exact);
                       const long double bound = std::numeric_limits<double>::epsilon() * std::fabs(exact) +
                                                 double(row.terms + 3) * std::numeric_limits<long double>::epsilon() *
                                                     (row.scale + std::fabs(expected_.b[i]));
                       return error == 0 ? 0 : double(error / bound);
                     }));
    ledger_.same("certificate", "csr", "b - A x in twice the precision", found);
  }

  void vectors() {
    const std::int64_t n = std::min(expected_.x.size(), expected_.b.size());
    const auto a = expected_.x.span().subspan(0, n), b = expected_.b.span().subspan(0, n);
    const auto x = copied_to<Space>(on_, a), y = copied_to<Space>(on_, b);
    auto z = copied_to<Space>(on_, b);
    const double product = dot<B, double>(on_, x.span(), y.span()), norm = norm2<B, double>(on_, x.span()),
                 largest = max_abs<B, double>(on_, x.span());
    axpy<B, double>(on_, 0.7, x.span(), z.span());
    long double exact = 0, squares = 0, magnitude = 0;
    for (std::int64_t i = 0; i < n; ++i)
      exact += static_cast<long double>(a[i]) * b[i], squares += static_cast<long double>(a[i]) * a[i],
          magnitude += std::fabs(static_cast<long double>(a[i]) * b[i]);
    ledger_.within("dot", "vector", error_over_bound(product, exact, magnitude, n));
    ledger_.within("norm2", "vector", error_over_bound(norm, std::sqrt(squares), std::sqrt(squares), n));
    ledger_.same("dot", "vector", "x'y, ||x||, max |x_i|", std::vector<double>{product, norm, largest});
    ledger_.same("axpy", "vector", "y + 0.7 x", here(z));
  }

  /// A sweep is right if its equations hold: (D + L) x_new = b - U x_old forward, (D + U) x_new = b - L x_old backward.
  void obeys(const std::string& order, const HostCsr& A, bool forward, const Array<double>& before,
             const Array<double>& after) {
    ledger_.within(forward ? "forward sweep" : "backward sweep", order, worst_of(A.nrows, [&](std::int64_t i) {
                     const RowSum row = row_sum(
                         A, Index(i), [&](Index j) { return j == i || (j < i) == forward ? after[j] : before[j]; });
                     const long double b = expected_.b[i];
                     return error_over_bound(0.0, b - row.sum, row.scale + std::fabs(b), row.terms + 2);
                   }));
  }

  void sweeps(const std::string& order, const HostCsr& A) {
    const auto matrix = copied_to<Space>(on_, A);
    const GaussSeidel<double, std::int64_t, B> sweeper(on_, matrix.view());
    const auto b = there(expected_.b);
    const auto after = [&](const Array<double>& start, auto sweep) {
      auto x = there(start);
      sweep(x.span());
      return here(x);
    };
    const auto& start = expected_.x;
    const Array<double> zero(start.size(), 0.0), nothing(start.size(), std::numeric_limits<double>::quiet_NaN());
    const auto forward = after(start, [&](auto x) { sweeper.forward(b.span(), x); });
    const auto both = after(forward, [&](auto x) { sweeper.backward(b.span(), x); });
    if (expected_.finite) {
      obeys(order, A, true, start, forward);
      obeys(order, A, false, forward, both);
    }
    const std::string name = order + ", ";
    ledger_.same("forward sweep", order, name + "forward", forward);
    ledger_.same("backward sweep", order, name + "pair", both);
    ledger_.same("symgs from a guess", order, name + "pair",
                 after(start, [&](auto x) { sweeper.symmetric(b.span(), x); }));
    const auto from_zero = after(zero, [&](auto x) { sweeper.forward(b.span(), x), sweeper.backward(b.span(), x); });
    ledger_.same("symgs from a guess", order, name + "pair from zero", from_zero);
    ledger_.same("symgs from zero", order, name + "pair from zero",
                 after(nothing, [&](auto x) { sweeper.symmetric_from_zero(b.span(), x); }));
    ledger_.same("symgs, omega 1.3", order, name + "relaxed",
                 after(start, [&](auto x) { sweeper.symmetric(b.span(), x, 1.3); }));
  }

  Ledger& ledger_;
  const Expected& expected_;
  const B& on_;
  OpenMP host_;
};

}  // namespace

Expected expect(const HostCsr& A) {
  Expected expected{.A = A, .x = random_numbers(A.ncols, 1), .b = random_numbers(A.nrows, 2)};
  const MatrixProperties seen = properties(OpenMP{1}, A);
  expected.finite = seen.nonfinite == 0;
  expected.sweeps = seen.square && expected.finite && seen.diagonal_missing == 0 && seen.diagonal_zero == 0;
  expected.symmetric_positive = expected.sweeps && seen.symmetric && seen.diagonal_positive == A.nrows;
  return expected;
}

void check_kernels(Ledger& ledger, const Expected& expected, const Placement& where) {
  with_backend(where, [&](const auto& on) {
    KernelChecks<std::decay_t<decltype(on)>>(ledger, expected, on, OpenMP{where.threads}).all();
  });
}

}  // namespace seidel::drivers
