// Sparse products on the GPU: rows are put into classes by the number of their products, their entries are counted, and
// then the rows, in classes by their lengths, are computed where they belong.
#include <array>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/constant.hpp>
#include <seidel/formats/runtime/cuda_launch.cuh>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/scratch.hpp>
#include <seidel/kernels/primitives/scan.hpp>
#include <seidel/kernels/spgemm/cuda/long_rows.cuh>
#include <seidel/kernels/spgemm/cuda/merge.cuh>
#include <seidel/kernels/spgemm/cuda/table.cuh>
#include <seidel/kernels/spgemm/spgemm.hpp>

namespace seidel::spgemm_detail {

namespace {

using cuda::for_each;

/// Class 0 is merged. The next ones, to be counted: by how many different columns there can be, with tables that are
/// filled to three quarters at most; the last of them may be too full. Then those that are surely too long.
constexpr int tables_to_count = 4, long_to_count = tables_to_count + 1;
SEIDEL_HD constexpr int slots_to_count(int c) { return 16 << 2 * c; }  // 64, 256, 1024, 4096
SEIDEL_HD inline int class_to_count(std::int64_t entries_of_A, std::int64_t products, std::int64_t ncols) {
  if (entries_of_A <= merge_width && products <= max_merged) return 0;
  const std::int64_t bound = products < ncols ? products : ncols;
  int c = 1;
  while (c < tables_to_count && bound > slots_to_count(c) / 4 * 3) ++c;
  // Up to 16 products per column are usual in multigrid.
  return c == tables_to_count && bound > 16 * slots_to_count(c) ? long_to_count : c;
}

/// Once lengths are known: with tables that are filled to a half at most. The last class is of long rows.
constexpr int long_class = Plan<Device>::nclasses - 1;
constexpr Index max_products = 1 << 29;  // of a row that is not long: their places in bytes fit into 32 bits
SEIDEL_HD constexpr int max_entries(int c) { return 8 << c; }  // 16 ... 1024
SEIDEL_HD inline int class_to_compute(std::int64_t entries_of_A, Index products, Index length) {
  if (entries_of_A <= merge_width && products <= max_merged) return 0;
  if (products > max_products) return long_class;
  int c = 1;
  while (c < long_class && length > max_entries(c)) ++c;
  return c;
}
/// Of a place in a row of this class.
SEIDEL_HD constexpr int bytes_per_place(int c) { return max_entries(c) <= 256 ? 1 : 2; }

void with_lanes(int lanes, const auto& body) { with_constant<4, 8, 16, 32>(lanes, body); }
void with_place(int c, const auto& body) { bytes_per_place(c) == 1 ? body(std::uint8_t()) : body(std::uint16_t()); }

/// begin[c] of each class from its census; how many classes have rows.
int begins_of(const Census& census, int nclasses, std::int64_t* begin) {
  int some = 0;
  begin[0] = 0;
  for (int c = 0; c < nclasses; ++c) {
    begin[c + 1] = begin[c] + std::int64_t(census.rows[c]);
    some += census.rows[c] > 0;
  }
  return some;
}

/// Fills `list` with the rows of each class, one class after another.
template <class ClassOf>
void list_rows(const Cuda& on, std::int64_t nrows, int nclasses, const std::int64_t* begin, const ClassOf& class_of,
               Span<Index, Device> list) {
  Scratch<Cuda> scratch(on);
  const auto next = scratch.take<unsigned long long>(max_classes);
  std::array<unsigned long long, max_classes> first = {};
  std::copy(begin, begin + nclasses, first.begin());
  for_each(on, 1, "where classes begin", [first, p = next.data()] __device__(std::int64_t) {
    for (int c = 0; c < max_classes; ++c) p[c] = first[c];
  });
  cuda::launch_over(on, nrows, list_classes<ClassOf>, "a list of rows", nrows, class_of, next.data(), list.data());
}

RowList rows_of(const Index* list, int c, const std::int64_t* begin) {
  return {list ? list + begin[c] : nullptr, begin[c + 1] - begin[c]};
}
RowList rows_of(const Plan<Device>& plan, int c) {
  return rows_of(plan.rows.empty() ? nullptr : plan.rows.data(), c, plan.begin);
}

/// Threads that share a row of B where the order of its entries does not matter: each takes about four.
int threads_per_row(double nonzeros_per_row, int most) {
  return std::min(most, int(std::bit_floor(unsigned(std::clamp(nonzeros_per_row / 4, 1.0, 32.0)))));
}
/// Lanes that take the entries of a row of B, most of them at once, for rows of C of class c; 32 of them are to do with few
/// bytes of shared memory: `bytes_per_entry` of a row of C.
int lanes_for(const Plan<Device>& plan, int c, int bytes_per_entry) {
  constexpr int bytes_per_lane = 384;
  const double b = plan.nonzeros_per_row_of_B;
  const unsigned at_least = unsigned(max_entries(c) * bytes_per_entry / bytes_per_lane);
  return std::max(b <= 4     ? 4
                  : b <= 6.5 ? 8
                  : b <= 13  ? 16
                             : warp_size,
                  std::min(int(std::bit_ceil(at_least)), warp_size));
}

/// launch(class, its rows, lanes) for each class of rows that are hashed and has some; lanes is a constant.
void for_each_table(const Plan<Device>& plan, int bytes_per_entry, const char* what, const auto& launch) {
  for (int c = 1; c < long_class; ++c)
    if (const RowList rows = rows_of(plan, c); rows.size > 0) {
      with_lanes(lanes_for(plan, c, bytes_per_entry), [&](auto lanes) { launch(c, rows, lanes); });
      check_launch(what);
    }
}

/// That take long rows in turns.
std::int64_t blocks_of_long(const Cuda& on, const RowList& rows) {
  return std::min<std::int64_t>(rows.size, 2 * on.multiprocessors());
}

/// Entries of each row of C.
template <class Offset>
void count_entries(const Cuda& on, const Pattern<Offset>& A, const Pattern<Offset>& B, const Index* list,
                   const std::int64_t* begin, double nonzeros_per_row_of_B, Index* lengths) {
  Scratch<Cuda> scratch(on);
  const RowList merged = rows_of(list, 0, begin);
  cuda::launch(on, merge_count<Offset>, blocks_for(merged.size, merge_threads), merge_threads,
               "lengths of a sparse product", A, B, merged, lengths);
  const RowList largest = rows_of(list, tables_to_count, begin);
  const auto overflow_rows = scratch.take<Index>(largest.size);
  const auto overflow_size = scratch.take<unsigned long long>(1);
  cuda::set_bytes(on, overflow_size, 0);
  for (int c = 1; c <= tables_to_count; ++c) {
    const RowList rows = rows_of(list, c, begin);
    if (rows.size == 0) continue;
    const int slots = slots_to_count(c);
    with_lanes(slots <= 256 ? 8 : warp_size, [&](auto lanes) {
      const TableShape shape(lanes, slots * sizeof(Index));
      table_count<lanes.value><<<blocks_for(rows.size, shape.rows), shape.threads, shape.bytes(), on.stream()>>>(
          A, B, rows, slots, threads_per_row(nonzeros_per_row_of_B, lanes), lengths,
          Overflow{overflow_rows.data(), overflow_size.data()});
    });
    check_launch("lengths of a sparse product");
  }
  const auto count_long = [&](const RowList& rows, const unsigned long long* counted) {
    cuda::launch(on, long_columns<LongRows::lengths, Offset>, blocks_of_long(on, rows), long_threads,
                 "lengths of a sparse product", A, B, rows, counted, threads_per_row(nonzeros_per_row_of_B, warp_size),
                 lengths, nullptr, nullptr);
  };
  count_long({overflow_rows.data(), largest.size}, overflow_size.data());
  count_long(rows_of(list, long_to_count, begin), nullptr);
}

/// Room for what a block of merged rows writes, most of the time.
int staged_entries(std::int64_t nrows, std::int64_t nnz, int bytes_per_entry) {
  const std::int64_t mean = merge_threads * nnz / std::max<std::int64_t>(nrows, 1);
  return int(std::min<std::int64_t>(mean + mean / 4 + 32, TableShape::max_bytes / bytes_per_entry)) & ~31;
}

template <class Real, class Offset>
void sum_long_rows(const Cuda& on, const Plan<Device>& plan, const CsrView<Real, Offset, Device>& A,
                   const CsrView<Real, Offset, Device>& B, Csr<Real, Offset, Device>& C) {
  const RowList rows = rows_of(plan, long_class);
  cuda::launch(on, long_values<Real, Offset>, rows.size > 0 ? 32 * on.multiprocessors() : 0, warp_size,
               "a sparse product", Pattern<Offset>(A), A.values.data(), Pattern<Offset>(B), B.values.data(), rows,
               C.row_ptr.data(), C.col_idx.data(), C.values.data());
}

/// Columns and values for the first time. C has its row pointers and its memory.
template <class Real, class Offset>
void compute(const Cuda& on, Plan<Device>& plan, const CsrView<Real, Offset, Device>& A_,
             const CsrView<Real, Offset, Device>& B_, Csr<Real, Offset, Device>& C) {
  const Pattern<Offset> A(A_), B(B_);
  constexpr int bytes = sizeof(Index) + sizeof(Real);
  if (const RowList rows = rows_of(plan, 0); rows.size > 0) {
    const int staged = staged_entries(C.nrows, C.nnz(), bytes);
    merge_values<<<blocks_for(rows.size, merge_threads), merge_threads, staged * bytes, on.stream()>>>(
        A, A_.values.data(), B, B_.values.data(), rows, C.row_ptr.data(), C.col_idx.data(), C.values.data(),
        plan.contributors.data(), staged);
    check_launch("a sparse product");
  }
  for_each_table(plan, 2 * bytes, "a sparse product", [&](int c, const RowList& rows, auto lanes) {
    const int slots = 2 * max_entries(c);
    const TableShape shape(lanes, bytes_of_group<Real, Offset>(lanes, slots, slots));
    table_values<lanes.value><<<blocks_for(rows.size, shape.rows), shape.threads, shape.bytes(), on.stream()>>>(
        A, A_.values.data(), B, B_.values.data(), rows, slots, C.row_ptr.data(), C.col_idx.data(), C.values.data());
  });
  const RowList rows = rows_of(plan, long_class);
  cuda::launch(on, long_columns<LongRows::columns, Offset>, blocks_of_long(on, rows), long_threads,
               "columns of a sparse product", A, B, rows, nullptr,
               threads_per_row(plan.nonzeros_per_row_of_B, warp_size), nullptr, C.row_ptr.data(), C.col_idx.data());
  sum_long_rows(on, plan, A_, B_, C);
}

/// Finds the places of the products of hashed rows. Bytes of them for each row: `bytes`, and 0 at the end.
template <class Real, class Offset>
void keep_places(const Cuda& on, Plan<Device>& plan, const CsrView<Real, Offset, Device>& A_,
                 const CsrView<Real, Offset, Device>& B_, const Csr<Real, Offset, Device>& C,
                 Span<const Index, Device> bytes) {
  plan.first_place = Array<std::int64_t, Device>(on, bytes.size());
  exclusive_scan(on, bytes, plan.first_place.span());
  plan.places = Array<std::uint8_t, Device>(on, value_of(on, plan.first_place.data() + bytes.size() - 1));
  for_each_table(plan, 4 * sizeof(Index), "places of products", [&](int c, const RowList& rows, auto lanes) {
    const int slots = 2 * max_entries(c);
    const TableShape shape(lanes, bytes_of_group<Real, Offset>(lanes, 0, 2 * slots));
    with_place(c, [&](auto place) {
      table_places<lanes.value, decltype(place)>
          <<<blocks_for(rows.size, shape.rows), shape.threads, shape.bytes(), on.stream()>>>(
              Pattern<Offset>(A_), A_.values.data(), Pattern<Offset>(B_), rows, slots, C.row_ptr.data(),
              C.col_idx.data(), plan.first_place.data(), plan.places.data());
    });
  });
}

}  // namespace

template <class Real, class Offset>
void find_values(const Cuda& on, Plan<Device>& plan, const CsrView<Real, Offset, Device>& A_,
                 const CsrView<Real, Offset, Device>& B_, Csr<Real, Offset, Device>& C) {
  const Pattern<Offset> A(A_), B(B_);
  if (const RowList rows = rows_of(plan, 0); rows.size > 0) {
    const int staged = staged_entries(C.nrows, C.nnz(), sizeof(Real));
    merge_update<<<blocks_for(rows.size, merge_threads), merge_threads, staged * sizeof(Real), on.stream()>>>(
        A, A_.values.data(), B, B_.values.data(), rows, C.row_ptr.data(), plan.contributors.data(), C.values.data(),
        staged);
    check_launch("values of a sparse product");
  }
  for_each_table(plan, sizeof(Real), "values of a sparse product", [&](int c, const RowList& rows, auto lanes) {
    const TableShape shape(lanes, bytes_of_group<Real, Offset>(lanes, room_to_update(lanes, max_entries(c)), 0));
    with_place(c, [&](auto place) {
      table_update<lanes.value, decltype(place)>
          <<<blocks_for(rows.size, shape.rows), shape.threads, shape.bytes(), on.stream()>>>(
              A, A_.values.data(), B, B_.values.data(), rows, max_entries(c), C.row_ptr.data(), plan.first_place.data(),
              plan.places.data(), C.values.data());
    });
  });
  sum_long_rows(on, plan, A_, B_, C);
}

template <class Real, class Offset>
Plan<Device> multiply(const Cuda& on, const CsrView<Real, Offset, Device>& A_, const CsrView<Real, Offset, Device>& B_,
                      Csr<Real, Offset, Device>& C, Wanted wanted) {
  const Pattern<Offset> A(A_), B(B_);
  const std::int64_t nrows = A.nrows, ncols = B.ncols;
  Plan<Device> plan;
  C = {A.nrows, B.ncols, Array<Offset, Device>(on, nrows + 1), {}, {}};
  Scratch<Cuda> scratch(on);
  const auto census = scratch.take<Census>(1);
  const auto bounds = scratch.take<Index>(nrows), lengths = scratch.take<Index>(nrows + 1);
  const auto taken = [&](const auto& look, const char* what) {  // waits
    cuda_check(cudaMemsetAsync(census.data(), 0, sizeof(Census), on.stream()), what);
    if (nrows > 0) take_census<<<blocks_for(nrows, 256), 256, 0, on.stream()>>>(nrows, look, census.data());
    check_launch(what);
    return value_of(on, census.data());
  };
  const auto look_at_products = [A, B, ncols, bound = bounds.data()] __device__(std::int64_t row) {
    std::int64_t products = 0;
    for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
      const std::int64_t k = A.col_idx[e];
      products += B.row_ptr[k + 1] - B.row_ptr[k];
    }
    bound[row] = Index(min(products, std::int64_t(std::numeric_limits<Index>::max())));
    return Looked{class_to_count(A.row_ptr[row + 1] - A.row_ptr[row], bound[row], ncols), products};
  };
  const Census to_be_counted = taken(look_at_products, "products of rows");
  plan.products = std::int64_t(to_be_counted.amount);
  plan.nonzeros_per_row_of_B = A_.nnz() > 0 ? double(plan.products) / double(A_.nnz()) : 0;
  {
    Scratch<Cuda> inner(on);
    std::int64_t begin[long_to_count + 2];
    Span<Index, Device> list;
    if (begins_of(to_be_counted, long_to_count + 1, begin) > 1) {
      list = inner.take<Index>(nrows);
      const auto class_of = [A, ncols, bound = bounds.data()] __device__(std::int64_t row) {
        return class_to_count(A.row_ptr[row + 1] - A.row_ptr[row], bound[row], ncols);
      };
      list_rows(on, nrows, long_to_count + 1, begin, class_of, list);
    }
    count_entries(on, A, B, list.data(), begin, plan.nonzeros_per_row_of_B, lengths.data());
  }

  cuda_check(cudaMemsetAsync(lengths.data() + nrows, 0, sizeof(Index), on.stream()), "a sparse product");
  exclusive_scan(on, Span<const std::int32_t, Device>(lengths), C.row_ptr.span());
  const auto class_of = [A, bound = bounds.data(), length = lengths.data()] __device__(std::int64_t row) {
    return class_to_compute(A.row_ptr[row + 1] - A.row_ptr[row], bound[row], length[row]);
  };
  const auto look_at_lengths = [class_of, length = lengths.data()] __device__(std::int64_t row) {
    return Looked{class_of(row), length[row]};
  };
  const Census to_be_computed = taken(look_at_lengths, "lengths of a sparse product");
  const std::int64_t nnz = std::int64_t(to_be_computed.amount);
  require_countable<Offset>(nnz);
  if (begins_of(to_be_computed, Plan<Device>::nclasses, plan.begin) > 1) {
    plan.rows = Array<Index, Device>(on, nrows);
    list_rows(on, nrows, Plan<Device>::nclasses, plan.begin, class_of, plan.rows.span());
  }
  C.take_entries(on, nnz);
  if (wanted == Wanted::result_and_plan && rows_of(plan, 0).size > 0)
    plan.contributors = Array<std::uint8_t, Device>(on, nnz);
  compute(on, plan, A_, B_, C);
  if (wanted == Wanted::result_and_plan && plan.begin[long_class] > plan.begin[1]) {
    for_each(on, nrows, "bytes of places",
             [class_of, products = bounds.data(), bytes = lengths.data()] __device__(std::int64_t row) {
               const int c = class_of(row);  // the last time that it looks at lengths
               bytes[row] = c == 0 || c == long_class ? 0 : (products[row] * bytes_per_place(c) + 1) / 2 * 2;
             });
    keep_places(on, plan, A_, B_, C, Span<const Index, Device>(lengths));
  }
  return plan;
}

/// Never called: names both functions, so that their code is emitted here.
void instances(const Cuda& on, Plan<Device>& plan) {
  with_each_csr<Device>([&]<class Real, class Offset>(const CsrView<Real, Offset, Device>& A, Real*) {
    Csr<Real, Offset, Device> C;
    multiply(on, A, A, C, Wanted::result), find_values(on, plan, A, A, C);
  });
}

}  // namespace seidel::spgemm_detail
