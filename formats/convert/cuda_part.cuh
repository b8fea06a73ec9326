// Some entries of a matrix that is transposed, and the memory taken for it.
#pragma once
#include <seidel/formats/convert/cuda_buckets.hpp>
#include <seidel/formats/runtime/scratch.hpp>

namespace seidel::convert_detail {

/// All entries of columns first_column ... first_column + ncols - 1, those of a column in the order of their rows. Arrays
/// begin with the part: to_ptr[0] is that of its first column, to_idx[0] the place of its first entry.
template <class Value, class Offset>
struct Part : Transposing<Value, Offset> {
  const Index* rows = nullptr;  // of entries; null: A itself, whose row pointers tell them
  Index first_column = 0;
  std::int64_t before = 0;  // entries of lower columns
};

/// Bytes of scratch memory: now, and the most at any time.
struct Workspace {
  std::int64_t bytes = 0, max_bytes = 0;
};

/// Scratch memory for a scope, which counts.
struct Room {
  Workspace& of;
  Scratch<Cuda> scratch;
  std::int64_t bytes = 0;

  Room(const Cuda& on, Workspace& of_) : of(of_), scratch(on) {}
  ~Room() { of.bytes -= bytes; }
  Room(const Room&) = delete;
  template <class T>
  T* take(std::int64_t n) {
    const std::int64_t more = n * std::int64_t(sizeof(T));
    bytes += more;
    of.bytes += more;
    of.max_bytes = std::max(of.max_bytes, of.bytes);
    return scratch.take<T>(n).data();
  }
};

}  // namespace seidel::convert_detail
