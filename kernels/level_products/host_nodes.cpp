// Rows of nodes on the host: what the rows of a node have in common is gathered once for all of them.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <utility>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/constant.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/runtime/simd.hpp>
#include <seidel/kernels/aggregation/nodes.hpp>
#include <seidel/kernels/level_products/host_slices.hpp>
#include <seidel/kernels/level_products/level_products.hpp>

namespace seidel::level_detail {

namespace {

constexpr Index max_columns_per_block = 6;
constexpr Index room = 4096;  // for what is gathered: 16 KB of the first cache
constexpr Index none = std::numeric_limits<Index>::max() / 2;

/// Whether the columns of each node are blocks of so many neighbours.
template <class Offset>
bool in_blocks(const OpenMP& on, const CsrView<double, Offset, Host>& A, Index rows, Index columns) {
  return A.nrows == first_row_where(on, A.row_ptr, [&](std::int64_t i) {
           if (i % rows != 0) return false;
           const Offset first = A.row_ptr[i], last = A.row_ptr[i + 1];
           if ((last - first) % columns != 0) return true;
           for (Offset k = first; k < last; k += columns)
             if (A.col_idx[k + columns - 1] - A.col_idx[k] != columns - 1) return true;
           return false;
         });
}

/// The entries of `from` at the columns of a node, ascending, then `more` zeros.
template <int more, int columns, class T>
void gather(const Index* block, const Index* last, const T* from, T* to) {
  for (; block < last; ++block, to += columns) {
    T found[columns];
    std::memcpy(found, from + *block, sizeof found);
    std::memcpy(to, found, sizeof found);
  }
  for (int e = 0; e < more; ++e) to[e] = 0;
}
template <int more, class T>
void gather(const NodeColumns& shared, const Index* blocks, std::int64_t node, const T* from, T* to) {
  const Index *const first = blocks + shared.block_ptr[node], *const last = blocks + shared.block_ptr[node + 1];
  switch (shared.columns) {
    case 2: return gather<more, 2>(first, last, from, to);
    case 3: return gather<more, 3>(first, last, from, to);
    case 4: return gather<more, 4>(first, last, from, to);
    case 5: return gather<more, 5>(first, last, from, to);
    case 6: return gather<more, 6>(first, last, from, to);
    default: return gather<more, 1>(first, last, from, to);
  }
}

/// Row i in `to`, whose right scales are gathered in `right`; `left_out` is the entry that it loses.
template <class Offset>
Index fill_row(const ScaledRows<Offset, Host>& rows, Index i, const double* right, Index left_out, float* to) {
  const double* const stored = rows.stored.values.data() + rows.stored.row_ptr[i];
  const double left = rows.left[i];
  const Index length = rows.length(i), before = std::min(left_out, length);
  if (left == 0) {
    std::fill(to, to + length, 0.0f);
  } else {
    for (Index k = 0; k < before; ++k) to[k] = float(stored[k] * (left * right[k]));
    for (Index k = before; k < length; ++k) to[k] = float(stored[k + 1] * (left * right[k + 1]));
  }
  return length;
}
template <class Offset>
Index fill_row(const CorrectionRows<Offset, Host>& rows, Index i, const double*, Index, float* to) {
  const auto begin = rows.stored.row_ptr[i];
  typename CorrectionRows<Offset, Host>::Row row(rows, i, rows.stored.col_idx.data() + begin,
                                                 rows.stored.values.data() + begin);
  const Index length = rows.length(i);
  for (Index k = 0; k < length; ++k) to[k] = row.value(k, row.column(k));
  return length;
}

template <Fill what, class Rows>
void fill(const OpenMP& on, const Rows& rows, LevelMatrix<Host>& M) {
  const Index b = M.nodes.rows;
  for_slice_shares(on, std::as_const(M.step_ptr).span(), b * M.lanes, [&](std::int64_t first, std::int64_t last) {
    with_avx2([&] {
      double right[room];
      for (std::int64_t node = first; node < last; ++node) {
        const Index row_room = (M.step_ptr[node + 1] - M.step_ptr[node]) * M.lanes;
        if constexpr (requires { rows.off_diagonal; })
          gather<0>(M.nodes, M.col_idx.data(), node, rows.right.data(), right);
        float* to = M.values.data() + M.step_ptr[node] * std::int64_t(b) * M.lanes;
        for (Index r = 0; r < b; ++r, to += row_room) {
          const Index length = fill_row(rows, Index(node) * b + r, right, M.nodes.left_out[node] + r, to);
          if (what == Fill::columns_and_values) std::fill(to + length, to + row_room, 0.0f);
        }
      }
    });
  });
}

/// Where the diagonal entry is in row i if rows lose it.
Index left_out_of(const auto& rows, Index i) {
  if constexpr (requires { rows.off_diagonal; })
    if (rows.off_diagonal) {
      const Index* const columns = rows.stored.col_idx.data();
      const Index* const first = columns + rows.stored.row_ptr[i];
      return Index(std::lower_bound(first, columns + rows.stored.row_ptr[i + 1], rows.first + i) - first);
    }
  return none;
}

}  // namespace

bool lay_out_nodes(const OpenMP& on, const auto& rows, LevelMatrix<Host>& M) {
  const auto& A = rows.stored;
  if (M.lanes < 8) return false;
  const Index b = unknowns_per_node(on, A);
  const auto too_long = [&](std::int64_t i) { return A.row_ptr[i + 1] - A.row_ptr[i] + M.lanes + 1 > room; };
  if (b == 1 || first_row_where(on, A.row_ptr, too_long) < A.nrows) return false;
  Index columns = max_columns_per_block;
  while (columns > 1 && !in_blocks(on, A, b, columns)) --columns;
  const std::int64_t nodes = A.nrows / b;
  NodeColumns& shared = M.nodes = {b, columns, Array<std::int64_t>(on, nodes + 1), Array<Index>(on, nodes)};
  M.step_ptr = Array<Index>(on, nodes + 1);
  for_each_index(on, nodes + 1, 1, [&](std::int64_t node) {
    M.step_ptr[node] = node < nodes ? (rows.length(Index(node) * b) + M.lanes - 1) / M.lanes : 0;
    shared.block_ptr[node] = A.row_ptr[node * b] / (std::int64_t(b) * columns);  // all of its rows have one length
  });
  exclusive_scan(on, std::as_const(M.step_ptr).span(), M.step_ptr.span());
  M.col_idx = Array<Index>(on, shared.block_ptr[nodes]);
  M.values = Array<float>(on, M.step_ptr[nodes] * std::int64_t(b) * M.lanes);
  for_each_index(on, nodes, 64, [&](std::int64_t node) {
    shared.left_out[node] = left_out_of(rows, Index(node) * b);
    const Index* from = A.col_idx.data() + A.row_ptr[node * b];
    for (std::int64_t k = shared.block_ptr[node]; k < shared.block_ptr[node + 1]; ++k, from += columns)
      M.col_idx[k] = *from;
  });
  fill<Fill::columns_and_values>(on, rows, M);
  return true;
}

void refill_nodes(const OpenMP& on, const auto& rows, LevelMatrix<Host>& M) { fill<Fill::values>(on, rows, M); }

namespace {

template <int lanes>
struct Lanes {
  using Floats [[gnu::vector_size(lanes * 4)]] = float;
  using Indices [[gnu::vector_size(lanes * 4)]] = Index;
};

/// Calls each(row, sum) for the rows of a node; `factors` are those of its columns.
template <int lanes, class Each>
void sum_node(const LevelView<Host>& A, std::int64_t node, const float* factors, const Each& each) {
  using Floats = typename Lanes<lanes>::Floats;
  using Indices = typename Lanes<lanes>::Indices;
  const Index b = A.nodes->rows, steps = A.step_ptr[node + 1] - A.step_ptr[node];
  Indices first;  // entry of each lane, counted from the one that the row leaves out
  for (int lane = 0; lane < lanes; ++lane) first[lane] = lane;
  first -= A.nodes->left_out[node];
  const float* values = A.values.data() + A.step_ptr[node] * std::int64_t(b) * lanes;
  for (Index r = 0; r < b; ++r, first -= 1) {
    Floats sum = {};
    Indices entry = first;
    for (Index step = 0; step < steps; ++step, values += lanes, entry += lanes) {
      for (int line = 0; line < lanes; line += floats_per_line) __builtin_prefetch(values + entries_ahead + line);
      Floats value, before, behind;
      std::memcpy(&value, values, sizeof value);
      std::memcpy(&before, factors + step * lanes, sizeof before);
      std::memcpy(&behind, factors + step * lanes + 1, sizeof behind);
      const Floats factor = entry < 0 ? before : behind;
      for (int lane = 0; lane < lanes; ++lane) sum[lane] = std::fma(value[lane], factor[lane], sum[lane]);
    }
    for (int width = lanes / 2; width; width /= 2)
      for (int lane = 0; lane < width; ++lane) sum[lane] = sum[lane] + sum[lane + width];
    each(node * b + r, sum[0]);
  }
}

/// The entries of N of k columns of x at the columns of a node, apart, then `more` zeros each.
template <int N, int more>
void gather_apart(const LevelView<Host>& A, std::int64_t node, int k, const float* x, float (&to)[N][room]) {
  Index at = 0;
  for (std::int64_t block = A.nodes->block_ptr[node]; block < A.nodes->block_ptr[node + 1]; ++block)
    for (Index e = 0; e < A.nodes->columns; ++e, ++at) {
      const float* const from = x + std::int64_t(A.col_idx[block] + e) * k;
      for (int w = 0; w < N; ++w) to[w][at] = from[w];
    }
  for (auto& column : to) std::fill(column + at, column + at + more, 0.0f);
}

}  // namespace

void product_of_nodes(const OpenMP& on, const LevelView<Host>& A, const float* x, const Combination& c, const auto& y) {
  with_constant<8, 32>(A.lanes, [&](auto lanes) {
    for_slice_shares(on, A.step_ptr, A.nodes->rows * lanes, [&](std::int64_t first, std::int64_t last) {
      with_simd([&] {
        float factors[2][room];  // those of a node are gathered before the node ahead of it is summed
        const auto gather_for = [&](std::int64_t node) {
          gather<lanes + 1>(*A.nodes, A.col_idx.data(), node, x, factors[node % 2]);
        };
        if (first < last) gather_for(first);
        for (std::int64_t node = first; node < last; ++node) {
          if (node + 1 < last) gather_for(node + 1);
          sum_node<lanes.value>(A, node, factors[node % 2], [&](std::int64_t i, float sum) {
            store(y, i, std::fma(c.product, sum, sum_of_terms(c, i)));
          });
        }
      });
    });
  });
}

void product_of_nodes(const OpenMP& on, const LevelView<Host>& A, int k, const float* x, const Combination& c,
                      const auto& y) {
  with_constant<8, 32>(A.lanes, [&](auto lanes) {
    for_slice_shares(on, A.step_ptr, A.nodes->rows * lanes, [&](std::int64_t first, std::int64_t last) {
      with_simd([&] {
        const auto columns_of = [&]<int N>(std::integral_constant<int, N>, std::int64_t node, int j) {
          float factors[N][room];
          gather_apart<N, lanes + 1>(A, node, k, x + j, factors);
          for (int w = 0; w < N; ++w)  // the values of the node are in the first cache after the first one
            sum_node<lanes.value>(A, node, factors[w], [&](std::int64_t i, float sum) {
              store(y, k, i, j + w, std::fma(c.product, sum, sum_of_terms(c, i * k + j + w)));
            });
        };
        for (std::int64_t node = first; node < last; ++node)
          in_groups<4>(k, 0, [&](auto n, int j) { columns_of(n, node, j); });
      });
    });
  });
}

/// Never called: names the functions, so that their code is emitted here.
void instances_of_nodes(const OpenMP& on, LevelMatrix<Host>& M) {
  with_each_offset<Host>([&]<class Offset>(const Span<const Offset, Host>&) {
    lay_out_nodes(on, ScaledRows<Offset, Host>{}, M), refill_nodes(on, ScaledRows<Offset, Host>{}, M);
    lay_out_nodes(on, CorrectionRows<Offset, Host>{}, M), refill_nodes(on, CorrectionRows<Offset, Host>{}, M);
  });
  const auto A = M.view();
  float* const y = nullptr;
  const Combination c;
  product_of_nodes(on, A, y, c, y), product_of_nodes(on, A, y, c, ScaledResult());
  product_of_nodes(on, A, 0, y, c, y), product_of_nodes(on, A, 0, y, c, ScaledColumns<Host>());
}

}  // namespace seidel::level_detail
