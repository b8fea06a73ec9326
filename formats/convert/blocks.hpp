// When a matrix consists of full blocks, and what is said of one that does not; the same on every back end.
#pragma once
#include <string>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::convert_detail {

/// Whether entry k of the first row of row of blocks I stands where a full block has it, and so do those of the other
/// rows. Entry -1 asks about their lengths.
template <int block, class Real, class Offset, MemorySpace Space>
SEIDEL_HD bool entry_fits_block(const CsrView<Real, Offset, Space>& A, std::int64_t I, std::int64_t k) {
  const Offset* const ptr = A.row_ptr.data() + I * block;
  const std::int64_t length = ptr[1] - ptr[0];
  if (k < 0) {
    bool fits = length % block == 0;
    for (int r = 1; r < block; ++r) fits = fits && ptr[r + 1] - ptr[r] == length;
    return fits;
  }
  const Index* const first = A.col_idx.data() + ptr[0];
  const Index expected = first[k - k % block] + Index(k % block);
  bool fits = first[k - k % block] % block == 0;
  for (int r = 0; r < block; ++r) fits = fits && first[r * length + k] == expected;
  return fits;
}

[[noreturn]] inline void refuse_blocks(int block, std::int64_t nrows, std::int64_t ncols, std::int64_t row_of_blocks) {
  const std::string b = std::to_string(block), size = b + " x " + b;
  std::string found = std::to_string(nrows) + " x " + std::to_string(ncols) + " entries, expected multiples of " + b;
  if (row_of_blocks >= 0)
    found = "a block with gaps in rows " + std::to_string(row_of_blocks * block + 1) + " to " +
            std::to_string((row_of_blocks + 1) * block) + ", expected full blocks of " + size;
  throw ResourceError("to_bsr: found " + found + "\n  keep CSR, or store the zeros of each block");
}

}  // namespace seidel::convert_detail
