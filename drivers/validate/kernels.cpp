// What the registry of bench has not, on one back end: residuals, 64-bit offsets, sweeps from a guess, conversions,
// vector operations, the certificate; within rounding of long double, and to the bit of the other back ends.
#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/validate/checks.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/kernels/certificate/certificate.hpp>
#include <seidel/kernels/symgs/orders.hpp>
#include <seidel/kernels/symgs/symgs.hpp>

namespace seidel::drivers {

namespace {

constexpr double u = std::numeric_limits<double>::epsilon() / 2, poison = std::numeric_limits<double>::quiet_NaN();

using HostCsr = CsrView<double, std::int64_t, Host>;

/// The same numbers in (-1, 1) on every machine.
std::vector<double> numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<double> v(n);
  for (auto& value : v) {
    std::uint64_t z = seed += 0x9E3779B97F4A7C15;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
    value = double((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
  }
  return v;
}

HostSpan<const double> span_of(const std::vector<double>& v) { return {v.data(), std::int64_t(v.size())}; }

/// Largest |found - expected| in parts of bound(i); an entry equal to its expectation is 0, whatever the bound.
template <class Bound>
double worst(const std::vector<double>& found, const std::vector<double>& expected, const Bound& bound) {
  double most = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] == expected[i]) continue;
    const double part = std::abs(found[i] - expected[i]) / bound(i);
    if (!(part <= most)) most = part;
  }
  return most;
}

bool equal(const HostCsr& A, const HostCsr& B) {
  return A.nrows == B.nrows && A.ncols == B.ncols &&
         std::equal(A.row_ptr.begin(), A.row_ptr.end(), B.row_ptr.begin(), B.row_ptr.end()) &&
         std::equal(A.col_idx.begin(), A.col_idx.end(), B.col_idx.begin(), B.col_idx.end()) &&
         std::equal(A.values.begin(), A.values.end(), B.values.begin(), B.values.end());
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
    const auto csr = copied_to<Space>(A);
    const auto csr32 = copied_to<Space>(narrow.view());
    product("csr, 64-bit", csr.view());
    residuals("csr, 64-bit", csr.view());
    residuals("csr", csr32.view());
    try {
      const auto ell = to_ell(host_, A);
      const auto there = copied_to<Space>(ell.view());
      residuals("ell", there.view());
      if constexpr (HostBackend<B>)
        ledger_.holds("convert", "ell", equal(to_csr<std::int64_t>(on_, ell.view()).view(), A),
                      "CSR to ELL and back is the same matrix");
    } catch (const ResourceError&) {  // too much padding: refused as designed
    }
    for (const Index sigma : {1, 64}) try {
        const auto sell = to_sell(host_, A, 32, sigma);
        const auto there = copied_to<Space>(sell.view());
        const std::string name = sigma == 1 ? "sell" : "sell, sorted";
        residuals(name, there.view());
        if constexpr (HostBackend<B>)
          ledger_.holds("convert", name, equal(to_csr<std::int64_t>(on_, sell.view()).view(), A),
                        "CSR to SELL and back is the same matrix");
      } catch (const ResourceError&) {}
    if constexpr (HostBackend<B>) {
      ledger_.holds("transpose", "csr", equal(transpose(on_, transpose(on_, A).view()).view(), A), "(A')' = A");
      ledger_.holds("convert", "csc", equal(to_csr(on_, to_csc(on_, A).view()).view(), A),
                    "CSR to CSC and back is the same matrix");
    }
    certificate(csr.view());
    vectors();
    if (expected_.sweeps) {
      sweeps("natural", A);
      const auto order = colour_order(greedy_colours(host_, A));
      sweeps("colours", permuted(host_, A, order.span()).view());
    }
  }

 private:
  Vector there(const std::vector<double>& v) const { return copied_to<Space>(span_of(v)); }
  std::vector<double> here(const Vector& v) const {
    if constexpr (!HostBackend<B>) on_.synchronize();
    std::vector<double> to(v.size());
    copy_bytes(Host{}, to.data(), Space{}, v.data(), v.size() * std::int64_t(sizeof(double)));
    return to;
  }
  Vector poisoned(std::int64_t n) const { return there(std::vector<double>(n, poison)); }

  /// Two sums of the same terms, each in its own order, differ by at most this in row i.
  double bound(std::size_t i, double more = 0) const {
    return 2 * (expected_.terms[i] + 2) * u * (expected_.magnitude[i] + more) + 1e-300;
  }

  template <class Matrix>
  void product(const std::string& format, const Matrix& A) {
    const auto x = there(expected_.x);
    auto y = poisoned(A.nrows);
    spmv<B>(on_, A, x.span(), y.span());
    const auto found = here(y);
    if (expected_.finite) ledger_.within("spmv", format, worst(found, expected_.y, [&](auto i) { return bound(i); }));
    ledger_.same("spmv", format, "A x", found);
  }

  template <class Matrix>
  void residuals(const std::string& format, const Matrix& A) {
    const auto x = there(expected_.x), b = there(expected_.b);
    auto r = poisoned(A.nrows);
    residual<B>(on_, A, x.span(), b.span(), r.span());
    const auto rest = here(r);
    if (expected_.finite) {
      std::vector<double> right(expected_.b);
      for (std::size_t i = 0; i < right.size(); ++i) right[i] -= expected_.y[i];
      ledger_.within("residual", format,
                     worst(rest, right, [&](auto i) { return bound(i, std::abs(expected_.b[i])); }));
    }
    ledger_.same("residual", format, "b - A x", rest);
  }

  void certificate(const CsrView<double, std::int64_t, Space>& A) {
    const auto x = there(expected_.x), b = there(expected_.b);
    auto r = poisoned(A.nrows);
    certified_residual(on_, A, x.span(), b.span(), r.span());
    const auto found = here(r);
    ledger_.same("certificate", "csr", "b - A x in twice the precision", found);
    if (!expected_.finite) return;
    std::vector<double> exact(found.size());
    for (std::size_t i = 0; i < exact.size(); ++i) {
      long double sum = expected_.b[i];
      for (std::int64_t k = expected_.A.row_ptr[i]; k < expected_.A.row_ptr[i + 1]; ++k)
        sum -= static_cast<long double>(expected_.A.values[k]) * expected_.x[expected_.A.col_idx[k]];
      exact[i] = double(sum);
    }
    const double lu = std::numeric_limits<long double>::epsilon() / 2;
    ledger_.within("certificate", "csr", worst(found, exact, [&](auto i) {
                     return 2 * u * std::abs(exact[i]) +
                            2 * (expected_.terms[i] + 2) * lu * (expected_.magnitude[i] + std::abs(expected_.b[i])) +
                            1e-300;
                   }));
  }

  void vectors() {
    const std::size_t n = std::min(expected_.x.size(), expected_.b.size());
    const std::vector<double> a(expected_.x.begin(), expected_.x.begin() + n),
        b(expected_.b.begin(), expected_.b.begin() + n);
    const auto x = there(a), y = there(b);
    auto z = there(b);
    const double product = dot<B, double>(on_, x.span(), y.span()), norm = norm2<B, double>(on_, x.span()),
                 largest = max_abs<B, double>(on_, x.span());
    axpy<B, double>(on_, 0.7, x.span(), z.span());
    long double exact = 0, squares = 0, magnitude = 0;
    for (std::size_t i = 0; i < n; ++i)
      exact += static_cast<long double>(a[i]) * b[i], squares += static_cast<long double>(a[i]) * a[i],
          magnitude += std::abs(static_cast<long double>(a[i]) * b[i]);
    ledger_.within(
        "dot", "vector",
        product == double(exact) ? 0 : double(std::abs(product - exact) / (double(n + 1) * u * magnitude + 1e-300L)));
    const long double root = std::sqrt(squares);
    ledger_.within("norm2", "vector",
                   norm == double(root) ? 0 : double(std::abs(norm - root) / (double(n + 2) * u * root + 1e-300L)));
    std::vector<double> scalars = {product, norm, largest}, sums = here(z);
    ledger_.same("dot", "vector", "x'y, ||x||, max |x_i|", scalars);
    ledger_.same("axpy", "vector", "y + 0.7 x", sums);
  }

  /// A sweep is right if its equations hold: (D + L) x_new = b - U x_old forward, (D + U) x_new = b - L x_old backward.
  void obeys(const std::string& order, const HostCsr& A, bool forward, const std::vector<double>& before,
             const std::vector<double>& after) {
    double most = 0;
    for (Index i = 0; i < A.nrows; ++i) {
      long double rest = expected_.b[i], magnitude = std::abs(rest);
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        const long double term =
            static_cast<long double>(A.values[k]) * (j == i || (j < i) == forward ? after[j] : before[j]);
        rest -= term, magnitude += std::abs(term);
      }
      const double part =
          rest == 0
              ? 0
              : double(std::abs(rest) / ((double(A.row_ptr[i + 1] - A.row_ptr[i]) + 4) * u * magnitude + 1e-300L));
      if (!(part <= most)) most = part;
    }
    ledger_.within(forward ? "forward sweep" : "backward sweep", order, most);
  }

  void sweeps(const std::string& order, const HostCsr& A) {
    const auto matrix = copied_to<Space>(A);
    const GaussSeidel<double, std::int64_t, B> sweeper(on_, matrix.view());
    const auto b = there(expected_.b);
    const auto after = [&](const std::vector<double>& start, auto sweep) {
      auto x = there(start);
      sweep(x.span());
      return here(x);
    };
    const auto& start = expected_.x;
    const std::vector<double> zero(start.size(), 0.0), nothing(start.size(), poison);
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
  Expected expected;
  expected.A = A;
  expected.x = numbers(A.ncols, 1);
  expected.b = numbers(A.nrows, 2);
  for (Index i = 0; i < A.nrows; ++i) {
    long double sum = 0, magnitude = 0;
    for (std::int64_t k = A.row_ptr[i + 1] - 1; k >= A.row_ptr[i]; --k) {
      const long double term = static_cast<long double>(A.values[k]) * expected.x[A.col_idx[k]];
      sum += term, magnitude += std::abs(term);
    }
    expected.y.push_back(double(sum));
    expected.magnitude.push_back(double(magnitude));
    expected.terms.push_back(double(A.row_ptr[i + 1] - A.row_ptr[i]));
  }
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
