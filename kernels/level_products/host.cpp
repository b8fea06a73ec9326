// Products of a cycle on the host: a slice at a time, its 32 places side by side.
#include <algorithm>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/simd.hpp>
#include <seidel/kernels/level_products/instances.hpp>

namespace seidel {

namespace level_detail {

template <class Body>
void for_each_place(const OpenMP& on, std::int64_t n, const Body& body) {
  for_shares(on, n, 8, [&](std::int64_t first, std::int64_t last, int) {
    for (std::int64_t i = first; i < last; ++i) body(i);
  });
}

template <class Offset, class Body>
void for_each_row_of(const OpenMP& on, const CsrView<double, Offset, Host>& R, const Body& body) {
  for_row_shares(on, R.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i) body(Index(i), R);
  });
}

template <class Rows>
void count_steps(const OpenMP& on, const Rows& rows, LevelMatrix<Host>& M) {
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

template <class Rows>
void fill_slices(const OpenMP& on, const Rows& rows, Fill what, LevelMatrix<Host>& M) {
  for_row_shares(on, std::as_const(M.step_ptr).span(), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t slice = first; slice < last; ++slice)
      for (int place = 0; place < slice_places; ++place) {
        const std::int64_t begin = M.step_ptr[slice] * std::int64_t(slice_places) + place,
                           end = M.step_ptr[slice + 1] * std::int64_t(slice_places);
        std::int64_t to = begin;
        if (const std::int64_t i = (slice * slice_places + place) / M.lanes; i < M.nrows) {
          const auto stored = rows.stored.row_ptr[i];
          typename Rows::Row row(rows, Index(i), rows.stored.col_idx.data() + stored,
                                 rows.stored.values.data() + stored);
          const Index length = rows.length(Index(i));
          for (Index k = place % M.lanes; k < length; k += M.lanes, to += slice_places) {
            if (what == Fill::columns_and_values) M.col_idx[to] = row.column(k);
            M.values[to] = row.value(k, M.col_idx[to]);
          }
        }
        for (; to < end; to += slice_places) {
          if (what == Fill::columns_and_values) M.col_idx[to] = 0;
          M.values[to] = 0;
        }
      }
  });
}

template void instances(const OpenMP&, const std::int32_t*);
template void instances(const OpenMP&, const std::int64_t*);

}  // namespace level_detail

template <class Result>
void level_product(const OpenMP& on, const LevelView<Host>& A, const float* x, const Combination& c, Result y) {
  parallel_for_rows(on, A.step_ptr, [&](std::int64_t first, std::int64_t last) {
    with_simd([&] {
      const int rows_per_slice = slice_places / A.lanes;
      for (std::int64_t slice = first; slice < last; ++slice) {
        float sum[slice_places] = {};
        for (std::int64_t step = A.step_ptr[slice]; step < A.step_ptr[slice + 1]; ++step) {
          const Index* const columns = A.col_idx.data() + step * slice_places;
          const float* const values = A.values.data() + step * slice_places;
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

template void level_product(const OpenMP&, const LevelView<Host>&, const float*, const Combination&, float*);
template void level_product(const OpenMP&, const LevelView<Host>&, const float*, const Combination&, ScaledResult);

}  // namespace seidel
