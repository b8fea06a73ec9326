// Array files: every entry is listed, column by column, so its place is known from its number.
#include <seidel/formats/matrix_market/passes.hpp>

namespace seidel::mm {

namespace {

template <Field field>
const char* quick_line(const char* p, double& value) {
  p = quick_value<field>(skip_blanks(p), value);
  return p ? quick_end(p) : nullptr;
}

}  // namespace

Csr<double, std::int64_t> read_array(const Reading& reading) {
  const Header& header = reading.header;
  const Chunks chunks(reading.source, header, reading.options);
  const std::int64_t nrows = header.nrows, ncols = header.ncols;
  const bool general = header.symmetry == Symmetry::general, skew = header.symmetry == Symmetry::skew_symmetric;

  const std::int64_t width = skew ? std::max<std::int64_t>(0, ncols - 1) : ncols;  // entries per row
  const std::int64_t nnz = nrows * width;
  if (nnz > INT64_MAX / 16)
    throw ResourceError(reading.source.file() + ": out of memory: " + std::to_string(nnz) + " entries");
  reading.require((nrows + 1) * 8 + nnz * 12);
  auto A = Csr<double, std::int64_t>::uninitialised(reading.on(), Index(nrows), Index(ncols), nnz);
  parallel_for(reading.on(), nrows + 1, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      A.row_ptr[row] = row * width;
      if (row == nrows) break;
      for (std::int64_t k = 0; k < width; ++k) A.col_idx[row * width + k] = Index(k + (skew && k >= row));
    }
  });

  std::vector<ValueCounts> parts(std::size_t(reading.on().threads));
  std::atomic<bool> good = true;
  const auto work = [&](std::int64_t, const Chunks::Chunk& lines, int part) {
    ArrayPlace at(header, lines.first_entry);
    ValueCounts mine;
    const auto quick = [&](const char* line, Entry& e) {
      return header.field == Field::integer ? quick_line<Field::integer>(line, e.value)
                                            : quick_line<Field::real>(line, e.value);
    };
    const auto put = [&](const Entry& e) {
      if (at.col >= ncols) return false;  // the file changed meanwhile
      A.values[at.row * width + at.col - (skew && at.col > at.row)] = e.value;
      if (!general && at.row != at.col)
        A.values[at.col * width + at.row - (skew && at.row > at.col)] = skew ? -e.value : e.value;
      at.next();
      return true;
    };
    if (!each_entry(header, chunks.fence(), lines.first, lines.last, mine, quick, put)) good = false;
    parts[std::size_t(part)].add(mine);
    return good.load();
  };
  if (chunks.for_each_numbered(reading.on(), header.entries, work) != header.entries || !good) reading.explain();
  reading.source.check_unchanged();
  reading.report_values(ValueCounts::sum(parts));
  return A;
}

}  // namespace seidel::mm
