// Tasks: inputs, costs and judges of each kernel. The judges sum in long double, in another order than any rival.
#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <seidel/drivers/bench/rival.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

namespace {

/// Numbers in (-1, 1), the same everywhere, from a hash of their place (Steele, Lea, Flood, splitmix64, 2014).
std::vector<double> random_numbers(std::int64_t n, std::uint64_t seed) {
  std::vector<double> numbers(static_cast<std::size_t>(n));
  parallel_for(OpenMP{}, n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      std::uint64_t z = (seed * 0x100000001b3u + std::uint64_t(i) + 1) * 0x9e3779b97f4a7c15u;
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
      numbers[std::size_t(i)] = double((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
    }
  });
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

/// The worst of error(i) over all rows.
template <class Error>
double worst_of(Index rows, const Error& error) {
  double worst = 0;
  std::mutex one_at_a_time;
  parallel_for(OpenMP{}, rows, [&](std::int64_t first, std::int64_t last) {
    double mine = 0;
    for (std::int64_t i = first; i < last; ++i) mine = worse(mine, error(Index(i)));
    const std::lock_guard lock(one_at_a_time);
    worst = worse(worst, mine);
  });
  return worst;
}

constexpr double wrong_size = std::numeric_limits<double>::quiet_NaN();

double judge_product(const Task& task, const std::vector<double>& output) {
  const Matrix& A = task.A;
  const std::int64_t k = task.k;
  if (std::int64_t(output.size()) != A.nrows * k) return wrong_size;
  return worst_of(A.nrows, [&](Index i) {
    double worst = 0;
    for (std::int64_t j = 0; j < k; ++j) {
      const auto x = [&](Index c) { return task.input[std::size_t(place(c, j, A.ncols, k, task.layout))]; };
      const RowSum row = row_sum(A, i, [](Index) { return true; }, x);
      const double found = output[std::size_t(place(i, j, A.nrows, k, task.layout))];
      worst = worse(worst, error_over_bound(found, row.sum, row.scale, row.terms));
    }
    return worst;
  });
}

/// A pair of sweeps from x to z: (D + L) y = b - U x, (D + U) z = b - L y. So y = z + D^-1 U (z - x), and z is judged
/// by what the first equation leaves of b, which no bad conditioning of the triangles can excuse: the residual of each
/// row over the magnitudes that were added in it. An empty x is zero.
double judge_sweep(const Matrix& A, const std::vector<double>& b, const std::vector<double>& x,
                   const std::vector<double>& z) {
  const std::size_t n = std::size_t(A.nrows);
  struct Row {
    long double diagonal, upper, upper_scale, y, y_scale;
  };
  std::vector<Row> rows(n);
  parallel_for(OpenMP{}, A.nrows, [&](std::int64_t first, std::int64_t last) {
    for (Index i = Index(first); i < last; ++i) {
      Row& r = rows[std::size_t(i)];
      for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
        if (A.col_idx[e] == i) r.diagonal = A.values[e];
      const auto above = [i](Index c) { return c > i; };
      const RowSum row = row_sum(A, i, above, [&](Index c) { return z[std::size_t(c)]; });
      RowSum before;
      if (!x.empty()) before = row_sum(A, i, above, [&](Index c) { return x[std::size_t(c)]; });
      r.upper = before.sum, r.upper_scale = before.scale;
      r.y = z[std::size_t(i)] + (row.sum - before.sum) / r.diagonal;
      r.y_scale = std::fabs(z[std::size_t(i)]) + (row.scale + before.scale) / std::fabs(r.diagonal);
    }
  });
  return worst_of(A.nrows, [&](Index i) {  // (D + L) y + U x = b
    const Row& r = rows[std::size_t(i)];
    const auto lower = [i](Index c) { return c < i; };
    const RowSum row = row_sum(A, i, lower, [&](Index c) { return rows[std::size_t(c)].y; });
    const RowSum scale = row_sum(A, i, lower, [&](Index c) { return rows[std::size_t(c)].y_scale; });
    const long double bi = b[std::size_t(i)];
    const long double allowed = std::fabs(bi) + r.upper_scale + scale.scale + std::fabs(r.diagonal) * r.y_scale;
    const std::int64_t terms = 4 * (A.row_ptr[i + 1] - A.row_ptr[i]) + 16;
    return error_over_bound(double(0), ((bi - r.upper) - row.sum) - r.diagonal * r.y, allowed, terms);
  });
}

/// Each of k columns by itself.
double judge_sweeps(const Task& task, const std::vector<double>& output) {
  const Index n = task.A.nrows;
  if (std::int64_t(output.size()) != n * task.k) return wrong_size;
  if (task.k == 1) return judge_sweep(task.A, task.input, task.guess, output);
  const auto column = [&](const std::vector<double>& all, std::int64_t j) {
    std::vector<double> one(static_cast<std::size_t>(n));
    for (Index i = 0; i < n; ++i) one[std::size_t(i)] = all[std::size_t(place(i, j, n, task.k, task.layout))];
    return one;
  };
  double worst = 0;
  for (std::int64_t j = 0; j < task.k; ++j)
    worst = worse(worst, judge_sweep(task.A, column(task.input, j), task.guess, column(output, j)));
  return worst;
}

/// Transposition rounds nothing. Rows of T are in range and ascending, as many entries as A has, and each, (j, i), is
/// A's of (i, j): so none is missing.
double judge_transpose(const Task& task, const std::vector<double>& output) {
  const Matrix& A = task.A;
  const std::size_t nnz = std::size_t(A.nnz()), columns = std::size_t(A.ncols);
  if (output.size() != 2 * nnz + columns + 1) return wrong_size;
  const double *values = output.data(), *rows = values + nnz, *ptr = rows + nnz;
  const double wrong = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < columns; ++j)
    if (!(ptr[j] <= ptr[j + 1])) return wrong;
  if (ptr[0] != 0 || ptr[columns] != double(nnz)) return wrong;
  return worst_of(A.ncols, [&](Index j) {
    double before = -1;
    for (auto e = std::size_t(ptr[j]); e < std::size_t(ptr[j + 1]); ++e) {
      if (!(rows[e] > before && rows[e] < A.nrows)) return wrong;
      before = rows[e];
      const Index i = Index(before);
      const Index *first = A.col_idx.data() + A.row_ptr[i], *last = A.col_idx.data() + A.row_ptr[i + 1],
                  *place = std::lower_bound(first, last, j);
      if (place == last || *place != j || A.values[place - A.col_idx.data()] != values[e]) return wrong;
    }
    return 0.0;
  });
}

void require_finite(const Matrix& A) {
  for (std::int64_t e = 0; e < A.nnz(); ++e)
    if (!std::isfinite(A.values[e]))
      throw InputError(
          formatted("bench: found {} as entry {} of the matrix, expected finite numbers\n  a NaN or an infinity "
                    "makes every answer right",
                    A.values[e], e + 1));
}

void require_sweepable(const Matrix& A) {
  if (A.nrows != A.ncols)
    throw ShapeError(formatted("symgs: found {} and {}, expected a square matrix", plural(A.nrows, "row"),
                               plural(A.ncols, "column")));
  for (Index i = 0; i < A.nrows; ++i) {
    bool found = false;
    double value = 0;
    for (std::int64_t e = A.row_ptr[i]; e < A.row_ptr[i + 1]; ++e)
      if (A.col_idx[e] == i) found = true, value = A.values[e];
    if (value == 0) throw ZeroDiagonal(i, found);
  }
}

}  // namespace

void flat(const Matrix& A, std::vector<double>& to) {
  const std::int64_t nnz = A.nnz(), rows = A.row_ptr.size();
  to.resize(std::size_t(2 * nnz + rows));
  parallel_for(OpenMP{}, nnz, [&](std::int64_t first, std::int64_t last) {
    std::copy(A.values.data() + first, A.values.data() + last, to.data() + first);
    std::copy(A.col_idx.data() + first, A.col_idx.data() + last, to.data() + nnz + first);
  });
  std::copy_n(A.row_ptr.data(), rows, to.data() + 2 * nnz);
}

Task make_task(std::string_view kernel, const Matrix& A, std::int64_t k, Layout layout, std::uint64_t seed) {
  const double nnz = double(A.nnz()), m = A.nrows, n = A.ncols;
  require_finite(A);
  Task task{kernel, A, k, layout};
  if (kernel == "spmv" || kernel == "spmm") {
    task.input = random_numbers(A.ncols * k, seed);
    task.flops = 2 * nnz * double(k);
    task.bytes = 12 * nnz + 4 * (m + 1) + 8 * (m + n) * double(k);
    task.bytes_model = kernel == "spmv" ? "12 nnz + 4 (m + 1) + 8 (m + n)" : "12 nnz + 4 (m + 1) + 8 (m + n) k";
    task.judge = judge_product;
  } else if (kernel == "transpose") {
    task.bytes = 24 * nnz + 4 * (m + n + 2);
    task.bytes_model = "24 nnz + 4 (m + n + 2)";
    task.judge = judge_transpose;
  } else if (kernel == "symgs" || kernel == "symgs-guess") {
    require_sweepable(A);
    const bool from_guess = kernel == "symgs-guess";
    task.input = random_numbers(A.nrows * k, seed);
    if (from_guess) task.guess = random_numbers(A.nrows, seed + 1);
    // From a guess the upper triangle is read once more, with the guess.
    task.flops = (from_guess ? 3 : 2) * nnz * double(k);
    task.bytes = 12 * (nnz - n) * (from_guess ? 1.5 : 1) + 8 * n + (from_guess ? 48 : 40) * n * double(k);
    task.bytes_model = from_guess ? "18 (nnz - n) + 56 n"
                       : k > 1    ? "12 (nnz - n) + 8 n + 40 n k"
                                  : "12 (nnz - n) + 48 n";
    task.judge = judge_sweeps;
  }
  return task;
}

}  // namespace seidel::drivers
