// seidel validate: every kernel, format, back end and solver on a list of matrices.
#include <unistd.h>

#include <algorithm>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/validate/checks.hpp>
#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

namespace {

std::vector<Placement> backends_for(const CommonOptions& options) {
  const bool all = options.backend == BackendName::automatic;
  std::vector<Placement> list;
  if (all || options.backend == BackendName::serial) list.push_back({.backend = BackendName::serial});
  if (all || options.backend == BackendName::openmp) {
    const int most = host_threads(options).threads;
    for (const int threads : {2, 3, most})
      if (list.empty() || list.back().threads < threads)
        list.push_back({.backend = BackendName::openmp, .threads = threads});
  }
  if (built_with_cuda && (options.backend == BackendName::cuda || (all && cuda_unavailable_because().empty())))
    list.push_back(
        {.backend = BackendName::cuda, .threads = host_threads(options).threads, .device = cuda_device_name()});
  return list;
}

std::string label(const Placement& where) {
  return where.backend == BackendName::openmp ? formatted("openmp, {}", plural(where.threads, "thread"))
                                              : std::string(to_string(where.backend));
}

std::string cell_text(const Cell& cell, const Paint& paint) {
  if (cell.checks == 0) return "-";
  if (cell.wrong > 0) return paint.red(formatted("WRONG {} of {}", cell.wrong, cell.checks));
  std::string text = cell.measured ? formatted("ok {:.2f}", cell.worst) : "ok";
  return cell.runs > 0 ? text + formatted(", {} of {}", cell.reached, cell.runs) : text;
}

const std::vector<std::pair<std::string, std::string>> legend = {
    {"ok 0.12",
     "the largest error is 0.12 of the bound that rounding allows; where one arithmetic is promised, the bits are "
     "those "
     "of every other back end"},
    {"ok", "equal to the bit, where nothing else will do"},
    {"ok 0.90, 3 of 8", "a solver: 3 of 8 runs reached 1e-8 within 300 iterations, by the true residual"}};

Table table_of(const Ledger& ledger, const Paint& paint) {
  Table table{{"kernel", "format or preconditioner"}};
  table.header.insert(table.header.end(), ledger.backends().begin(), ledger.backends().end());
  for (const auto& row : ledger.rows()) {
    Table::Row cells = {row.kernel, row.format};
    for (const auto& cell : row.cells) cells.push_back(cell_text(cell, paint));
    table.row(std::move(cells));
  }
  return table;
}

std::string validate_text(const Ledger& ledger, const std::vector<std::string>& matrices, double seconds,
                          const Terminal& terminal) {
  const Paint paint(terminal.colours);
  Lines lines(terminal);
  lines.raw(paint.bold("seidel validate")).blank();
  lines.item("matrices", joined(matrices));
  for (const auto& [cell, meaning] : legend) lines.item(cell, meaning);
  lines.blank();
  std::string text = lines.text() + table_of(ledger, paint).text(paint) + "\n";
  const auto& faults = ledger.faults();
  for (std::size_t i = 0; i < faults.size() && i < 20; ++i) text += "wrong: " + faults[i] + "\n";
  if (faults.size() > 20) text += formatted("and {} more\n", faults.size() - 20);
  if (faults.empty())
    return text + paint.green("validated:") +
           formatted(" {} in {}, none wrong\n", plural(ledger.checks(), "check"), human_seconds(seconds));
  return text + paint.red("WRONG:") +
         formatted(" {} of {}; please report this, with the machine and the compiler\n",
                   count(std::int64_t(faults.size())), plural(ledger.checks(), "check"));
}

Json validate_json(const Ledger& ledger, const std::vector<std::string>& matrices, double seconds,
                   const CommonOptions& options) {
  Json cells = Json::array();
  for (const auto& row : ledger.rows())
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const Cell& cell = row.cells[i];
      if (cell.checks == 0) continue;
      Json one;
      one.set("kernel", row.kernel).set("format", row.format).set("backend", ledger.backends()[i]);
      one.set("checks", cell.checks).set("wrong", cell.wrong);
      one.set_if(cell.measured, "worst", cell.worst);
      one.set("runs", cell.runs).set("reached", cell.reached);
      cells.push(std::move(one));
    }
  Json json = json_document("seidel.validate/1", options.command_line);
  json.set("valid", ledger.faults().empty()).set("checks", ledger.checks()).set("seconds", seconds);
  json.set("matrices", matrices).set("cells", std::move(cells)).set("faults", ledger.faults());
  return json;
}

std::string validate_page(const Ledger& ledger, const std::vector<std::string>& matrices, double seconds,
                          const CommonOptions& options) {
  const bool good = ledger.faults().empty();
  HtmlPage page(
      "seidel validate",
      good ? formatted("{} in {}, none wrong", plural(ledger.checks(), "check"), human_seconds(seconds))
           : formatted("{} of {} WRONG", count(std::int64_t(ledger.faults().size())), plural(ledger.checks(), "check")),
      good);
  page.facts("What was run", {{"processor", processor_name() + ", " + instruction_set_name()},
                              {"matrices", joined(matrices)},
                              {"version", version}});
  if (!good) page.text("Wrong", joined(ledger.faults(), "\n") + "\n");
  std::vector<Bar> bars;
  for (const auto& row : ledger.rows()) {
    double worst = -1;
    for (const auto& cell : row.cells)
      if (cell.measured) worst = std::max(worst, cell.worst);
    if (worst >= 0) bars.push_back({row.kernel + " " + row.format, worst, formatted("{:.2f}", worst)});
  }
  page.facts("What a cell says", legend);
  page.table("Cells", table_of(ledger, Paint(false)));
  page.bars("How near to the bound", "largest error over its bound; above 1 is wrong", bars);
  return page.html(options.command_line);
}

/// Kernels that take no matrix, each on what its kind of operand names.
void check_other_kinds(Ledger& ledger, const ValidateOptions& options, const Registry& registry) {
  std::vector<const OperandKind*> done = {&kernels::matrix};
  for (const Kernel* kernel : all_kernels()) {
    if (std::ranges::find(done, kernel->takes) != done.end()) continue;
    done.push_back(kernel->takes);
    for (const std::string& word : kernel->takes->for_validation) {
      const auto operand = kernel->takes->make(word, options);
      ledger.matrix(operand->name);
      check_registry(ledger, *kernel->takes, *operand, registry);
    }
  }
}

}  // namespace

int run(const ValidateOptions& options) { return validate(options, rivals()); }

int validate(const ValidateOptions& options, std::span<const Rival> rivals) {
  if (options.list) {
    print(options, list_of(rivals, nullptr, options.only, Paint(Terminal::of(STDOUT_FILENO).colours)));
    return 0;
  }
  require_backend(options);
  const Stopwatch watch;
  const auto& matrices = options.matrices.empty() ? kernels::matrix.for_validation : options.matrices;
  Registry registry{rivals, options.only, backends_for(options)};
  const auto& backends = registry.backends;
  std::vector<std::string> names;
  for (const auto& where : backends) names.push_back(label(where));
  Ledger ledger(names);
  LiveLine line(!options.quiet);
  for (const auto& name : matrices) {
    const auto operand = kernels::matrix.make(name, options);
    const Expected expected = expect(dynamic_cast<MatrixOperand&>(*operand).A.view());
    ledger.matrix(operand->name);
    const auto show = [&](double part, const std::string& what) {
      line.show_share((double(&name - matrices.data()) + part) / double(matrices.size()), what);
    };
    show(0, operand->name);
    check_registry(ledger, kernels::matrix, *operand, registry);
    if (options.only != "*") continue;  // what follows has no names to match
    for (std::size_t i = 0; i < backends.size(); ++i) {
      show(double(i + 1) / double(backends.size() + 1), formatted("{} on {}", operand->name, names[i]));
      ledger.backend(i);
      check_kernels(ledger, expected, backends[i]);
      check_solvers(ledger, expected, backends[i]);
    }
  }
  if (options.matrices.empty()) check_other_kinds(ledger, options, registry);
  line.wipe();
  if (ledger.checks() == 0)
    throw UsageError(formatted(
        "--only {}: no rival that can run here, with such a matrix, has such a name\n  see seidel validate --list",
        options.only));
  const double seconds = watch.seconds();
  print(options, validate_text(ledger, matrices, seconds, terminal_of(options)));
  if (!options.json.empty()) write_text(options.json, validate_json(ledger, matrices, seconds, options).text());
  if (!options.html.empty()) write_text(options.html, validate_page(ledger, matrices, seconds, options));
  return ledger.faults().empty() ? 0 : 1;
}

}  // namespace seidel::drivers
