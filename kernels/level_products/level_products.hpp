// Products with the matrices of a multigrid cycle, each with the vector operations that come with it.
#pragma once
#include <cmath>
#include <cstdint>

#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/level_products/level_matrix.hpp>

namespace seidel {

/// c_0 v_0 + c_1 v_1 + c_2 v_2 + c (A x): what a product is added to.
struct Combination {
  struct Term {
    float factor = 0;
    const float* vector = nullptr;  // null: no such term
  };
  float product = 1;  // c
  Term terms[3] = {};
};

/// Where a result goes that leaves single precision: z_i = (result_i * scale_i * factor) * *of_call.
struct ScaledResult {
  double* z = nullptr;
  const double* scale = nullptr;
  double factor = 1;                // a power of two, as
  const double* of_call = nullptr;  // this number in the memory of the back end
};

/// The same for vectors side by side, each with a number of its own: z_(i,j) = (result_(i,j) * scale_i * factor) * of_call[2 j].
template <class Space>
struct ScaledColumns {
  MultiVectorView<double, Space> Z = {};  // columns of results beyond it go nowhere
  const double* scale = nullptr;
  double factor = 1;
  const double* of_call = nullptr;
};

/// Columns of vectors in a cycle lie side by side: first is entry 0 of all of them. On a GPU they come in groups of so many.
inline constexpr int group_columns = 4;
/// Columns that k vectors take, with what fills up their last group.
template <MemorySpace Space>
SEIDEL_HD constexpr int padded_columns(std::int64_t k) {
  return std::is_same_v<Space, Host> ? int(k) : int((k + group_columns - 1) / group_columns) * group_columns;
}

namespace level_detail {

/// The terms before the product, from left to right.
SEIDEL_HD inline float sum_of_terms(const Combination& c, std::int64_t i) {
  float sum = 0;
  for (const Combination::Term& term : c.terms)
    if (term.vector) sum = std::fma(term.factor, term.vector[i], sum);
  return sum;
}

SEIDEL_HD inline void store(float* y, std::int64_t i, float result) { y[i] = result; }
SEIDEL_HD inline void store(const ScaledResult& y, std::int64_t i, float result) {
  y.z[i] = double(result) * y.scale[i] * y.factor * *y.of_call;
}

/// Row i of a product by kinds with what it is added to.
template <class Result>
struct StoreCombination {
  Combination c;
  Result y;
  SEIDEL_HD void operator()(Index i, float sum) const { store(y, i, std::fma(c.product, sum, sum_of_terms(c, i))); }
};

SEIDEL_HD inline void store(float* y, int k, std::int64_t i, int j, float result) { y[i * k + j] = result; }
template <class Space>
SEIDEL_HD void store(const ScaledColumns<Space>& y, int, std::int64_t i, int j, float result) {
  if (j < y.Z.ncols) y.Z(i, j) = double(result) * y.scale[i] * y.factor * y.of_call[2 * j];
}

/// Row i of columns that enter a cycle, each with its number; zeros beyond the last one.
template <class Space>
struct EnterColumns {
  MultiVectorView<const double, Space> R;
  Span<const double, Space> scale;
  const double* of_call;
  Span<float, Space> b;
  SEIDEL_HD void operator()(std::int64_t i) const {
    const int k = padded_columns<Space>(R.ncols);
    for (int j = 0; j < k; ++j) b[i * k + j] = j < R.ncols ? float(R(i, j) * of_call[2 * j] * scale[i]) : 0;
  }
};

/// b_i = (r_i * *of_call) * scale_i in single precision.
template <class Space>
struct EnterCycle {
  Span<const double, Space> r, scale;
  const double* of_call;
  Span<float, Space> b;
  SEIDEL_HD void operator()(std::int64_t i) const { b[i] = float(r[i] * *of_call * scale[i]); }
};

/// z_i = x_i * scale_i.
template <class Space>
struct LeaveCycle {
  Span<const float, Space> x;
  Span<const double, Space> scale;
  Span<double, Space> z;
  SEIDEL_HD void operator()(std::int64_t i) const { z[i] = double(x[i]) * scale[i]; }
};

/// level_product() for a matrix of nodes.
[[gnu::used]] void product_of_nodes(const OpenMP& on, const LevelView<Host>& A, const float* x, const Combination& c,
                                    const auto& y);
[[gnu::used]] void product_of_nodes(const OpenMP& on, const LevelView<Host>& A, int k, const float* x,
                                    const Combination& c, const auto& y);

}  // namespace level_detail

/// y = c_0 v_0 + c_1 v_1 + c_2 v_2 + c (A x) in one pass: a residual with a sweep of Jacobi, a restriction, a correction
/// with what was there.
///
/// Shapes  y and the vectors v have A.nrows entries and may be the same memory; x has A.ncols, and is none of y.
/// Cost    reads A, x and the vectors once. On a GPU does not wait.
/// Repeats bit for bit on every back end: in each of the `lanes` lanes of a row s = fma(a_ik, x_k, s) from s = 0, from left
///         to right; lanes are added as a tree, l with l + lanes / 2, and so on; then y_i = fma(c, s, terms).
///
/// y is a float* or a ScaledResult.
void level_product(const OpenMP& on, const LevelView<Host>& A, const float* x, const Combination& c, auto y);
void level_product(const Cuda& on, const LevelView<Device>& A, const float* x, const Combination& c, auto y);

/// The same for k vectors side by side, on a GPU a multiple of group_columns: entry i of vector j of x, of the vectors v and of y is at
/// i * k + j. Each vector has the bits that it has alone.
///
/// Cost    reads A once for 8 vectors on the host, for 4 of nodes and on a GPU; from the second time on it comes from a cache.
///
/// y is a float* or ScaledColumns.
void level_product(const OpenMP& on, const LevelView<Host>& A, int k, const float* x, const Combination& c, auto y);
void level_product(const Cuda& on, const LevelView<Device>& A, int k, const float* x, const Combination& c, auto y);

// Passes over vectors; sizes are those of the results. They do not wait.

/// level_detail::SizesOfModes, one per row of R. Cost  reads R once.
template <Backend B, class Offset>
void sizes_of_modes(const B& on, const CsrView<double, Offset, typename B::Space>& R,
                    Span<const double, typename B::Space> inverse_scale, Span<double, typename B::Space> sizes) {
  level_detail::for_each_row_of(on, R, level_detail::SizesOfModes<Offset, typename B::Space>{inverse_scale, sizes});
}
/// level_detail::ScaleToUnitDiagonal.
template <Backend B>
void scale_to_unit_diagonal(const B& on, const level_detail::ScaleToUnitDiagonal<typename B::Space>& of) {
  level_detail::for_each_place(on, of.scale.size(), of);
}

/// x_i = a hash of i in (-1/2, 1/2], or 0 where scale_i is: where Lanczos steps may start.
template <Backend B>
void start_of_level(const B& on, Span<const double, typename B::Space> scale, Span<float, typename B::Space> x) {
  level_detail::for_each_place(on, x.size(), level_detail::StartOfLevel<typename B::Space>{scale, x});
}

/// b_i = (r_i * *of_call) * scale_i, rounded once to single precision. Cost  reads r and scale, writes b.
template <Backend B>
void enter_cycle(const B& on, Span<const double, typename B::Space> r, Span<const double, typename B::Space> scale,
                 const double* of_call, Span<float, typename B::Space> b) {
  level_detail::for_each_place(on, b.size(), level_detail::EnterCycle<typename B::Space>{r, scale, of_call, b});
}

/// z_i = x_i * scale_i. Cost  reads x and scale, writes z.
template <Backend B>
void leave_cycle(const B& on, Span<const float, typename B::Space> x, Span<const double, typename B::Space> scale,
                 Span<double, typename B::Space> z) {
  level_detail::for_each_place(on, z.size(), level_detail::LeaveCycle<typename B::Space>{x, scale, z});
}

/// b_(i,j) = (r_(i,j) * of_call[2 j]) * scale_i, rounded once to single precision, side by side as in level_product().
/// Cost  reads R and scale, writes b.
template <Backend B>
void enter_cycle(const B& on, const MultiVectorView<const double, typename B::Space>& R,
                 Span<const double, typename B::Space> scale, const double* of_call, Span<float, typename B::Space> b) {
  level_detail::for_each_place(on, R.nrows, level_detail::EnterColumns<typename B::Space>{R, scale, of_call, b});
}

}  // namespace seidel
