// ScanTrans: workers count the columns of their parts of the entries, each in a row of a table; sums down the columns of
// the table and along its last row say where each entry goes.
//
// Source  Wang, Liu, Hou, Feng, Parallel transposition of sparse data structures, ICS 2016, sec. 4.1.
#pragma once
#include <seidel/drivers/bench/rivals/transposition.hpp>
#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/primitives/scan.hpp>
#include <seidel/kernels/primitives/segments.hpp>

namespace seidel::drivers {

template <class B>
struct ScanTrans {
  std::int64_t nworkers = 0;
  Array<Index, SpaceOf<B>> rows;          // of each entry
  Array<std::int32_t, SpaceOf<B>> table;  // nworkers + 1 rows of ncols + 1; row w + 1 belongs to worker w
  Array<std::int32_t, SpaceOf<B>> rank;   // of each entry among those of its column and worker
};

/// Entries of worker w are even_share(nnz, w, nworkers).
template <class B>
using ScanTransOn = Transposition<B, ScanTrans<B>>;

template <class B, class Run>
Prepared scan_trans(const TransposeTask& task, const Where& where, std::int64_t nworkers, Run run) {
  const auto o = std::make_shared<ScanTransOn<B>>(task, where);
  const std::int64_t n = o->A.nnz(), table = (nworkers + 1) * (o->A.ncols + std::int64_t(1));
  o->kept.nworkers = nworkers;
  o->kept.rows = Array<Index, SpaceOf<B>>(o->on, n);
  o->kept.table = Array<std::int32_t, SpaceOf<B>>(o->on, table);
  o->kept.rank = Array<std::int32_t, SpaceOf<B>>(o->on, n);
  return prepared(o, 8 * n + 4 * table, run);
}

}  // namespace seidel::drivers
