// seidel info: what a matrix is like, and what that means for solving.
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/levels.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/drivers/report/spy.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_problem.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/lattice.hpp>
#include <seidel/formats/properties.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/quantity.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>
#include <seidel/formats/statistics.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/products/formats.hpp>
#include <seidel/solvers/choose_method.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel::drivers {

namespace {

struct NamedSize {
  std::string_view name, title;
  FormatSize size;
};

/// A preconditioner that was made to be told of.
struct Trial {
  std::string_view name;
  std::string description;
  std::int64_t bytes;  // 0: not known
  std::vector<LevelFacts> levels;
  double seconds;
  std::string where;  // the GPU, or the number of threads
};

struct InfoStory {
  const LoadedMatrix& loaded;
  MatrixProperties properties;
  RowStatistics rows;
  FormatBytes bytes;
  std::vector<NamedSize> sizes;  // in each product format whose size is known before it is made
  std::string products;          // how solvers would compute A x on the host, and why
  Lattice lattice = {};          // nx = 0: none
  Questions questions = {};      // as solve() asks them
  double seconds = 0;            // of looking
  std::optional<Trial> made = {};

  bool negated() const { return is_negated(properties, rows); }
};

std::string symmetry_text(const MatrixProperties& p) {
  if (!p.square) return "none: not square";
  if (p.symmetric) return p.skew ? "symmetric and skew-symmetric: zero" : "symmetric, exactly";
  if (p.skew) return "skew-symmetric, exactly: a_ij = -a_ji";
  const std::string largest =
      formatted(": the largest |a_ij - a_ji| is {} of the largest entry", brief(p.symmetry_error));
  if (p.nearly_symmetric) return "symmetric but for rounding" + largest;
  std::string text = p.pattern_symmetric ? "the pattern is symmetric, the values are not" : "not symmetric";
  if (p.one_triangle_only)
    return text + ": all entries are on one side of the diagonal; is this half of a symmetric matrix?";
  if (p.nonfinite) return text + ", or cannot be told: NaN is not even equal to itself";
  return text + largest;
}

std::string diagonal_text(const MatrixProperties& p) {
  std::string text;
  const auto add = [&](std::int64_t n, const char* what) {
    if (n > 0) text += formatted("{}{} {}", text.empty() ? "" : ", ", count(n), what);
  };
  add(p.diagonal_positive, "positive");
  add(p.diagonal_negative, "negative");
  add(p.diagonal_zero, "zero");
  add(p.diagonal_missing, "not stored");
  if (p.first_bad_diagonal >= 0) text += formatted("; the first without is in row {}", p.first_bad_diagonal + 1);
  return text.empty() ? "none" : text;
}

/// What the entries alone prove or exclude.
std::string definiteness(const InfoStory& story) {
  const auto& p = story.properties;
  if (!p.square) return "not square";
  if (p.nonfinite > 0) return "unknown: it has entries that are NaN or infinite";
  if (story.rows.nrows == 0) return "empty";
  if (story.rows.empty_rows > 0) return "singular: it has empty rows";
  if (p.zero_row_sums == story.rows.nrows) return "singular: every row sums to zero, so A * ones = 0";
  if (!p.nearly_symmetric) return p.skew ? "x'Ax = 0 for all x: skew-symmetric" : "unknown: not symmetric";
  if (p.diagonal_positive == story.rows.nrows && !p.symmetric)
    return "perhaps positive definite: symmetric but for rounding, with a positive diagonal";
  if (p.diagonal_positive == story.rows.nrows) {
    if (p.strictly_dominant_rows == story.rows.nrows)
      return "positive definite: symmetric, its diagonal positive and strictly dominant";
    if (p.weakly_dominant_rows == story.rows.nrows)
      return "positive semidefinite at least: symmetric, its diagonal positive and dominant";
    return "perhaps positive definite: symmetric with a positive diagonal";
  }
  if (p.diagonal_negative == story.rows.nrows)
    return "perhaps negative definite: symmetric with a negative diagonal; -A may be positive definite";
  return "not positive definite: its diagonal is not positive everywhere";
}

std::string share(std::int64_t part, std::int64_t whole) {
  return whole == 0 ? "none" : part == whole ? "all rows" : formatted("{} of {} rows", count(part), count(whole));
}

std::string memory_of(const FormatSize& size, const char* remark = "") {
  if (!size.bytes) return "cannot be: sizes overflow";
  std::string text = human_bytes(*size.bytes);
  if (size.places_per_entry > 1.005) text += formatted(", {:.2f} places per entry", size.places_per_entry);
  if (!size.refusal.empty()) text += ": refused, " + size.refusal;
  return text + remark;
}

/// Whether a reader wants to know: formats that the structure of the matrix rules out are no news.
bool worth_a_line(const NamedSize& format) { return format.size.bytes || format.size.refusal.empty(); }

/// How solvers compute A x on the host, and why.
std::string products_text(const OpenMP& host, const CsrView<double, std::int64_t, Host>& A, const RowStatistics& rows) {
  const Product product(host, A);
  const std::string form = formatted("{}, {:.3g} bytes per nonzero", product.describe(), product.bytes_per_nonzero());
  if (product.has_kinds()) return form + ": each row has a number, and its entries stand in a dictionary";
  if (rows.max > short_sum)
    return form + formatted(": rows of more than {} entries are added in {} lanes", short_sum, sum_lanes);
  return form + ": its rows are of too many kinds for a dictionary";
}

/// What solve would take for this request. Errors  as that.
MethodChoice choice_for(const InfoStory& story, const MethodRequest& request) {
  MatrixProperties p = story.properties;
  if (story.negated()) std::swap(p.diagonal_positive, p.diagonal_negative);
  MethodChoice choice = choose_method(p, story.rows, request, story.questions);
  if (story.negated()) choice.reason = negated_because + choice.reason;
  return choice;
}

/// The preconditioner of A, or of the -A that solve would solve with. Errors  as choice_for().
Trial made_as_asked(const Placement& where, CsrView<double, std::int64_t, Host> A, const InfoStory& story,
                    const MethodRequest& request) {
  const MethodChoice choice = choice_for(story, request);
  Array<double> negated;
  if (story.negated()) {
    negated = Array<double>(A.nnz());
    std::ranges::transform(A.values, negated.begin(), std::negate());
    A.values = negated;
  }
  return with_backend(where, [&]<Backend B>(const B& on) {
    Csr<double, std::int64_t, SpaceOf<B>> kept;
    const auto there = brought_to(on, A, kept);
    const Stopwatch making;
    auto made = make_preconditioner<B, std::int64_t>(on, {.here = A, .there = there}, choice);
    on.synchronize();
    return Trial{.name = choice.preconditioner_name(),
                 .description = made.M.describe(),
                 .bytes = made.M.bytes(),
                 .levels = std::move(made.levels),
                 .seconds = making.seconds(),
                 .where = HostBackend<B> ? plural(where.threads, "thread") : where.device};
  });
}

void add_made(Lines& lines, const Trial& made, const Paint& paint) {
  lines.blank();
  lines.item("preconditioner",
             formatted("{}{}, made in {} on {}", made.description, made.bytes > 0 ? ", " + human_bytes(made.bytes) : "",
                       human_seconds(made.seconds), made.where));
  add_levels(lines, made.levels, paint);
}

Json made_json(const Trial& made) {
  Json json;
  json.set("name", made.name).set("description", made.description).set("seconds", made.seconds);
  json.set("where", made.where);
  json.set_if(made.bytes > 0, "bytes", made.bytes);
  set_levels(json, made.levels);
  return json;
}

/// How a GPU computes A x from CSR.
std::string gpu_products_text(const RowStatistics& rows) {
  const int longest = spmv_detail::longest_unlisted_row(rows.nrows, rows.nnz);
  std::string text =
      formatted("from CSR, {:.3g} per row: {}", rows.mean, spmv_detail::described_unprepared(rows.nrows, rows.nnz));
  if (rows.max > longest)
    text += formatted("; rows of more than {}: a warp for each {} entries", longest, count(sum_block));
  if (spmv_detail::unprepared_way(rows.nrows, rows.nnz) == spmv_detail::UnpreparedWay::staged_if_regular)
    text += "; if neighbouring rows differ in length or lie far apart: a warp for each share of the entries";
  return text;
}

/// When solve takes factors first; whether they are cheap takes their count, which is not made here.
std::string or_factors(const InfoStory& story) {
  if (story.rows.empty_rows > 0) return "";
  if (story.properties.first_bad_diagonal >= 0)
    return "where factors of A are cheap; otherwise solve makes the preconditioner of A with its rows in another "
           "order, without zeros on the diagonal";
  return story.rows.mean <= 4 ? "where factors of A cost less than 50 iterations: rows have 4 nonzeros or fewer" : "";
}

/// What to do with it, which comes first.
void add_advice(Lines& lines, const InfoStory& story, const InfoOptions& options) {
  const auto& p = story.properties;
  const std::string repair = options.repair ? " --repair" : "";
  if (story.loaded.file && story.loaded.file->field == Field::complex) {
    lines.raw("next:   " + same_program(options.command_line, "convert " + quoted(options.matrix) +
                                                                  " REAL.mtx --real-form   # the real system to solve; "
                                                                  "likewise for b"));
  } else if (p.nonfinite > 0) {
    lines.raw("next:   correct the entries that are NaN or infinite; seidel solve refuses them");
  } else if (!p.square) {
    lines.raw("next:   " +
              same_program(options.command_line, "solve " + quoted(options.matrix) + repair +
                                                     " --least-squares   # the x with the least ||b - Ax||"));
  } else {
    lines.item("solve with", choice_for(story, {}).reason);
    if (const std::string other = or_factors(story); !other.empty()) lines.item("or direct", other);
    lines.raw("next:   " + same_program(options.command_line, "solve " + quoted(options.matrix) + repair));
  }
}

/// What the matrix is like.
void add_looks(Lines& lines, const InfoStory& story) {
  const MatrixProperties& p = story.properties;
  const RowStatistics& rows = story.rows;
  const double all = double(rows.nrows) * double(rows.ncols);
  lines.item("size", formatted("{} x {}, {}{}", count(rows.nrows), count(rows.ncols), plural(rows.nnz, "nonzero"),
                               all > 0 ? formatted(" ({:.3g} % of all entries)", 100 * double(rows.nnz) / all) : ""));
  if (story.loaded.file) {
    const ReadReport& file = *story.loaded.file;
    lines.item("file", formatted("{} {} {}, {} listed, {}", name(file.layout), name(file.field), name(file.symmetry),
                                 plural(file.entries, "entry", "entries"),
                                 human_bytes(file.file_bytes ? file.file_bytes : file.text_bytes)));
  }
  for (const auto& note : notes(story.loaded)) lines.item("", note);
  lines.item("symmetry", symmetry_text(p));
  lines.item("diagonal", diagonal_text(p));
  lines.item("dominance",
             formatted("|a_ii| >= the rest of its row in {}, > in {}", share(p.weakly_dominant_rows, rows.nrows),
                       share(p.strictly_dominant_rows, rows.nrows)));
  lines.item("definiteness", definiteness(story));
  if (p.zero_row_sums > 0) lines.item("row sums", formatted("zero in {}", share(p.zero_row_sums, rows.nrows)));
  lines.item("rows", formatted("{} to {}, mean {:.2f}, variance {:.4g}{}", count(rows.min), plural(rows.max, "nonzero"),
                               rows.mean, rows.variance,
                               rows.empty_rows > 0 ? formatted(", {} empty", count(rows.empty_rows)) : ""));
  lines.item("padding",
             formatted("indicator {:.3f} (mean / longest row: 1 is even, near 0 wastes memory in padded formats)",
                       rows.padding_indicator));
  lines.item("bandwidth",
             formatted("{} below the diagonal, {} above", count(p.bandwidth_lower), count(p.bandwidth_upper)));
  if (rows.nnz > 0) {
    lines.item("products", story.products);
    lines.item("  on a GPU", gpu_products_text(rows));
  }
  if (story.lattice.nx > 0)
    lines.item("lattice",
               formatted("{} points, a row for each, coupled to its neighbours alone", to_string(story.lattice)));
  lines.item("values", formatted("|a_ij| from {} to {}, infinity norm {}, Frobenius norm {}", brief(p.min_abs),
                                 brief(p.max_abs), brief(p.norm_inf), brief(p.norm_frobenius)));
}

void add_memory(Lines& lines, const InfoStory& story) {
  const FormatBytes& bytes = story.bytes;
  lines.item("memory", "");
  lines.item("  CSR", memory_of({bytes.csr32 ? bytes.csr32 : bytes.csr64},
                                bytes.csr32 ? ", 32-bit row pointers" : ", 64-bit row pointers"));
  if (bytes.csr32) lines.item("", memory_of({bytes.csr64}, ", 64-bit row pointers"));
  lines.item("  COO", memory_of({bytes.coo}));
  for (const NamedSize& format : story.sizes)
    if (worth_a_line(format)) lines.item(formatted("  {}", format.title), memory_of(format.size));
}

std::string info_text(const InfoStory& story, const InfoOptions& options, const Terminal& terminal) {
  const LoadedMatrix& loaded = story.loaded;
  const RowStatistics& rows = story.rows;
  const Paint paint(terminal.colours);
  Lines lines(terminal);
  lines.raw(paint.bold("seidel info " + loaded.name)).blank();
  if (rows.nrows > 0 || rows.ncols > 0) {
    add_advice(lines, story, options);
    lines.blank();
  }
  add_looks(lines, story);
  add_memory(lines.blank(), story);
  lines.item("time", formatted("{} {}, analysing {}", loaded.file ? "reading" : "generating",
                               human_seconds(loaded.seconds), human_seconds(story.seconds)));
  if (story.made) add_made(lines, *story.made, paint);
  if (rows.nnz > 0) {
    lines.blank();
    std::string plot = spy_plot(loaded.matrix.view(), std::min(60, terminal.width - 4), terminal.unicode);
    plot.pop_back();
    lines.raw(plot);
  }
  return lines.text();
}

Json info_json(const InfoStory& story, const InfoOptions& options) {
  const auto& [loaded, p, rows, bytes, sizes, products, lattice, questions, seconds, made] = story;
  Json json = json_document("seidel.info/1", options.command_line);
  json.set("matrix", matrix_json(loaded)).set("square", p.square).set("symmetric", p.symmetric);
  json.set("nearly_symmetric", p.nearly_symmetric)
      .set("skew_symmetric", p.skew)
      .set("pattern_symmetric", p.pattern_symmetric);
  json.set("symmetry_error", p.symmetry_error).set("one_triangle_only", p.one_triangle_only);
  Json diagonal;
  diagonal.set("positive", p.diagonal_positive).set("negative", p.diagonal_negative);
  diagonal.set("zero", p.diagonal_zero).set("missing", p.diagonal_missing);
  diagonal.set_if(p.first_bad_diagonal >= 0, "first_bad_row", p.first_bad_diagonal + 1);
  json.set("diagonal", std::move(diagonal));
  json.set("dominant_rows", Json().set("weakly", p.weakly_dominant_rows).set("strictly", p.strictly_dominant_rows));
  Json points = Json::array();
  for (const Index n : {lattice.nx, lattice.ny, lattice.nz}) points.push(Json(std::int64_t(n)));
  json.set_if(lattice.nx > 0, "lattice", std::move(points));
  json.set("definiteness", definiteness(story)).set("zero_row_sums", p.zero_row_sums);
  for (const char* key : {"nonzeros_per_row", "nonzeros_a_row"}) {  // the second goes with 1.0
    Json row;
    row.set("max", std::int64_t(rows.max)).set("min", std::int64_t(rows.min)).set("mean", rows.mean);
    row.set("variance", rows.variance).set("padding_indicator", rows.padding_indicator).set("empty", rows.empty_rows);
    row.set_if(rows.longest_row >= 0, "longest", rows.longest_row + 1);
    json.set(key, std::move(row));
  }
  json.set("bandwidth",
           Json().set("lower", std::int64_t(p.bandwidth_lower)).set("upper", std::int64_t(p.bandwidth_upper)));
  Json values;
  values.set("min_abs", p.min_abs).set("max_abs", p.max_abs).set("norm_inf", p.norm_inf);
  values.set("norm_frobenius", p.norm_frobenius);
  values.set("explicit_zeros", p.explicit_zeros).set("nonfinite", p.nonfinite);
  json.set("values", std::move(values));
  Json memory;
  memory.set("csr32", bytes.csr32).set("csr64", bytes.csr64).set("coo", bytes.coo);
  for (const NamedSize& format : sizes) memory.set(format.name, format.size.bytes);
  json.set("bytes", std::move(memory));
  json.set("products", products);
  for (const char* key : {"places_per_entry", "places_an_entry"}) {  // the second goes with 1.0
    Json places;
    for (const NamedSize& format : sizes) places.set(format.name, format.size.places_per_entry);
    json.set(key, std::move(places));
  }
  json.set("seconds", Json().set("read", loaded.seconds).set("look", seconds));
  json.set("preconditioner", made ? made_json(*made) : Json(nullptr));
  return json;
}

}  // namespace

int run(const InfoOptions& options) {
  const OpenMP host = host_threads(options);
  const auto require = [](std::int64_t nrows, std::int64_t, std::int64_t nnz) {
    const std::int64_t of_matrix = 12 * nnz + 8 * (nrows + 1), of_look = 4 * nrows;  // where it looks for a_ji to a_ij
    require_memory(of_matrix + of_look,
                   formatted("a matrix of {} and {}", plural(nrows, "row"), plural(nnz, "nonzero")),
                   "use a larger machine");
  };
  const LoadedMatrix loaded =
      load_matrix(options.matrix, options, options.repair, require, ReadOptions::Complex::as_real_form);
  const auto A = loaded.matrix.view();
  const Stopwatch looking;
  InfoStory story{loaded, properties(host, A), row_statistics(host, A), format_bytes(host, A), {}, {}};
  story.products = products_text(host, A, story.rows);
  story.lattice = find_lattice(host, A).lattice;
  story.questions.levels = [&](std::int64_t enough) { return count_of_levels(A, enough); };
  for_each_product_format([&]<class Format>(const Format&) {
    constexpr bool is_converted = !std::is_same_v<Format, product_formats::AsCsr>;
    if constexpr (is_converted && requires { Format::size(host, A); })
      story.sizes.push_back({Format::name, Format::title, Format::size(host, A)});
  });
  story.seconds = looking.seconds();
  try {
    if (options.made) story.made = made_as_asked(place(options, A.nnz()), A, story, *options.made);
  } catch (const InputError& error) {  // of a row that the preconditioner cannot use
    throw InputError(loaded.name + ": " + error.what());
  }
  print(options, info_text(story, options, terminal_of(options)));
  if (!options.json.empty()) write_text(options.json, info_json(story, options).text());
  return 0;
}

}  // namespace seidel::drivers
