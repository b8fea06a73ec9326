// Tasks: inputs, costs and judges of each kernel. The judges sum in long double, in another order than any rival.
#include <algorithm>
#include <cmath>
#include <limits>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/errors.hpp>
#include <seidel/formats/parallel.hpp>

namespace seidel::bench {

namespace {

using Judge = std::function<double(const std::vector<double>&)>;

/// Numbers in (-1, 1), the same everywhere, from a hash of their place (Steele, Lea, Flood, splitmix64, 2014).
std::vector<double> random_numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<double> numbers(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) {
    std::uint64_t z = (seed * 0x100000001b3u + std::uint64_t(i) + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    numbers[std::size_t(i)] = double((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
  }
  return numbers;
}

/// |found - expected| over what a sum of `terms` products of total magnitude `scale` may be off by in any order.
double error_over_bound(double found, long double expected, long double scale, std::int64_t terms) {
  const long double bound = (static_cast<long double>(terms) + 2) * std::numeric_limits<double>::epsilon() * scale;
  const long double error = std::fabs(static_cast<long double>(found) - expected);
  return error == 0 ? 0 : double(error / bound);  // NaN stays NaN; an error where the bound is 0 gives infinity
}

/// The larger of two errors; NaN wins.
double worse(double a, double b) {
  return a != a || b != b ? std::numeric_limits<double>::quiet_NaN() : std::max(a, b);
}

/// Sum and sum of magnitudes of row i's products with column j of X, over entries that `part` wants, from the last to
/// the first.
struct RowSum {
  long double sum = 0, scale = 0;
  std::int64_t terms = 0;
};
template <class Part, class X>
RowSum row_sum(const Matrix& A, Index i, const Part& part, const X& x) {
  RowSum row;
  for (std::int64_t e = A.row_ptr[i + 1] - 1; e >= A.row_ptr[i]; --e) {
    if (!part(A.col_idx[e])) continue;
    const long double product = static_cast<long double>(A.values[e]) * x(A.col_idx[e]);
    row.sum += product, row.scale += std::fabs(product), ++row.terms;
  }
  return row;
}

std::int64_t place(std::int64_t i, std::int64_t j, std::int64_t rows, std::int64_t k, Layout layout) {
  return layout == Layout::row_major ? i * k + j : j * rows + i;
}

Judge product_judge(const Matrix& A, std::int64_t k, Layout layout, const std::vector<double>& input) {
  return [&A, k, layout, input](const std::vector<double>& output) {
    if (std::int64_t(output.size()) != A.nrows * k) return std::numeric_limits<double>::quiet_NaN();
    double worst = 0;
    for (std::int64_t j = 0; j < k; ++j)
      for (Index i = 0; i < A.nrows; ++i) {
        const auto all = [](Index) { return true; };
        const RowSum row =
            row_sum(A, i, all, [&](Index c) { return input[std::size_t(place(c, j, A.ncols, k, layout))]; });
        worst = worse(worst, error_over_bound(output[std::size_t(place(i, j, A.nrows, k, layout))], row.sum, row.scale,
                                              row.terms));
      }
    return worst;
  };
}

/// A pair of sweeps from x to z: (D + L) y = b - U x, (D + U) z = b - L y. So y = z + D^-1 U (z - x), and z is judged by
/// what the first equation leaves of b, which no bad conditioning of the triangles can excuse: the residual of each row
/// over the magnitudes that were added in it. An empty x is zero.
Judge sweep_judge(const Matrix& A, const std::vector<double>& b, const std::vector<double>& x) {
  return [&A, b, x](const std::vector<double>& z) {
    const std::size_t n = std::size_t(A.nrows);
    if (z.size() != n) return std::numeric_limits<double>::quiet_NaN();
    std::vector<long double> diagonal(n), upper(n), upper_scale(n), y(n), y_scale(n);
    double worst = 0;
    for (Index i = 0; i < A.nrows; ++i) {
      for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
        if (A.col_idx[e] == i) diagonal[std::size_t(i)] = A.values[e];
      const std::size_t at = std::size_t(i);
      const auto above = [i](Index c) { return c > i; };
      const RowSum row = row_sum(A, i, above, [&](Index c) { return z[std::size_t(c)]; });
      RowSum before;
      if (!x.empty()) before = row_sum(A, i, above, [&](Index c) { return x[std::size_t(c)]; });
      upper[at] = before.sum, upper_scale[at] = before.scale;
      y[at] = z[at] + (row.sum - before.sum) / diagonal[at];
      y_scale[at] = std::fabs(z[at]) + (row.scale + before.scale) / std::fabs(diagonal[at]);
    }
    for (Index i = 0; i < A.nrows; ++i) {  // (D + L) y + U x = b
      const std::size_t at = std::size_t(i);
      const auto lower = [i](Index c) { return c < i; };
      const RowSum row = row_sum(A, i, lower, [&](Index c) { return y[std::size_t(c)]; });
      const RowSum scale = row_sum(A, i, lower, [&](Index c) { return y_scale[std::size_t(c)]; });
      const long double allowed =
          std::fabs(b[at]) + upper_scale[at] + scale.scale + std::fabs(diagonal[at]) * y_scale[at];
      const RowSum longest = row_sum(
          A, i, [](Index) { return true; }, [](Index) { return 1.0L; });
      worst = worse(worst, error_over_bound(double(0), ((b[at] - upper[at]) - row.sum) - diagonal[at] * y[at], allowed,
                                            4 * longest.terms + 16));
    }
    return worst;
  };
}

/// Each of k columns by itself, from zero.
Judge columns_judge(const Matrix& A, std::int64_t k, Layout layout, const std::vector<double>& b) {
  return [&A, k, layout, b](const std::vector<double>& z) {
    if (std::int64_t(z.size()) != A.nrows * k) return std::numeric_limits<double>::quiet_NaN();
    const auto column = [&](const std::vector<double>& all, std::int64_t j) {
      std::vector<double> one(std::size_t(A.nrows));
      for (Index i = 0; i < A.nrows; ++i) one[std::size_t(i)] = all[std::size_t(place(i, j, A.nrows, k, layout))];
      return one;
    };
    std::vector<double> error(std::size_t(k), 0);
    parallel_parts(OpenMP{}, [&](int part, int nparts) {
      for (std::int64_t j = part; j < k; j += nparts)
        error[std::size_t(j)] = sweep_judge(A, column(b, j), {})(column(z, j));
    });
    double worst = 0;
    for (const double e : error) worst = worse(worst, e);
    return worst;
  };
}

/// Transposition rounds nothing: T's entry of (j, i) is A's of (i, j), rows of T in A's order.
Judge transpose_judge(const Matrix& A) {
  return [&A](const std::vector<double>& output) {
    const std::size_t nnz = std::size_t(A.nnz()), columns = std::size_t(A.ncols);
    if (output.size() != 2 * nnz + columns + 1) return std::numeric_limits<double>::quiet_NaN();
    std::vector<std::int64_t> next(columns + 1);
    for (std::size_t e = 0; e < nnz; ++e) ++next[std::size_t(A.col_idx[std::int64_t(e)]) + 1];
    for (std::size_t j = 0; j < columns; ++j) next[j + 1] += next[j];
    bool right = true;
    for (std::size_t j = 0; j <= columns; ++j) right &= output[2 * nnz + j] == double(next[j]);
    for (Index i = 0; i < A.nrows; ++i)
      for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e) {
        const std::size_t at = std::size_t(next[std::size_t(A.col_idx[e])]++);
        right &= output[at] == A.values[e] && output[nnz + at] == double(i);
      }
    return right ? 0 : std::numeric_limits<double>::infinity();
  };
}

void require_finite(const Matrix& A) {
  for (std::int64_t e = 0; e < A.nnz(); ++e)
    if (!std::isfinite(A.values[e]))
      throw InputError(drivers::formatted(
          "bench: found {} as entry {} of the matrix, expected finite numbers\n  a NaN or an infinity "
          "makes every answer right",
          A.values[e], e + 1));
}

void require_sweepable(const Matrix& A) {
  if (A.nrows != A.ncols)
    throw ShapeError(
        drivers::formatted("symgs: found {} rows and {} columns, expected a square matrix", A.nrows, A.ncols));
  for (Index i = 0; i < A.nrows; ++i) {
    bool found = false;
    double value = 0;
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      if (A.col_idx[e] == i) found = true, value = A.values[e];
    if (value == 0) throw ZeroDiagonal(i, found);
  }
}

}  // namespace

std::vector<double> flat(const Matrix& A) {
  std::vector<double> all(A.values.begin(), A.values.end());
  all.insert(all.end(), A.col_idx.begin(), A.col_idx.end());
  all.insert(all.end(), A.row_ptr.begin(), A.row_ptr.end());
  return all;
}

Task make_task(std::string_view kernel, const Matrix& A, std::int64_t k, Layout layout, std::uint64_t seed) {
  const double nnz = double(A.nnz()), m = A.nrows, n = A.ncols;
  require_finite(A);
  const auto product = [&](std::string model) {
    std::vector<double> x = random_numbers(A.ncols * k, seed);
    auto judge = product_judge(A, k, layout, x);
    return Task{kernel,
                A,
                k,
                layout,
                std::move(x),
                2 * nnz * double(k),
                12 * nnz + 4 * (m + 1) + 8 * (m + n) * double(k),
                std::move(model),
                std::move(judge)};
  };
  if (kernel == "spmv") return product("12 nnz + 4 (m + 1) + 8 (m + n)");
  if (kernel == "spmm") return product("12 nnz + 4 (m + 1) + 8 (m + n) k");
  if (kernel == "transpose")
    return {kernel, A, 1, layout, {}, 0, 24 * nnz + 4 * (m + n + 2), "24 nnz + 4 (m + n + 2)", transpose_judge(A)};
  if (kernel == "symgs" || kernel == "symgs-guess") {
    require_sweepable(A);
    const bool from_guess = kernel == "symgs-guess";
    std::vector<double> b = random_numbers(A.nrows * k, seed), guess;
    if (from_guess) guess = random_numbers(A.nrows, seed + 1);
    auto judge = k > 1 ? columns_judge(A, k, layout, b) : sweep_judge(A, b, guess);
    // From a guess the upper triangle is read once more, with the guess.
    const double bytes = 12 * (nnz - n) * (from_guess ? 1.5 : 1) + 8 * n + (from_guess ? 48 : 40) * n * double(k);
    return {kernel,
            A,
            k,
            layout,
            std::move(b),
            (from_guess ? 3 : 2) * nnz * double(k),
            bytes,
            from_guess ? "18 (nnz - n) + 56 n"
            : k > 1    ? "12 (nnz - n) + 8 n + 40 n k"
                       : "12 (nnz - n) + 48 n",
            std::move(judge),
            std::move(guess)};
  }
  throw UsageError(
      drivers::formatted("bench: found kernel {}, expected spmv, spmm, symgs, symgs-guess or transpose", kernel));
}

}  // namespace seidel::bench
