// A transposition by stable distributions of all entries by digits of their column, the lowest first: a radix sort that
// carries rows and values along, for any distribution of lengths.
#pragma once
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel::convert_detail {

/// Values are moved, never looked at: 4 or 8 bytes each. No values (null): the structure alone.
template <class Value, class Offset>
struct Transposing {
  Index nrows = 0, ncols = 0;
  std::int64_t nnz = 0;
  const Offset* row_ptr = nullptr;
  const Index* col_idx = nullptr;
  const Value* values = nullptr;
  Offset* to_ptr = nullptr;
  Index* to_idx = nullptr;
  Value* to_values = nullptr;
};

/// Fills the arrays `to_...`. Returns the bytes of scratch memory taken. Does not wait.
/// Value is std::uint32_t or std::uint64_t.
/// Source  Adinets, Merrill, Onesweep: a faster least significant digit radix sort for GPUs, arXiv:2206.01784, 2022.
template <class Value, class Offset>
std::int64_t transpose_by_distribution(const Cuda& on, const Transposing<Value, Offset>& of);

}  // namespace seidel::convert_detail
