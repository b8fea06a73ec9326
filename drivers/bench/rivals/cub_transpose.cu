// CUB's radix sort as a transposition: the columns sorted with the numbers of their entries, then rows and values
// fetched.
#include <bit>

#include <cub/device/device_radix_sort.cuh>

#include <seidel/drivers/bench/rivals/transposition.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>
#include <seidel/formats/runtime/search.hpp>

namespace seidel::drivers {

namespace {

struct Kept {
  Array<Index, Device> numbers, rows, sorted, places;
  Array<std::byte, Device> memory;
};
using On = Transposition<Cuda, Kept>;

/// With no memory it says how many `bytes` it needs.
void sort(On& o, void* memory, std::size_t& bytes) {
  const int bits = std::max(1, int(std::bit_width(std::uint32_t(std::max(o.A.ncols, 1) - 1))));
  cuda_check(
      cub::DeviceRadixSort::SortPairs(memory, bytes, o.A.col_idx.data(), o.kept.sorted.data(), o.kept.numbers.data(),
                                      o.kept.places.data(), o.A.nnz(), 0, bits, o.on.stream()),
      "CUB's sort");
}

void run(On& o) {
  std::size_t bytes = std::size_t(o.kept.memory.size());
  cuda::for_each(o.on, o.A.nnz(), "numbering entries",
                 [p = o.kept.numbers.data()] __device__(std::int64_t k) { p[k] = Index(k); });
  sort(o, o.kept.memory.data(), bytes);
  cuda::for_each(o.on, o.A.nrows, "expanding rows", [A = o.A, rows = o.kept.rows.data()] __device__(std::int64_t i) {
    for (auto k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) rows[k] = Index(i);
  });
  cuda::for_each(o.on, o.A.ncols + std::int64_t(1), "finding columns",
                 [sorted = o.kept.sorted.data(), n = o.A.nnz(), ptr = o.T.row_ptr.data()] __device__(std::int64_t j) {
                   ptr[j] = std::int32_t(count_below(sorted, n, j));
                 });
  cuda::for_each(o.on, o.A.nnz(), "fetching entries",
                 [A = o.A, rows = o.kept.rows.data(), places = o.kept.places.data(), to = o.T.col_idx.data(),
                  values = o.T.values.data()] __device__(std::int64_t k) {
                   const Index from = places[k];
                   to[k] = rows[from];
                   values[k] = A.values[from];
                 });
}

Prepared prepare(const TransposeTask& task, const Where& where) {
  const auto o = std::make_shared<On>(task, where);
  for (auto* array : {&o->kept.numbers, &o->kept.rows, &o->kept.sorted, &o->kept.places})
    *array = Array<Index, Device>(o->on, o->A.nnz());
  std::size_t bytes = 0;
  sort(*o, nullptr, bytes);
  o->kept.memory = Array<std::byte, Device>(o->on, std::int64_t(bytes) + 1);
  return prepared(o, std::int64_t(bytes) + 16 * o->A.nnz(), run);
}

}  // namespace

std::vector<Rival> cub_transpose_rivals() {
  return {{&kernels::transpose, "csr", BackendName::cuda, "cub", Role::baseline,
           "cub::DeviceRadixSort of columns with numbers of entries, then a gather", prepare}};
}

}  // namespace seidel::drivers
