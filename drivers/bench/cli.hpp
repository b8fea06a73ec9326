// The options of seidel bench. Included by options.cpp alone.
#pragma once
#include <seidel/drivers/cli.hpp>

namespace seidel::drivers {

/// "1,2,4" as numbers that `fits`.
template <class Number, class Fits>
std::vector<Number> numbers(const std::string& option, const std::string& text, const char* expected,
                            const Fits& fits) {
  std::vector<Number> values;
  for (const std::string& word : CLI::detail::split(text, ','))
    values.push_back(number<Number>(option, word, expected, fits));
  return values;
}

/// To be asked before the common options are checked: --threads is a list for some commands of bench.
inline std::vector<int> thread_list(CommonTexts& common) {
  if (common.threads.empty()) return {};
  return numbers<int>("--threads", std::exchange(common.threads, ""), "whole numbers from 1 to 4096, such as 1,2,4",
                      [](int v) { return v >= 1 && v <= 4096; });
}

/// --trials, --csv and --html.
struct BenchTexts {
  std::string trials;

  void add_to(CLI::App& app, BenchOutputs& outputs,
              const char* what = "timed repetitions of each rival; 0 checks only (15)") {
    app.add_option("--trials", trials, what)->type_name("N");
    add_files(app, outputs, "write a row a trial");
  }
  static void add_files(CLI::App& app, BenchOutputs& outputs, const char* csv) {
    app.add_option("--csv", outputs.csv, csv)->type_name("FILE");
    app.add_option("--html", outputs.html, "write the report as one page for a browser")->type_name("FILE");
  }
  void check(int& value, int least = 0) const {
    if (!trials.empty())
      value =
          number<int>("--trials", trials, least ? "a whole number from 1 to 10000" : "a whole number from 0 to 10000",
                      [least](int v) { return v >= least && v <= 10000; });
  }
};

struct BenchKernelCommand {
  BenchKernelOptions options;
  BenchTexts texts;
  std::string k, layout, order;
  CLI::App* app = nullptr;

  void declare(CLI::App& bench, CommonTexts& common, const char* kernel, const char* what) {
    options.kernel = kernel;
    app = add_command(bench, kernel, what);
    app->add_option("MATRIX", options.matrices, matrix_help);
    app->add_flag("--list", options.list, "print the rivals and exit");
    app->add_option("--only", options.only, "rivals whose names match a pattern with * and ?, such as '*.csr.*'")
        ->type_name("GLOB");
    if (options.kernel == "spmm") {
      app->add_option("--k", k, "numbers of columns (1,2,4,8,16,32,64)")->type_name("LIST");
      app->add_option("--layout", layout, "of the columns: row, col or row,col (row)")->type_name("LIST");
    }
    if (options.kernel == "symgs")
      app->add_option("--order", order,
                      "of natural, colours, blocks: also setup, PCG iterations and time to solution of each")
          ->type_name("LIST");
    texts.add_to(*app, options);
    common.add_to(*app);
    app->footer(
        "--threads takes a list here, such as 1,2,4.\nWRONG rivals are not timed, and the command then exits with 1.");
  }
  void finish(const CommonTexts&) {
    texts.check(options.trials);
    if (options.kernel == "spmm") options.k = {1, 2, 4, 8, 16, 32, 64};
    if (!k.empty())
      options.k = numbers<std::int64_t>("--k", k, "whole numbers from 1 to 4096, such as 1,8,64",
                                        [](auto v) { return v >= 1 && v <= 4096; });
    if (!layout.empty()) options.layouts = CLI::detail::split(layout, ',');
    for (const auto& name : options.layouts) require_one_of("--layout", name, {"row", "col"});
    if (!order.empty()) options.orders = CLI::detail::split(order, ',');
    for (const auto& name : options.orders) require_one_of("--order", name, {"natural", "colours", "blocks"});
    if (options.matrices.empty() && !options.list)
      throw UsageError(formatted("seidel bench {}: a MATRIX is missing: {}\n  start with: seidel bench {} poisson3d:64",
                                 options.kernel, matrix_help, options.kernel));
  }
};

struct BenchSolveCommand {
  BenchSolveOptions options;
  BenchTexts texts;
  std::string tolerance, max_iterations;
  CLI::App* app = nullptr;

  void declare(CLI::App& bench, CommonTexts& common) {
    app = add_command(bench, "solve", "method x preconditioner x back end on the same system");
    app->add_option("MATRIX", options.matrices, matrix_help);
    app->add_flag("--list", options.list, "print the contestants and exit");
    app->add_option("--only", options.only, "contestants whose names match a pattern with * and ?, such as 'cg.*'")
        ->type_name("GLOB");
    app->add_option("--tol", tolerance, "solved when ||b - Ax|| <= TOL ||b|| (1e-8)")->type_name("TOL");
    app->add_option("--max-iterations", max_iterations, "stop after N iterations (2000)")->type_name("N");
    texts.add_to(*app, options, "solves of each contestant; the fastest counts (1)");
    common.add_to(*app);
    app->footer(
        "b = A * ones. --threads takes a list here, such as 1,2,4.\n"
        "Whose answer is not what it claims is WRONG, and the command then exits with 1.");
  }
  void finish(const CommonTexts&) {
    texts.check(options.trials, 1);
    if (!tolerance.empty())
      options.tolerance =
          number<double>("--tol", tolerance, "a number above 0 and below 1", [](double v) { return v > 0 && v < 1; });
    if (!max_iterations.empty())
      options.max_iterations = number<std::int64_t>("--max-iterations", max_iterations, "a whole number from 1 up",
                                                    [](auto v) { return v >= 1; });
    if (options.matrices.empty() && !options.list)
      throw UsageError(formatted(
          "seidel bench solve: a MATRIX is missing: {}\n  start with: seidel bench solve poisson3d:32", matrix_help));
  }
};

struct BenchSuiteCommand {
  BenchSuiteOptions options;
  BenchTexts texts;
  bool small_suite = false;
  CLI::App* app = nullptr;

  void declare(CLI::App& bench, CommonTexts& common) {
    app = add_command(bench, "suite", "all kernels on a fixed list of generated matrices");
    app->add_flag("--small", small_suite, "for a laptop (unless --large is given)");
    app->add_flag("--large", options.large, "for a GPU: up to 211 million nonzeros");
    texts.add_to(*app, options);
    common.add_to(*app);
  }
  void finish(const CommonTexts&) {
    texts.check(options.trials);
    if (small_suite && options.large) throw UsageError("--small and --large contradict each other; take one of them");
  }
};

struct BenchMachineCommand {
  BenchMachineOptions options;
  CLI::App* app = nullptr;

  void declare(CLI::App& bench, CommonTexts& common) {
    app = add_command(bench, "machine", "what this machine can do at best: bandwidths, gathers, flops, latencies");
    BenchTexts::add_files(*app, options, "write a row a ceiling");
    common.add_to(*app);
  }
  void finish(const CommonTexts&) {}
};

struct BenchCompareCommand {
  BenchCompareOptions options;
  CLI::App* app = nullptr;

  void declare(CLI::App& bench, CommonTexts& common) {
    app = add_command(bench, "compare", "what became faster or slower between two files of bench --json");
    app->add_option("OLD", options.old_file, "a file of seidel bench --json")->required();
    app->add_option("NEW", options.new_file, "another")->required();
    common.add_to(*app);
  }
  void finish(const CommonTexts&) {}
};

struct BenchReadCommand {
  BenchReadOptions options;
  std::string repetitions;
  CLI::App* app = nullptr;

  void declare(CLI::App& bench, CommonTexts& common) {
    app = add_command(bench, "read", "reading a Matrix Market file, against a bare scan of its bytes");
    app->add_option("FILE", options.file, "a .mtx file; 500 MB and more, in the memory cache")->required();
    app->add_option("--repetitions", repetitions, "of each measurement; the median counts (5)")->type_name("N");
    common.add_to(*app);
  }
  void finish(const CommonTexts&) {
    if (!repetitions.empty())
      options.repetitions = number<int>("--repetitions", repetitions, "a whole number from 1 to 1000",
                                        [](int v) { return v >= 1 && v <= 1000; });
  }
};

}  // namespace seidel::drivers
