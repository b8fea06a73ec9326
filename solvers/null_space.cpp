// Singular systems: a known null space, and what it leaves of b and of x.
#include <seidel/solvers/null_space.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <string>

#include <seidel/formats/properties/seen.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/solvers/right_triangle.hpp>

namespace seidel {

namespace {

double dot(const std::vector<double>& x, HostSpan<const double> y) {
  double sum = 0;
  for (std::int64_t i = 0; i < y.size(); ++i) sum = std::fma(x[i], y[i], sum);
  return sum;
}
void subtract(double a, const std::vector<double>& x, HostSpan<double> y) {
  for (std::int64_t i = 0; i < y.size(); ++i) y[i] = std::fma(-a, x[i], y[i]);
}
HostSpan<double> view(std::vector<double>& v) { return {v.data(), std::int64_t(v.size())}; }

}  // namespace

template <class Offset>
ConnectedParts connected_parts(const OpenMP& on, const CsrView<double, Offset, Host>& A) {
  ConnectedParts parts{.part_of = Array<Index>(A.nrows)};
  // Most matrices are one part, which needs no sets: each row but the first has an entry before its diagonal.
  const auto entry_before = [&](std::int64_t row) {
    Offset k = A.row_ptr[row];
    while (k < A.row_ptr[row + 1] && (A.col_idx[k] >= row || A.values[k] == 0)) ++k;
    return k;
  };
  const auto begins_a_part = [&](std::int64_t before) { return entry_before(before + 1) == A.row_ptr[before + 2]; };
  if (A.nrows > 0 && first_where(on, A.nrows - 1, 1, begins_a_part) == A.nrows - 1) {
    parallel_for(on, A.nrows, [&](std::int64_t first, std::int64_t last) {
      std::fill(parts.part_of.data() + first, parts.part_of.data() + last, Index(0));
    });
    parts.count = 1;
    return parts;
  }
  const auto parent = parts.part_of.span();  // the first row of a part is its own; that of others comes before them
  std::iota(parent.begin(), parent.end(), Index(0));
  Index left = A.nrows;  // parts
  const auto first_of = [&](Index i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  const auto join = [&](Index i, Index j) {
    const Index one = first_of(i), other = first_of(j);
    if (one == other) return;
    parent[std::max(one, other)] = std::min(one, other);
    --left;
  };
  for (Index i = 0; i < A.nrows; ++i)
    if (const Offset k = entry_before(i); k < A.row_ptr[i + 1]) join(i, A.col_idx[k]);
  for (Index i = 0; i < A.nrows && left > 1; ++i)
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (A.values[k] != 0) join(i, A.col_idx[k]);
  for (Index i = 0; i < A.nrows; ++i) parent[i] = parent[i] == i ? parts.count++ : parent[parent[i]];
  return parts;
}

template <class Offset>
NullSpace NullSpace::constants(const CsrView<double, Offset, Host>& A) {
  NullSpace space;
  if (A.nrows != A.ncols) return space;
  ConnectedParts parts = connected_parts(OpenMP{1}, A);
  std::vector<bool> vanishes(std::size_t(parts.count), true);
  for (Index i = 0; i < A.nrows; ++i) {
    double sum = 0, sum_of_sizes = 0;
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) sum += A.values[k], sum_of_sizes += std::abs(A.values[k]);
    if (!(std::abs(sum) <= properties_detail::sums_to_zero * sum_of_sizes)) vanishes[parts.part_of[i]] = false;
  }
  std::vector<Index> number(vanishes.size(), -1);
  for (std::size_t part = 0; part < number.size(); ++part)
    if (vanishes[part]) number[part] = Index(space.dimension_++);
  space.rows_of_.resize(std::size_t(space.dimension_));
  for (Index& part : parts.part_of) {
    part = number[part];
    if (part >= 0) ++space.rows_of_[std::size_t(part)];
  }
  if (space.dimension_ > 0) space.part_of_ = std::move(parts.part_of);
  return space;
}

void scale_to_size_1(HostSpan<double> v) {
  double largest = 0;
  for (const double entry : v) largest = std::max(largest, std::abs(entry));
  if (largest == 0) return;
  const int exponent = std::ilogb(largest);
  for (double& entry : v) entry = std::ldexp(entry, -exponent);
}

NullSpace NullSpace::spanned_by(std::vector<double> Z, Index n) {
  if (n <= 0 || Z.size() % std::size_t(n) != 0)
    throw ShapeError("a null space has " + std::to_string(Z.size()) + " numbers, expected a multiple of " +
                     std::to_string(n) + ", the rows of the matrix");
  NullSpace space;
  for (std::size_t first = 0; first < Z.size(); first += std::size_t(n)) {
    std::vector<double> z(Z.begin() + std::ptrdiff_t(first), Z.begin() + std::ptrdiff_t(first) + n);
    scale_to_size_1(view(z));
    const double before = std::sqrt(dot(z, view(z)));
    for (int twice = 0; twice < 2; ++twice)
      for (const auto& other : space.basis_) subtract(dot(other, view(z)), other, view(z));
    const double norm = std::sqrt(dot(z, view(z)));
    if (!(norm > 1e-10 * before)) continue;  // zero, or within the span of those before
    for (double& v : z) v /= norm;
    space.basis_.push_back(std::move(z));
  }
  space.dimension_ = std::int64_t(space.basis_.size());
  return space;
}

double NullSpace::project(HostSpan<double> v) const {
  double size = 0;
  if (is_constants()) {
    std::vector<double> mean(rows_of_.size(), 0.0);
    for (std::int64_t i = 0; i < v.size(); ++i)
      if (part_of_[i] >= 0) mean[std::size_t(part_of_[i])] += v[i];
    for (std::size_t part = 0; part < mean.size(); ++part) {
      mean[part] /= double(rows_of_[part]);
      size = hypotenuse(size, mean[part] * std::sqrt(double(rows_of_[part])));
    }
    for (std::int64_t i = 0; i < v.size(); ++i)
      if (part_of_[i] >= 0) v[i] -= mean[std::size_t(part_of_[i])];
  }
  for (const auto& z : basis_) {
    const double along = dot(z, v);
    size = hypotenuse(size, along);
    subtract(along, z, v);
  }
  return size;
}

template <class Offset>
double NullSpace::defect(const CsrView<double, Offset, Host>& A, double norm_inf_of_A, Side side) const {
  double worst = 0;
  std::vector<double> product(std::size_t(A.nrows)), z(std::size_t(A.nrows));
  const auto look = [&] {
    std::fill(product.begin(), product.end(), 0.0);
    for (Index i = 0; i < A.nrows; ++i)
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        side == Side::right ? product[i] += A.values[k] * z[j] : product[j] += A.values[k] * z[i];
      }
    double largest = 0;
    for (const double v : z) largest = std::max(largest, std::abs(v));
    for (const double v : product)
      if (!(std::abs(v) <= worst * norm_inf_of_A * largest)) worst = std::abs(v) / (norm_inf_of_A * largest);
  };
  if (norm_inf_of_A == 0) return 0;
  if (is_constants()) {  // parts do not touch each other, so all at once
    for (Index i = 0; i < A.nrows; ++i) z[i] = part_of_[i] >= 0 ? 1 : 0;
    look();
  }
  for (const auto& vector : basis_) {
    z = vector;
    look();
  }
  return worst;
}

template ConnectedParts connected_parts(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template ConnectedParts connected_parts(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template NullSpace NullSpace::constants(const CsrView<double, std::int32_t, Host>&);
template NullSpace NullSpace::constants(const CsrView<double, std::int64_t, Host>&);
template double NullSpace::defect(const CsrView<double, std::int32_t, Host>&, double, Side) const;
template double NullSpace::defect(const CsrView<double, std::int64_t, Host>&, double, Side) const;

}  // namespace seidel
