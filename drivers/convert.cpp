// seidel convert: any matrix in, a clean Matrix Market file out.
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/arrange.hpp>
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

/// All entries, column by column.
void write_array(const std::string& path, const CsrView<double, std::int64_t, Host>& A, const WriteOptions& options) {
  const std::int64_t entries = std::int64_t(A.nrows) * A.ncols, available = available_bytes(Host{});
  if (entries > available / 8)
    throw ResourceError(formatted(
        "--format array: {} x {} are {} entries, {} of memory, {} are free\n  --format coordinate writes the {} only",
        count(A.nrows), count(A.ncols), count(entries), human_bytes(8 * entries), human_bytes(available),
        plural(A.nnz(), "nonzero")));
  Array<double> dense(entries, 0.0);
  for (std::int64_t i = 0; i < A.nrows; ++i)
    for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      dense[A.col_idx[k] * std::int64_t(A.nrows) + i] = A.values[k];
  std::vector<HostSpan<const double>> columns;
  for (std::int64_t j = 0; j < A.ncols; ++j)
    columns.push_back(std::as_const(dense).span().subspan(j * A.nrows, A.nrows));
  if (columns.empty())
    write_text(path, formatted("%%MatrixMarket matrix array real general\n{} 0\n", A.nrows));
  else
    write_vectors(path, columns, options);
}

/// The matrix of IN, as --real-form wants it. Errors  InputError if that is not for this file.
LoadedMatrix load(const ConvertOptions& options) {
  using Complex = ReadOptions::Complex;
  LoadedMatrix loaded = load_matrix(options.in, options, options.repair, {},
                                    options.real_form ? Complex::as_real_form : Complex::refused);
  if (options.real_form && !(loaded.file && loaded.file->field == Field::complex))
    throw InputError(
        formatted("{}: found real numbers, expected a complex file\n  leave --real-form out", loaded.name));
  for (const auto& note : notes(loaded)) say(options, loaded.name + ": " + note);
  return loaded;
}

void transpose_whole(const OpenMP& host, Csr<double, std::int64_t>& A) {
  require_memory(12 * A.nnz() + max_transpose_workspace(A.nrows, A.ncols, A.nnz()) + 8 * (std::int64_t(A.ncols) + 1),
                 "--transpose", "the matrix and its transpose are both held: use a larger machine");
  A = transpose(host, A.view());
}

/// Brings large entries to the diagonal of the matrix. Returns its rows in their new order.
Array<Index> permute_diagonal(LoadedMatrix& loaded) {
  auto& A = loaded.matrix;
  require_memory((12 + 28) * A.nnz() + 70 * std::int64_t(A.nrows), "--permute-diagonal", "use a larger machine");
  if (A.nrows != A.ncols)
    throw InputError(
        formatted("{}: found {} rows and {} columns, expected as many rows as columns\n"
                  "  only a square matrix has all of a diagonal: leave --permute-diagonal out",
                  loaded.name, count(A.nrows), count(A.ncols)));
  Matching found = max_product_matching(A.view());
  if (found.matched < A.nrows)
    throw InputError(
        formatted("{}: found nonzero entries for {} of {} places on the diagonal, expected all\n"
                  "  it is singular, whatever its entries are: is an equation missing, or present twice?",
                  loaded.name, count(found.matched), count(A.nrows)));
  Arrangement order{.row_of = std::move(found.arrangement.row_of)};  // without the scales that were found, too
  A = arranged(A.view(), order);
  return std::move(order.row_of);
}

Json json_of(const ConvertOptions& options, const LoadedMatrix& loaded, const Array<Index>& rows, Symmetry symmetry) {
  Json json = json_document("seidel.convert/1", options.command_line);
  json.set("matrix", matrix_json(loaded)).set("transposed", options.transpose);
  json.set("real_form", options.real_form).set("format", options.form);
  Json order = json_list(rows, [](Index row) { return Json(std::int64_t(row) + 1); });
  json.set_if(!rows.empty(), "rows", std::move(order));
  json.set("symmetry", name(symmetry)).set("out", options.out);
  return json;
}

}  // namespace

int run(const ConvertOptions& options) {
  const bool array = options.form == "array";
  const OpenMP host = host_threads(options);
  LoadedMatrix loaded = load(options);
  const auto& A = loaded.matrix;

  const Stopwatch converting;
  if (options.transpose) transpose_whole(host, loaded.matrix);
  Array<Index> rows;  // in the order in which they are written; empty: as they are
  if (options.permute_diagonal) {
    rows = permute_diagonal(loaded);
    if (!std::ranges::is_sorted(rows))
      say(options, "the rows are in another order; b needs the same one, which --json FILE lists as \"rows\"");
  }
  // What was one triangle in the file stays one triangle, as long as the matrix has that symmetry.
  WriteOptions write;
  write.threads = host.threads;
  if (!array) write.symmetry = exact_symmetry(A.view(), host.threads);
  const double convert_seconds = converting.seconds();
  const Stopwatch writing;
  if (array)
    write_array(options.out, A.view(), write);
  else
    write_matrix_market(options.out, A.view(), write);
  const double write_seconds = writing.seconds();

  print_written(options, options.out, loaded.name,
                formatted("{} x {}, {}, {}; {} {}, converting {}, writing {}", count(A.nrows), count(A.ncols),
                          plural(A.nnz(), "nonzero"), name(write.symmetry), loaded.file ? "reading" : "generating",
                          human_seconds(loaded.seconds), human_seconds(convert_seconds), human_seconds(write_seconds)));
  if (options.json.empty()) return 0;
  Json json = json_of(options, loaded, rows, write.symmetry);
  json.set("seconds", Json().set("read", loaded.seconds).set("convert", convert_seconds).set("write", write_seconds));
  write_text(options.json, json.text());
  return 0;
}

}  // namespace seidel::drivers
