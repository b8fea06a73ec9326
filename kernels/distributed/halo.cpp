// The halo of rows: found, and cut off.
#include <seidel/kernels/distributed/halo.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

namespace {

/// The columns of other processes in rows, ascending, each once.
template <class Offset>
std::vector<Index> outside_columns(const OpenMP& on, const Csr<double, Offset>& rows, std::int64_t first,
                                   std::int64_t last) {
  std::vector<std::vector<Index>> of_part(std::size_t(std::max(1, on.threads)));
  for_shares(on, rows.nnz(), 1, [&](std::int64_t begin, std::int64_t end, int part) {
    auto& found = of_part[std::size_t(part)];
    for (std::int64_t k = begin; k < end; ++k)
      if (const Index c = rows.col_idx[k]; c < first || c >= last) found.push_back(c);
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
  });
  std::vector<Index> found;
  for (const auto& part : of_part) found.insert(found.end(), part.begin(), part.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace

template <class Offset>
void renumber(const OpenMP& on, const Halo& halo, std::int64_t first, Csr<double, Offset>& rows) {
  const Index *const outside = halo.outside.begin(), *const end = halo.outside.end();
  for_each_index(on, rows.nnz(), 1, [&](std::int64_t k) {
    Index& c = rows.col_idx[k];
    if (c >= first && c < first + halo.own)
      c = Index(c - first + halo.before);
    else
      c = Index(std::lower_bound(outside, end, c) - outside + (c < first ? 0 : halo.own));
  });
  rows.ncols = Index(halo.columns());
}

template <class Offset>
Halo find_halo(const OpenMP& on, const Processes& all, const RowShares& columns, Csr<double, Offset>& rows) {
  const std::int64_t first = columns.first(all.rank()), last = columns.first(all.rank() + 1);
  const std::vector<Index> outside = outside_columns(on, rows, first, last);
  const auto behind = std::lower_bound(outside.begin(), outside.end(), first);
  const std::size_t processes = std::size_t(all.size());
  Halo halo{.before = behind - outside.begin(),
            .own = last - first,
            .after = outside.end() - behind,
            .outside = {},
            .sent = {},
            .sends = std::vector<std::int64_t>(processes),
            .receives = std::vector<std::int64_t>(processes)};
  together(all, [&] {
    if (halo.columns() > std::numeric_limits<Index>::max())
      throw ResourceError("the rows of process " + std::to_string(all.rank()) + " have " +
                          std::to_string(halo.columns()) + " columns, expected at most 2,147,483,647");
  });
  halo.outside = Array<Index>(outside);
  renumber(on, halo, first, rows);

  for (const Index c : outside) ++halo.receives[std::size_t(columns.owner(c))];
  const std::vector<std::int64_t> one(processes, 1);
  exchange(all, halo.receives.data(), one, halo.sends.data(), one);
  std::int64_t count = 0;
  for (const std::int64_t n : halo.sends) count += n;
  halo.sent = Array<Index>(count);
  exchange(all, outside.data(), halo.receives, halo.sent.data(), halo.sends);
  for (Index& c : halo.sent) c = Index(c - first);
  return halo;
}

template <class Offset>
Csr<double, Offset> own_block(const OpenMP& on, const Halo& halo, const CsrView<double, Offset, Host>& rows) {
  const auto is_own = [&](Index c) { return c >= halo.before && c < halo.before + halo.own; };
  Csr<double, Offset> block{rows.nrows, Index(halo.own), Array<Offset>(rows.nrows + std::int64_t(1)), {}, {}};
  for_row_shares(on, rows.row_ptr, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      block.row_ptr[i + 1] = Offset(
          std::count_if(rows.col_idx.begin() + rows.row_ptr[i], rows.col_idx.begin() + rows.row_ptr[i + 1], is_own));
  });
  offsets_from_lengths(on, block.row_ptr);
  block.take_entries(on, block.row_ptr[rows.nrows]);
  for_row_shares(on, rows.row_ptr, [&](std::int64_t first, std::int64_t last) {
    Offset at = block.row_ptr[first];
    for (Offset k = rows.row_ptr[first]; k < rows.row_ptr[last]; ++k)
      if (is_own(rows.col_idx[k])) {
        block.col_idx[at] = Index(rows.col_idx[k] - halo.before);
        block.values[at++] = rows.values[k];
      }
  });
  return block;
}

template void renumber(const OpenMP&, const Halo&, std::int64_t, Csr<double, std::int32_t>&);
template void renumber(const OpenMP&, const Halo&, std::int64_t, Csr<double, std::int64_t>&);
template Halo find_halo(const OpenMP&, const Processes&, const RowShares&, Csr<double, std::int32_t>&);
template Halo find_halo(const OpenMP&, const Processes&, const RowShares&, Csr<double, std::int64_t>&);
template Csr<double, std::int32_t> own_block(const OpenMP&, const Halo&, const CsrView<double, std::int32_t, Host>&);
template Csr<double, std::int64_t> own_block(const OpenMP&, const Halo&, const CsrView<double, std::int64_t, Host>&);

}  // namespace seidel
