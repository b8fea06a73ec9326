// seidel bench solve: who solves the same system, how fast, and whether it is solved.
#include <algorithm>
#include <exception>
#include <functional>
#include <span>

#include <seidel/config.hpp>
#include <seidel/drivers/bench/contest.hpp>
#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/matrix_source.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/html.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

constexpr double max_seconds = 2;  // of one contestant, beyond its first trial

/// One contestant on one system: all trials, and the fastest's solution.
struct Result {
  std::string matrix, verdict;
  const Contestant* who;
  int threads;
  Solution solution;  // of the fastest trial; x is let go
  double residual, read_seconds;
  bool generated;
  Index nrows;
  std::int64_t nnz;
  Sample setup, solve;
  double total() const { return solution.setup_seconds + solution.solve_seconds; }
};

/// Seconds to the solution of the fastest baseline that solved this matrix; 0 if none did.
double fastest_baseline(std::span<const Result> of_matrix) {
  double fastest = 0;
  for (const Result& r : of_matrix)
    if (r.who->baseline && r.verdict == "solved" && (fastest == 0 || r.total() < fastest)) fastest = r.total();
  return fastest;
}

/// The results of one matrix.
Table table_of(std::span<const Result> of_matrix) {
  const double baseline = fastest_baseline(of_matrix);
  Table table{{"contestant", "threads", "verdict", "setup", "solve", "iterations", "per iteration", "true residual",
               "memory", "total", "vs Eigen"}};
  for (const Result& r : of_matrix) {
    const Solution& s = r.solution;
    table.row({r.who->name, r.who->backend == BackendName::cuda ? "gpu" : std::to_string(r.threads), r.verdict,
               human_seconds(s.setup_seconds), human_seconds(s.solve_seconds), count(s.iterations),
               s.iterations > 0 ? human_seconds(s.solve_seconds / double(s.iterations)) : "-", brief(r.residual),
               s.memory_bytes > 0 ? human_bytes(s.memory_bytes) : "-", human_seconds(r.total()),
               baseline > 0 && r.verdict == "solved" ? formatted("{:.2f}x", baseline / r.total()) : "-"});
  }
  return table;
}

/// Reads or generates A. Errors  InputError unless it is square, with one row or more.
LoadedMatrix square_matrix(const std::string& word, const BenchSolveOptions& options) {
  LoadedMatrix loaded = load_matrix(word, options, false);
  const auto& A = loaded.matrix;
  if (A.nrows != A.ncols)
    throw ShapeError(formatted("{}: found {} and {}, expected as many rows as columns", loaded.name,
                               plural(A.nrows, "row"), plural(A.ncols, "column")));
  if (A.nrows == 0) throw InputError(loaded.name + ": found no rows, expected one or more");
  return loaded;
}

/// Every contestant that may take the matrix, in the order of the list, until Ctrl-C.
void contest(const std::string& word, const BenchSolveOptions& options, const Plan& plan,
             const std::vector<Contestant>& contestants, const std::function<void(double, const std::string&)>& show,
             std::vector<Result>& all) {
  show(0, word);
  const LoadedMatrix loaded = square_matrix(word, options);
  const auto A = loaded.matrix.view();
  const Contest system = contest_of(
      host_threads(options), A,
      {.relative_tolerance = options.tolerance, .max_iterations = options.max_iterations, .stop = &stop_requested()});
  if (const std::int64_t nonfinite = system.properties.nonfinite; nonfinite > 0)
    throw InputError(formatted("{}: found {}, expected finite numbers", loaded.name,
                               plural(nonfinite, "entry that is NaN or infinite", "entries that are NaN or infinite")));
  std::vector<std::pair<const Contestant*, int>> jobs;  // and the number of threads
  for (const auto& who : contestants) {
    const bool can_run = who.backend != BackendName::cuda || plan.cuda;
    if (!can_run || !plan.selection.wants(who.backend, who.name) || !who.takes(system.properties)) continue;
    for (const int threads : threads_for(who.backend, plan.threads)) jobs.push_back({&who, threads});
  }
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto& [who, threads] = jobs[j];
    show(double(j) / double(jobs.size()), formatted("{} on {}", who->name, loaded.name));
    Result r{loaded.name, "", who, threads, {}, 0, loaded.seconds, !loaded.file, A.nrows, A.nnz(), {}, {}};
    double used = 0;
    for (int trial = 0; trial < options.trials && used < max_seconds; ++trial) {
      Solution solution = who->solve(system, threads);
      if (stop_requested()) return;
      used += solution.setup_seconds + solution.solve_seconds;
      r.setup.add(solution.setup_seconds), r.solve.add(solution.solve_seconds);
      if (trial == 0 || solution.setup_seconds + solution.solve_seconds < r.total()) r.solution = std::move(solution);
    }
    r.residual = true_residual(system, r.solution.x);
    r.verdict = judged(r.solution, r.residual, options.tolerance);
    r.solution.x = {};
    all.push_back(std::move(r));
  }
}

std::string title_of(const Result& r) {
  return formatted("{}: {}, {}, {} in {}", r.matrix, plural(r.nrows, "row"), plural(r.nnz, "nonzero"),
                   r.generated ? "generated" : "read", human_seconds(r.read_seconds));
}

std::string csv_of(const std::vector<Result>& all) {
  std::string text =
      "matrix,nrows,nnz,contestant,backend,threads,verdict,trial,setup_seconds,solve_seconds,iterations,true_residual,"
      "memory_bytes,read_seconds\n";
  for (const Result& r : all)
    for (std::size_t t = 0; t < r.solve.trials().size(); ++t)
      text +=
          formatted("{},{},{},{},{},{},{},{},{:.9g},{:.9g},{},{:.6g},{},{:.6g}\n", csv_cell(r.matrix), r.nrows, r.nnz,
                    r.who->name, to_string(r.who->backend), r.threads, r.verdict, t, r.setup.trials()[t],
                    r.solve.trials()[t], r.solution.iterations, r.residual, r.solution.memory_bytes, r.read_seconds);
  return text;
}

Json json_of(const std::vector<Result>& all) {
  return json_list(all, [](const Result& r) {
    Json one;
    one.set("matrix", r.matrix).set("nrows", r.nrows).set("nnz", r.nnz).set("read_seconds", r.read_seconds);
    one.set("contestant", r.who->name).set("backend", to_string(r.who->backend)).set("threads", r.threads);
    one.set("baseline", r.who->baseline).set("verdict", r.verdict).set("status", r.solution.status);
    one.set("iterations", r.solution.iterations).set("true_residual", r.residual);
    one.set("setup_seconds", r.setup.trials()).set("solve_seconds", r.solve.trials());
    one.set("memory_bytes", r.solution.memory_bytes).set("history", r.solution.history);
    return one;
  });
}

std::vector<Bar> bars_of(std::span<const Result> of_matrix) {
  std::vector<Bar> bars;
  for (const Result& r : of_matrix)
    if (r.verdict == "solved")
      bars.push_back({r.who->name + (r.who->backend == BackendName::openmp ? ", " + plural(r.threads, "thread") : ""),
                      1e3 * r.total(), human_seconds(r.total()), r.who->baseline ? 1 : 0});
  return bars;
}

/// The residuals of each method with each preconditioner: all back ends have the same bits.
LineChart residuals_of(std::span<const Result> of_matrix) {
  LineChart chart{"iteration", "relative residual", true, {}};
  for (const Result& r : of_matrix) {
    Series series{r.who->name.substr(0, r.who->name.rfind('.')), {}};
    if (r.solution.history.empty() || std::ranges::count(chart.series, series.name, &Series::name) > 0) continue;
    for (const double residual : r.solution.history) {
      const std::size_t i = series.points.size();
      series.points.push_back(
          {double(i), residual, formatted("{}, iteration {}: {}", series.name, i, brief(residual))});
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

std::string page_of(const std::vector<Result>& all, bool good, const std::string& machine,
                    const CommonOptions& options) {
  const auto solved = std::ranges::count(all, "solved", &Result::verdict);
  HtmlPage page("seidel bench solve",
                formatted("{} of {} reached the tolerance{}", solved, plural(std::int64_t(all.size()), "solve"),
                          good ? "" : ", some are WRONG"),
                good);
  page.facts("What was run", {{"machine", machine}, {"right-hand side", "A * ones"}, {"version", version}});
  for (std::size_t first = 0, last = 0; first < all.size(); first = last) {
    while (last < all.size() && all[last].matrix == all[first].matrix) ++last;
    const auto of_matrix = std::span(all).subspan(first, last - first);
    if (const auto bars = bars_of(of_matrix); !bars.empty())
      page.bars(all[first].matrix + ": time to the solution", "ms, setup and solve", bars, {"seidel", "baseline"});
    if (const LineChart chart = residuals_of(of_matrix); !chart.series.empty())
      page.chart(all[first].matrix + ": residual after each iteration", chart);
    page.table(title_of(all[first]), table_of(of_matrix));
  }
  return page.html(options.command_line);
}

}  // namespace

int run(const BenchSolveOptions& options) {
  const auto contestants = drivers::contestants();
  if (options.list) {
    Table table{{"contestant", "what"}};
    for (const auto& who : contestants)
      if (matches(options.only, who.name)) table.row({who.name, who.what});
    print(options, table.text(Paint(Terminal::of(1).colours)));
    return 0;
  }
  Plan plan = plan_for(options, options.thread_counts);
  plan.selection.only = options.only;
  std::vector<Result> all;
  LiveLine line(!options.quiet);
  const Paint paint(Terminal::of(1).colours);
  const StopOnSignal stop;
  std::exception_ptr fault;
  const double matrices = double(options.matrices.size());
  for (std::size_t i = 0; i < options.matrices.size() && !stop_requested() && !fault; ++i) {
    const auto show = [&](double share, const std::string& what) {
      line.show_share((double(i) + share) / matrices, what);
    };
    const std::size_t first = all.size();
    try {
      contest(options.matrices[i], options, plan, contestants, show, all);
    } catch (...) {
      fault = std::current_exception();
    }
    line.wipe();
    const auto of_matrix = std::span(all).subspan(first);
    const bool taken = options.csv == "-" || options.html == "-";
    if (!of_matrix.empty())
      print(options, (first ? "\n" : "") + title_of(all[first]) + "\n\n" + table_of(of_matrix).text(paint), taken);
  }
  if (all.empty() && fault) std::rethrow_exception(fault);
  const bool interrupted = stop_requested();
  if (all.empty() && !interrupted)
    throw UsageError(
        formatted("--only {}: no contestant for such a matrix has such a name on these back ends\n"
                  "  see seidel bench solve --list",
                  options.only));
  const bool good = std::ranges::count(all, "WRONG", &Result::verdict) == 0;
  if (!options.csv.empty()) write_text(options.csv, csv_of(all));
  if (!options.html.empty()) write_text(options.html, page_of(all, good, machine_text(plan), options));
  if (fault) std::rethrow_exception(fault);  // --json then tells of it
  if (!options.json.empty()) {
    Json json = json_document("seidel.bench.solve/1", options.command_line);
    json.set("machine", machine_json(plan)).set("interrupted", interrupted);
    json.set("tolerance", options.tolerance).set("rhs", "A * ones").set("solves", json_of(all));
    write_text(options.json, json.text());
  }
  if (interrupted) say_interrupted(options);
  return good && !interrupted ? 0 : 1;
}

}  // namespace seidel::drivers
