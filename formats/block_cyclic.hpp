// Rows or columns in blocks, which go to the parts in turn.
#pragma once
#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// 0 ... n - 1 in blocks of `block`; block number q belongs to part q mod nparts. The last block may be short.
/// Source  Blackford and others, ScaLAPACK users' guide, SIAM 1997, sec. 4.3 (there called NUMROC and INDXL2G).
struct BlockCyclic {
  std::int64_t n = 0, block = 1;
  int nparts = 1;

  std::int64_t nblocks() const { return (n + block - 1) / block; }
  int owner(std::int64_t q) const { return int(q % nparts); }
  /// How many elements block q has.
  std::int64_t size(std::int64_t q) const { return q + 1 < nblocks() ? block : n - q * block; }
  /// Where block q begins among the elements of its owner.
  std::int64_t place(std::int64_t q) const { return q / nparts * block; }
  /// How many elements a part has.
  std::int64_t count(int part) const {
    const std::int64_t whole = n / block, rest = n % block, turns = whole / nparts;
    return turns * block + (part < whole % nparts ? block : part == whole % nparts ? rest : 0);
  }
  /// Which element a part's element number `local` is.
  std::int64_t global(int part, std::int64_t local) const {
    return (local / block * nparts + part) * block + local % block;
  }
};

}  // namespace seidel
