// seidel generate: a generated matrix as a file.
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/option_values.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/dense_file/dense_file.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

constexpr std::string_view dense = "dense:";

/// "dense:MxN"
DenseShape dense_shape(const std::string& spec) {
  std::int64_t extents[2];
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (!read_extents(std::string_view(spec).substr(dense.size()), extents) || std::min(extents[0], extents[1]) < 0 ||
      std::max(extents[0], extents[1]) > most)
    throw UsageError(formatted("{}: found '{}', expected MxN, whole numbers from 0 to {}: dense:1000x64", spec,
                               spec.substr(dense.size()), most));
  return {extents[0], extents[1]};
}

Json json_of(const GenerateOptions& options, std::int64_t nrows, std::int64_t ncols, std::int64_t nnz) {
  Json json = json_document("seidel.generate/1", options.command_line);
  json.set("spec", options.spec).set("seed", std::to_string(options.seed));  // a string: JSON numbers hold 53 bits
  json.set("out", options.out).set("rows", nrows).set("columns", ncols).set("nonzeros", nnz);
  return json;
}

int run_dense(const GenerateOptions& options) {
  const DenseHead head{dense_shape(options.spec), options.fp32 ? Precision::fp32 : Precision::fp64};
  const DenseShape& shape = head.shape;
  const Stopwatch writing;
  write_random_dense(options.out, head, options.seed);
  const double seconds = writing.seconds();
  print_written(options, options.out, options.spec,
                formatted("dense, {}, {} x {}, written in {}", to_string(head.precision), count(shape.nrows),
                          count(shape.ncols), human_seconds(seconds)));
  if (options.json.empty()) return 0;
  Json json = json_of(options, shape.nrows, shape.ncols, shape.nrows * shape.ncols);
  json.set("precision", to_string(head.precision)).set("seconds", Json().set("write", seconds));
  write_text(options.json, json.text());
  return 0;
}

}  // namespace

int run(const GenerateOptions& options) {
  const auto points = options.coordinates.empty() ? Csr<double, std::int64_t>() : generate_coordinates(options.spec);
  if (options.spec.starts_with(dense)) return run_dense(options);
  if (options.fp32) throw UsageError("--fp32: a Matrix Market file is text; only dense:MxN has a precision");
  const OpenMP host = host_threads(options);
  const Stopwatch generating;
  const auto A = generate(host, options.spec, options.seed);
  const double generate_seconds = generating.seconds();
  const Stopwatch writing;
  WriteOptions write{.symmetry = exact_symmetry(A.view(), host.threads), .threads = host.threads};
  write.comment = formatted("seidel generate {}{}", options.spec,
                            is_random(options.spec) ? formatted(" --seed {}", options.seed) : "");
  write_matrix_market(options.out, A.view(), write);
  if (!options.coordinates.empty()) {
    const std::string comment = formatted("seidel generate {} --coordinates", options.spec);
    write_matrix_market(options.coordinates, points.view(), {.comment = comment, .threads = host.threads});
  }
  const double write_seconds = writing.seconds();

  print_written(options, options.out, options.spec,
                formatted("{} x {}, {}, {}; generated in {}, written in {}", count(A.nrows), count(A.ncols),
                          plural(A.nnz(), "nonzero"), name(write.symmetry), human_seconds(generate_seconds),
                          human_seconds(write_seconds)));
  if (options.out != "-")
    print(options, formatted("next:   {}\n", same_program(options.command_line, "info " + quoted(options.out))));
  if (!options.json.empty()) {
    Json json = json_of(options, A.nrows, A.ncols, A.nnz());
    json.set("symmetry", name(write.symmetry));
    json.set("seconds", Json().set("generate", generate_seconds).set("write", write_seconds));
    write_text(options.json, json.text());
  }
  return 0;
}

}  // namespace seidel::drivers
