// Products of a cycle on the host: a slice at a time, its 32 places side by side. Those of nodes are in host_nodes.cpp.
#include <algorithm>
#include <array>

#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/simd.hpp>
#include <seidel/kernels/level_products/host_slices.hpp>
#include <seidel/kernels/level_products/instances.hpp>
#include <seidel/kernels/products/host_kinds.hpp>

namespace seidel {

namespace level_detail {

template <class Body>
void for_each_place(const OpenMP& on, std::int64_t n, const Body& body) {
  for_each_index(on, n, 8, body);
}

template <class Offset, class Body>
void for_each_row_of(const OpenMP& on, const CsrView<double, Offset, Host>& R, const Body& body) {
  for_row_shares(on, R.row_ptr, [&](std::int64_t first, std::int64_t last) {
    with_avx2([&] {
      for (std::int64_t i = first; i < last; ++i) body(Index(i), R);
    });
  });
}

void count_steps(const OpenMP& on, const auto& rows, LevelMatrix<Host>& M) {
  const std::int64_t nslices = M.step_ptr.size() - 1;
  const int rows_per_slice = slice_places / M.lanes;
  for_each_place(on, nslices, [&](std::int64_t slice) {
    Index longest = 0;
    for (int r = 0; r < rows_per_slice; ++r)
      if (const std::int64_t i = slice * rows_per_slice + r; i < M.nrows)
        longest = std::max(longest, rows.length(Index(i)));
    M.step_ptr[slice] = (longest + M.lanes - 1) / M.lanes;
  });
  M.step_ptr[nslices] = 0;
}

/// Row by row, so that each is begun once. What fills up a slice is there when values are new.
template <Fill what, class Rows>
void fill_slice(const Rows& rows, std::int64_t slice, LevelMatrix<Host>& M) {
  const int lanes = M.lanes, rows_per_slice = slice_places / lanes;
  const std::int64_t begin = M.step_ptr[slice] * std::int64_t(slice_places);
  const Index room = Index(M.step_ptr[slice + 1] - M.step_ptr[slice]) * lanes;  // for entries of a row
  Index* const columns = M.col_idx.data();
  float* const values = M.values.data();
  for (int r = 0; r < rows_per_slice; ++r) {
    const std::int64_t i = slice * rows_per_slice + r;
    /// Calls put(k, place) for entries `k` ... end - 1.
    const auto for_entries = [&](Index k, Index end, const auto& put) {
      std::int64_t place = begin + r * lanes + k / lanes * slice_places + k % lanes;
      for (int lane = k % lanes; k < end; ++k, ++place) {
        put(k, place);
        if (++lane == lanes) lane = 0, place += slice_places - lanes;
      }
    };
    Index length = 0;
    if (i < M.nrows) {
      const auto stored = rows.stored.row_ptr[i];
      typename Rows::Row row(rows, Index(i), rows.stored.col_idx.data() + stored, rows.stored.values.data() + stored);
      length = rows.length(Index(i));
      for_entries(0, length, [&](Index k, std::int64_t place) {
        const Index column = row.column(k);
        if (what == Fill::columns_and_values) columns[place] = column;
        values[place] = row.value(k, column);
      });
    }
    if (what == Fill::columns_and_values)
      for_entries(length, room, [&](Index, std::int64_t place) { columns[place] = 0, values[place] = 0; });
  }
}

void fill_slices(const OpenMP& on, const auto& rows, Fill what, LevelMatrix<Host>& M) {
  const auto fill = [&]<Fill step>(std::integral_constant<Fill, step>) {
    for_slice_shares(on, std::as_const(M.step_ptr).span(), slice_places, [&](std::int64_t first, std::int64_t last) {
      with_avx2([&] {
        for (std::int64_t slice = first; slice < last; ++slice) fill_slice<step>(rows, slice, M);
      });
    });
  };
  if (what == Fill::values)
    fill(std::integral_constant<Fill, Fill::values>());
  else
    fill(std::integral_constant<Fill, Fill::columns_and_values>());
}

template void instances(const OpenMP&, const std::int32_t*);
template void instances(const OpenMP&, const std::int64_t*);

}  // namespace level_detail

void level_product(const OpenMP& on, const LevelView<Host>& A, const float* x, const Combination& c, auto y) {
  using namespace level_detail;
  if (A.nodes) return product_of_nodes(on, A, x, c, y);
  if (A.kinds) {
    const StoreCombination<decltype(y)> store{c, y};
    return product_detail::each_element(on, *A.kinds, 1, x, [&](std::int64_t i, float sum) { store(Index(i), sum); });
  }
  for_slice_shares(on, A.step_ptr, slice_places, [&](std::int64_t first, std::int64_t last) {
    with_simd([&] {
      const int rows_per_slice = slice_places / A.lanes;
      for (std::int64_t slice = first; slice < last; ++slice) {
        float sum[slice_places] = {};
        for (std::int64_t step = A.step_ptr[slice]; step < A.step_ptr[slice + 1]; ++step) {
          const Index* const columns = A.col_idx.data() + step * slice_places;
          const float* const values = A.values.data() + step * slice_places;
          for (int line = 0; line < slice_places; line += floats_per_line) {  // processors do not look beyond a page
            __builtin_prefetch(columns + entries_ahead + line);
            __builtin_prefetch(values + entries_ahead + line);
          }
          for (int place = 0; place < slice_places; ++place)
            sum[place] = std::fma(values[place], x[columns[place]], sum[place]);
        }
        for (int width = A.lanes / 2; width; width /= 2)
          for (int place = 0; place + width < slice_places; ++place) sum[place] = sum[place] + sum[place + width];
        for (int r = 0; r < rows_per_slice; ++r) {
          const std::int64_t i = slice * rows_per_slice + r;
          if (i < A.nrows)
            level_detail::store(y, i, std::fma(c.product, sum[r * A.lanes], level_detail::sum_of_terms(c, i)));
        }
      }
    });
  });
}

namespace {

/// W columns from j on of the rows of one slice; row by row, so that their sums stay in registers.
template <int W, class Result>
void slice_of_columns(const LevelView<Host>& A, std::int64_t slice, int k, int j, const float* x, const Combination& c,
                      const Result& y) {
  using Sums = std::array<float, W>;
  const int rows_per_slice = slice_places / A.lanes;
  const Index first = A.step_ptr[slice], last = A.step_ptr[slice + 1];
  for (int r = 0; r < rows_per_slice; ++r) {
    const std::int64_t i = slice * rows_per_slice + r;
    if (i >= A.nrows) return;
    Sums sums[slice_places];
    for (int lane = 0; lane < A.lanes; ++lane) {
      Sums sum = {};
      for (Index step = first; step < last; ++step) {
        const std::int64_t entry = std::int64_t(step) * slice_places + r * A.lanes + lane;
        const float value = A.values[entry];
        const float* const factors = x + std::int64_t(A.col_idx[entry]) * k + j;
        for (int w = 0; w < W; ++w) sum[w] = std::fma(value, factors[w], sum[w]);
      }
      sums[lane] = sum;
    }
    for (int width = A.lanes / 2; width; width /= 2)
      for (int lane = 0; lane < width; ++lane)
        for (int w = 0; w < W; ++w) sums[lane][w] = sums[lane][w] + sums[lane + width][w];
    for (int w = 0; w < W; ++w)
      level_detail::store(y, k, i, j + w,
                          std::fma(c.product, sums[0][w], level_detail::sum_of_terms(c, i * k + j + w)));
  }
}

}  // namespace

void level_product(const OpenMP& on, const LevelView<Host>& A, int k, const float* x, const Combination& c, auto y) {
  using namespace level_detail;
  if (A.nodes) return product_of_nodes(on, A, k, x, c, y);
  if (A.kinds)
    return product_detail::each_element(on, *A.kinds, k, x, [&](std::int64_t at, float sum) {
      store(y, k, at / k, int(at % k), std::fma(c.product, sum, sum_of_terms(c, at)));
    });
  for_slice_shares(on, A.step_ptr, slice_places, [&](std::int64_t first, std::int64_t last) {
    with_simd([&] {
      for (std::int64_t slice = first; slice < last; ++slice)
        in_groups<8>(k, 0, [&](auto n, int j) { slice_of_columns<n.value>(A, slice, k, j, x, c, y); });
    });
  });
}

template void level_product(const OpenMP&, const LevelView<Host>&, int, const float*, const Combination&, float*);
template void level_product(const OpenMP&, const LevelView<Host>&, int, const float*, const Combination&,
                            ScaledColumns<Host>);
template void level_product(const OpenMP&, const LevelView<Host>&, const float*, const Combination&, float*);
template void level_product(const OpenMP&, const LevelView<Host>&, const float*, const Combination&, ScaledResult);

}  // namespace seidel
