// ScanTrans on the host: a worker is a thread.
#include <seidel/drivers/bench/rivals/scan_trans.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::drivers {

namespace {

void run(ScanTransOn<OpenMP>& o) {
  ScanTrans<OpenMP>& k = o.kept;
  const std::int64_t nnz = o.A.nnz(), width = o.A.ncols + std::int64_t(1);
  const int nworkers = int(k.nworkers);
  pointers_to_indices(o.on, o.A.row_ptr, k.rows.span());
  const auto row_of = [&](std::int64_t worker) { return k.table.data() + worker * width; };
  for_each_in_turn(o.on, nworkers + 1, [&](std::int64_t row, int) { std::fill(row_of(row), row_of(row) + width, 0); });
  for_each_in_turn(o.on, nworkers, [&](std::int64_t worker, int) {
    std::int32_t* const counts = row_of(worker + 1);
    const Range mine = even_share(nnz, int(worker), nworkers);
    for (std::int64_t e = mine.first; e < mine.last; ++e) k.rank[e] = counts[o.A.col_idx[e]]++;
  });
  for_shares(o.on, width, nworkers, [&](std::int64_t first, std::int64_t last, int) {
    for (int worker = 0; worker < nworkers; ++worker)
      for (std::int64_t c = first; c < last; ++c) row_of(worker + 1)[c] += row_of(worker)[c];
  });
  exclusive_scan(o.on, HostSpan<const std::int32_t>(row_of(nworkers), width), o.T.row_ptr.span());
  for_each_in_turn(o.on, nworkers, [&](std::int64_t worker, int) {
    const std::int32_t* const before = row_of(worker);
    const Range mine = even_share(nnz, int(worker), nworkers);
    for (std::int64_t e = mine.first; e < mine.last; ++e) {
      const Index c = o.A.col_idx[e];
      const std::int32_t at = o.T.row_ptr[c] + before[c] + k.rank[e];
      o.T.col_idx[at] = k.rows[e];
      o.T.values[at] = o.A.values[e];
    }
  });
}

Prepared prepare(const TransposeTask& task, const Where& where) {
  return scan_trans<OpenMP>(task, where, where.openmp.threads, run);
}

}  // namespace

std::vector<Rival> scan_trans_rivals() {
  return {{&kernels::transpose, "csr", BackendName::openmp, "scantrans", Role::exact,
           "ScanTrans: columns counted by each thread, then scanned", prepare}};
}

}  // namespace seidel::drivers
