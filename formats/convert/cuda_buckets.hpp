// A transposition by buckets of neighbouring columns: all entries go to buckets, and each bucket is sorted in shared memory.
#pragma once
#include <functional>

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

/// Words of the staging memory before this one are free for `known`.
inline constexpr int staging_of_counts = 40;

/// What is known of A after some of its rows were looked at.
struct Known {
  bool is_done = false;  // by another way
  double crowding = 1;   // how many times more entries than the average the fullest range of columns has, if known
};

/// Fills the arrays `to_...`. Returns the bytes of scratch memory taken at the same time: per entry 0.3 or 0.6 where columns
/// are evenly filled, 2.3 to 2.7 where they are not and A has no more than about 40 million entries, else 7; some megabytes
/// more where A has more columns than entries. known, if any: called once, before anything is written; it may wait for the
/// launch before this call, which reads A at most and calls let_next_begin(): few entries are counted meanwhile.
/// Waits once or twice; where A is large, about once for each 8 million entries. Value is std::uint32_t or std::uint64_t.
template <class Value, class Offset>
std::int64_t transpose_by_buckets(const Cuda& on, const Transposing<Value, Offset>& of,
                                  const std::function<Known()>& known);

}  // namespace seidel::convert_detail
