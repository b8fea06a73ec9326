// Sparse products on the GPU: rows are put into classes by the number of their products, their entries are counted, and
// then the rows, in classes by their lengths, are computed where they belong.
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

/// Class 0 is merged. The others, to be counted: by how many different columns there can be, with tables that are filled
/// to three quarters at most; the last one may be too full.
constexpr int tables_to_count = 4;
SEIDEL_HD constexpr int slots_to_count(int c) { return 16 << 2 * c; }  // 64, 256, 1024, 4096
SEIDEL_HD inline int class_to_count(std::int64_t entries_of_A, std::int64_t products, std::int64_t ncols) {
  if (entries_of_A <= merge_width && products <= max_merged) return 0;
  const std::int64_t bound = products < ncols ? products : ncols;
  int c = 1;
  while (c < tables_to_count && bound > slots_to_count(c) / 4 * 3) ++c;
  return c;
}

/// Once lengths are known: with tables that are filled to a half at most. The last class is of long rows.
constexpr int long_class = Plan<Device>::nclasses - 1;
SEIDEL_HD constexpr int slots_to_compute(int c) { return 16 << c; }  // 32 ... 2048
SEIDEL_HD inline int class_to_compute(std::int64_t entries_of_A, std::int64_t products, std::int64_t length) {
  if (entries_of_A <= merge_width && products <= max_merged) return 0;
  int c = 1;
  while (c < long_class && length > slots_to_compute(c) / 2) ++c;
  return c;
}

template <class Body>
void with_lanes(int lanes, const Body& body) {
  switch (lanes) {
    case 4: return body(std::integral_constant<int, 4>());
    case 8: return body(std::integral_constant<int, 8>());
    case 16: return body(std::integral_constant<int, 16>());
    default: return body(std::integral_constant<int, 32>());
  }
}

Census found(const Cuda& on, Span<Census, Device> census) { return value_of(on, census.data()); }

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
  list_classes<<<blocks_for(nrows, 256), 256, 0, on.stream()>>>(nrows, class_of, next.data(), list.data());
  check_launch("a list of rows");
}

RowList rows_of(const Index* list, int c, const std::int64_t* begin) {
  return {list ? list + begin[c] : nullptr, begin[c + 1] - begin[c]};
}

RowList rows_of(const Plan<Device>& plan, int c) {
  return rows_of(plan.rows.empty() ? nullptr : plan.rows.data(), c, plan.begin);
}

/// Entries of each row of C.
template <class Offset>
void count_entries(const Cuda& on, const Pattern<Offset>& A, const Pattern<Offset>& B, const Index* list,
                   const std::int64_t* begin, double nonzeros_per_row_of_B, Index* lengths) {
  Scratch<Cuda> scratch(on);
  if (const RowList rows = rows_of(list, 0, begin); rows.size > 0) {
    merge_count<<<blocks_for(rows.size, merge_threads), merge_threads, 0, on.stream()>>>(A, B, rows, lengths);
    check_launch("lengths of a sparse product");
  }
  const std::int64_t largest = rows_of(list, tables_to_count, begin).size;
  const auto overflow_rows = scratch.take<Index>(largest);
  const auto overflow_size = scratch.take<unsigned long long>(1);
  cuda_check(cudaMemsetAsync(overflow_size.data(), 0, sizeof(unsigned long long), on.stream()), "lengths");
  for (int c = 1; c <= tables_to_count; ++c) {
    const RowList rows = rows_of(list, c, begin);
    if (rows.size == 0) continue;
    const int slots = slots_to_count(c);
    with_lanes(slots <= 256 ? 8 : warp_size, [&](auto lanes) {
      const TableShape shape(lanes, slots, sizeof(Index));
      const int sub = std::clamp(int(std::bit_floor(unsigned(nonzeros_per_row_of_B / 4))), 1, int(lanes));
      table_count<lanes.value><<<blocks_for(rows.size, shape.rows_per_block()), shape.threads,
                                 shape.rows_per_block() * slots * sizeof(Index), on.stream()>>>(
          A, B, rows, slots, sub, lengths, Overflow{overflow_rows.data(), overflow_size.data()});
    });
    check_launch("lengths of a sparse product");
  }
  if (largest == 0) return;
  const unsigned blocks = unsigned(std::min<std::int64_t>(largest, 2 * on.multiprocessors()));
  long_columns<Wanted::lengths, Offset><<<blocks, long_threads, 0, on.stream()>>>(
      A, B, RowList{overflow_rows.data(), largest}, overflow_size.data(), lengths, nullptr, nullptr);
  check_launch("lengths of a sparse product");
}

}  // namespace

template <class Real, class Offset>
void find_values(const Cuda& on, Plan<Device>& plan, const CsrView<Real, Offset, Device>& A_,
                 const CsrView<Real, Offset, Device>& B_, Csr<Real, Offset, Device>& C) {
  const Pattern<Offset> A(A_), B(B_);
  if (const RowList rows = rows_of(plan, 0); rows.size > 0) {
    merge_values<<<blocks_for(rows.size, merge_threads), merge_threads, 0, on.stream()>>>(
        A, A_.values.data(), B, B_.values.data(), rows, C.row_ptr.data(), C.col_idx.data(), C.values.data());
    check_launch("a sparse product");
  }
  const double b = plan.nonzeros_per_row_of_B;
  const int lanes_for_B = b <= 5 ? 4 : b <= 12 ? 8 : b <= 24 ? 16 : warp_size;
  for (int c = 1; c < long_class; ++c) {
    const RowList rows = rows_of(plan, c);
    if (rows.size == 0) continue;
    const int slots = slots_to_compute(c);
    with_lanes(std::max(lanes_for_B, slots >= 512 ? warp_size : slots / 32), [&](auto lanes) {
      constexpr int bytes = sizeof(Index) + sizeof(Real);
      const TableShape shape(lanes, slots, bytes);
      table_values<lanes.value><<<blocks_for(rows.size, shape.rows_per_block()), shape.threads,
                                  shape.rows_per_block() * slots * bytes, on.stream()>>>(
          A, A_.values.data(), B, B_.values.data(), rows, slots, C.row_ptr.data(), C.col_idx.data(), C.values.data());
    });
    check_launch("a sparse product");
  }
  if (const RowList rows = rows_of(plan, long_class); rows.size > 0) {
    long_values<<<unsigned(32 * on.multiprocessors()), warp_size, 0, on.stream()>>>(
        A, A_.values.data(), B, B_.values.data(), rows, C.row_ptr.data(), C.col_idx.data(), C.values.data());
    check_launch("a sparse product");
  }
}

template <class Real, class Offset>
Plan<Device> multiply(const Cuda& on, const CsrView<Real, Offset, Device>& A_, const CsrView<Real, Offset, Device>& B_,
                      Csr<Real, Offset, Device>& C) {
  const Pattern<Offset> A(A_), B(B_);
  const std::int64_t nrows = A.nrows, ncols = B.ncols;
  Plan<Device> plan;
  C.nrows = A.nrows, C.ncols = B.ncols;
  C.row_ptr = Array<Offset, Device>(on, nrows + 1);
  {
    Scratch<Cuda> scratch(on);
    const auto census = scratch.take<Census>(1);
    const auto bounds = scratch.take<Index>(nrows), lengths = scratch.take<Index>(nrows + 1);
    const auto clear = [&] {
      cuda_check(cudaMemsetAsync(census.data(), 0, sizeof(Census), on.stream()), "a sparse product");
    };
    const auto to_count = [A, ncols, bound = bounds.data()] __device__(std::int64_t row) {
      return class_to_count(A.row_ptr[row + 1] - A.row_ptr[row], bound[row], ncols);
    };
    clear();
    const auto look_at_products = [A, B, ncols, bound = bounds.data()] __device__(std::int64_t row) {
      std::int64_t products = 0;
      for (Offset e = A.row_ptr[row]; e < A.row_ptr[row + 1]; ++e) {
        const std::int64_t k = A.col_idx[e];
        products += B.row_ptr[k + 1] - B.row_ptr[k];
      }
      bound[row] = Index(min(products, std::int64_t(std::numeric_limits<Index>::max())));
      return Looked{class_to_count(A.row_ptr[row + 1] - A.row_ptr[row], bound[row], ncols), products};
    };
    if (nrows > 0) {
      take_census<<<blocks_for(nrows, 256), 256, 0, on.stream()>>>(nrows, look_at_products, census.data());
      check_launch("products of rows");
    }
    const Census to_be_counted = found(on, census);
    plan.products = std::int64_t(to_be_counted.amount);
    plan.nonzeros_per_row_of_B = A_.nnz() > 0 ? double(plan.products) / double(A_.nnz()) : 0;
    {
      Scratch<Cuda> inner(on);
      std::int64_t begin[tables_to_count + 2];
      Span<Index, Device> list;
      if (begins_of(to_be_counted, tables_to_count + 1, begin) > 1) {
        list = inner.take<Index>(nrows);
        list_rows(on, nrows, tables_to_count + 1, begin, to_count, list);
      }
      count_entries(on, A, B, list.data(), begin, plan.nonzeros_per_row_of_B, lengths.data());
    }

    clear();
    cuda_check(cudaMemsetAsync(lengths.data() + nrows, 0, sizeof(Index), on.stream()), "a sparse product");
    const auto to_compute = [A, bound = bounds.data(), length = lengths.data()] __device__(std::int64_t row) {
      return class_to_compute(A.row_ptr[row + 1] - A.row_ptr[row], bound[row], length[row]);
    };
    if (nrows > 0) {
      take_census<<<blocks_for(nrows, 256), 256, 0, on.stream()>>>(
          nrows,
          [to_compute, length = lengths.data()] __device__(std::int64_t row) {
            return Looked{to_compute(row), length[row]};
          },
          census.data());
      check_launch("lengths of a sparse product");
    }
    exclusive_scan(on, Span<const std::int32_t, Device>(lengths), C.row_ptr.span());
    const Census to_be_computed = found(on, census);
    const std::int64_t nnz = std::int64_t(to_be_computed.amount);
    require_countable<Offset>(nnz);
    if (begins_of(to_be_computed, Plan<Device>::nclasses, plan.begin) > 1) {
      plan.rows = Array<Index, Device>(on, nrows);
      list_rows(on, nrows, Plan<Device>::nclasses, plan.begin, to_compute, plan.rows.span());
    }
    C.col_idx = Array<Index, Device>(on, nnz);
    C.values = Array<Real, Device>(on, nnz);
  }
  if (const RowList rows = rows_of(plan, long_class); rows.size > 0) {
    const unsigned blocks = unsigned(std::min<std::int64_t>(rows.size, 2 * on.multiprocessors()));
    long_columns<Wanted::columns, Offset>
        <<<blocks, long_threads, 0, on.stream()>>>(A, B, rows, nullptr, nullptr, C.row_ptr.data(), C.col_idx.data());
    check_launch("columns of a sparse product");
  }
  find_values(on, plan, A_, B_, C);
  return plan;
}

template Plan<Device> multiply(const Cuda&, const CsrView<double, std::int32_t, Device>&,
                               const CsrView<double, std::int32_t, Device>&, Csr<double, std::int32_t, Device>&);
template void find_values(const Cuda&, Plan<Device>&, const CsrView<double, std::int32_t, Device>&,
                          const CsrView<double, std::int32_t, Device>&, Csr<double, std::int32_t, Device>&);
template Plan<Device> multiply(const Cuda&, const CsrView<double, std::int64_t, Device>&,
                               const CsrView<double, std::int64_t, Device>&, Csr<double, std::int64_t, Device>&);
template void find_values(const Cuda&, Plan<Device>&, const CsrView<double, std::int64_t, Device>&,
                          const CsrView<double, std::int64_t, Device>&, Csr<double, std::int64_t, Device>&);
template Plan<Device> multiply(const Cuda&, const CsrView<float, std::int32_t, Device>&,
                               const CsrView<float, std::int32_t, Device>&, Csr<float, std::int32_t, Device>&);
template void find_values(const Cuda&, Plan<Device>&, const CsrView<float, std::int32_t, Device>&,
                          const CsrView<float, std::int32_t, Device>&, Csr<float, std::int32_t, Device>&);
template Plan<Device> multiply(const Cuda&, const CsrView<float, std::int64_t, Device>&,
                               const CsrView<float, std::int64_t, Device>&, Csr<float, std::int64_t, Device>&);
template void find_values(const Cuda&, Plan<Device>&, const CsrView<float, std::int64_t, Device>&,
                          const CsrView<float, std::int64_t, Device>&, Csr<float, std::int64_t, Device>&);

}  // namespace seidel::spgemm_detail
