// Vectors that A maps to nearly nothing: sums of b - A x over its connected parts, and what they tell of the error of x; whether
// there may be others, and where to begin to look for them.
#include <seidel/drivers/solve_unseen.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <seidel/drivers/direct.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

namespace {

/// Couplings within this factor of each other are of similar size. Groups that weaker ones join move nearly freely.
constexpr double similar = 1e3;
/// A sum of this part of what is added, or of a diagonal entry, is rounding.
constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();

/// 1 where the diagonal entry is not positive or small beside others in its row.
template <class Offset>
std::vector<char> rows_of_pressures(const OpenMP& on, const CsrView<double, Offset, Host>& A) {
  constexpr double small = 1e-3;
  std::vector<char> z(std::size_t(A.nrows));
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      double diagonal = 0, largest = 0;
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        if (A.col_idx[k] == i) diagonal = A.values[k];
        largest = std::max(largest, std::abs(A.values[k]));
      }
      z[i] = diagonal <= small * largest;
    }
  });
  return z;
}

}  // namespace

template <class Offset>
Constants::Constants(const OpenMP& on, const CsrView<double, Offset, Host>& A, bool symmetric)
    : parts_(connected_parts(on, A)) {
  add(on, A, symmetric, std::vector<char>(std::size_t(A.nrows), 1));
  std::vector<char> pressures = rows_of_pressures(on, A);
  const auto n = std::count(pressures.begin(), pressures.end(), 1);
  if (n > 0 && n < A.nrows) add(on, A, symmetric, std::move(pressures));
}

template <class Offset>
void Constants::add(const OpenMP& on, const CsrView<double, Offset, Host>& A, bool symmetric, std::vector<char> z) {
  std::vector<double> Az(z.size()), sizes(z.size());
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (z[std::size_t(A.col_idx[k])]) Az[i] += A.values[k], sizes[i] += std::abs(A.values[k]);
  });
  std::vector<double> Atz;
  if (symmetric) {
    Atz = std::exchange(Az, {});
  } else {
    Atz.resize(z.size());
    sizes.assign(z.size(), 0);
    for (std::int64_t i = 0; i < A.nrows; ++i)
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1] && z[i]; ++k) {
        Atz[std::size_t(A.col_idx[k])] += A.values[k];
        sizes[std::size_t(A.col_idx[k])] += std::abs(A.values[k]);
      }
  }
  std::vector<double> sums(std::size_t(parts_.count)), squares(sums);
  std::vector<char> is_zero(sums.size(), 1), vanishes(is_zero);
  for (std::size_t j = 0; j < z.size(); ++j) {
    const auto part = parts_.part_of[j];
    sums[part] += std::abs(Atz[j]);
    if (!symmetric) squares[part] += Az[j] * Az[j];
    if (z[j]) is_zero[part] = 0;
    if (std::abs(Atz[j]) > rounding * sizes[j]) vanishes[part] = 0;
  }
  for (std::size_t part = 0; part < vanishes.size(); ++part) vanishes[part] = vanishes[part] && !is_zero[part];
  directions_.push_back({std::move(z), std::move(Az), std::move(sums), std::move(squares), std::move(vanishes)});
}

double Constants::relative_to_x(const std::vector<double>& constants, const std::vector<char>& z,
                                HostSpan<const double> x) const {
  double error = 0, size = 0;
  for (const double c : constants) error = std::max(error, std::abs(c));
  for (std::int64_t i = 0; i < x.size(); ++i)
    size = std::max(size, std::abs(x[i] + constants[parts_.part_of[i]] * z[i]));
  return error > 0 ? error / size : 0;
}

Constants::Found Constants::found(HostSpan<const double> x, HostSpan<const double> r, double doubt) const {
  Found found{.at_least = true};
  for (const auto& [z, Az, sizes, squares, vanishes] : directions_) {
    std::vector<double> sums(vanishes.size()), along(sums);
    for (std::int64_t i = 0; i < r.size(); ++i) {
      if (z[i]) sums[parts_.part_of[i]] += r[i];
      if (!Az.empty()) along[parts_.part_of[i]] += Az[i] * r[i];
    }
    for (std::size_t part = 0; part < sums.size(); ++part) {
      found.singular = found.singular || vanishes[part];
      sums[part] = sizes[part] > 0 && !vanishes[part] ? sums[part] / sizes[part] : 0;
      along[part] = squares[part] > 0 ? along[part] / squares[part] : 0;
    }
    if (const double least = relative_to_x(sums, z, x); least > found.error) found.error = least, found.at_least = true;
    if (Az.empty()) continue;
    if (const double guess = relative_to_x(along, z, x); guess > std::max(doubt, found.error))
      found.error = guess, found.at_least = false;
  }
  return found;
}

template <class Offset>
Couplings couplings_of(const OpenMP& on, const CsrView<double, Offset, Host>& A) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  struct Part {
    double least = infinity, most = 0, margin = infinity;
    bool is_laplacian = true;
  };
  std::vector<Part> parts(std::size_t(on.threads));
  parallel_parts(on, [&](int part, int nparts) {
    Part mine;
    const auto [first, last] = share_by_nonzeros(A.row_ptr, part, nparts);
    for (std::int64_t i = first; i < last; ++i) {
      double diagonal = 0, beside = 0;
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const double a = A.values[k];
        if (A.col_idx[k] == i) {
          diagonal += a;
        } else if (a != 0) {
          beside += std::abs(a);
          mine.least = std::min(mine.least, -a);
          mine.most = std::max(mine.most, -a);
        }
      }
      mine.margin = std::min(mine.margin, diagonal - beside);
      mine.is_laplacian = mine.is_laplacian && diagonal - beside >= -rounding * diagonal;
    }
    parts[std::size_t(part)] = mine;
  });
  Part all;
  for (const Part& part : parts) {
    all.least = std::min(all.least, part.least);
    all.most = std::max(all.most, part.most);
    all.margin = std::min(all.margin, part.margin);
    all.is_laplacian = all.is_laplacian && part.is_laplacian;
  }
  return {.constants_alone = all.is_laplacian && all.least > 0 && all.most <= similar * all.least,
          .margin = all.margin};
}

template <class Offset>
Array<double> first_direction(const OpenMP& on, const CsrView<double, Offset, Host>& A) {
  Array<double> w(on, A.nrows);
  parallel_for_rows(on, A.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) {
      w[i] = 0;
      for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
        if (A.col_idx[k] == i && A.values[k] > 0) w[i] = (fraction(i) + 0.5) / std::sqrt(A.values[k]);
    }
  });
  return w;
}

template Constants::Constants(const OpenMP&, const CsrView<double, std::int32_t, Host>&, bool);
template Constants::Constants(const OpenMP&, const CsrView<double, std::int64_t, Host>&, bool);
template Couplings couplings_of(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template Couplings couplings_of(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template Array<double> first_direction(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template Array<double> first_direction(const OpenMP&, const CsrView<double, std::int64_t, Host>&);

}  // namespace seidel::drivers
