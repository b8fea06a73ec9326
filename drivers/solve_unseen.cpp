// Vectors that A maps to nearly nothing: whether there may be any, and where to begin to look for them.
#include <seidel/drivers/solve_unseen.hpp>

#include <algorithm>
#include <limits>
#include <vector>

#include <seidel/drivers/direct.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

namespace {
/// Couplings within this factor of each other are of similar size. Groups that weaker ones join move nearly freely.
constexpr double similar = 1e3;
/// A sum of this part of a diagonal entry is rounding.
constexpr double rounding = 64 * std::numeric_limits<double>::epsilon();
}  // namespace

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

template Couplings couplings_of(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template Couplings couplings_of(const OpenMP&, const CsrView<double, std::int64_t, Host>&);
template Array<double> first_direction(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template Array<double> first_direction(const OpenMP&, const CsrView<double, std::int64_t, Host>&);

}  // namespace seidel::drivers
