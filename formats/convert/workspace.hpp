// What a transposition takes besides its result, for those who plan memory.
#pragma once
#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// Cuda takes at most so many bytes: what a sort by digits of the columns takes, and buckets take less.
constexpr std::int64_t max_transpose_bytes(std::int64_t ncols, std::int64_t nnz) {
  constexpr std::int64_t counts_of_one_tile = 1 << 16;
  return (ncols <= 1 << 10 ? 2 : ncols <= 1 << 20 ? 17 : 33) * nnz + counts_of_one_tile;
}

}  // namespace seidel
