// The options of seidel bench. Included by options.cpp alone.
#pragma once
#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/cli.hpp>
#include <seidel/drivers/with_backend.hpp>

namespace seidel::drivers {

/// "1,2,4" as numbers, of which `some` is an example.
template <class Number>
std::vector<Number> numbers(const std::string& option, const std::string& text, const char* some) {
  const Range<Number> range{formatted("whole numbers from 1 to 4096, such as {}", some), whole<Number>(1, 4096).fits};
  std::vector<Number> values;
  for (const std::string& word : CLI::detail::split(text, ',')) values.push_back(number<Number>(option, word, range));
  return values;
}

/// A command of bench that runs rivals.
template <class Options>
struct ContestCommand : CommandFor<Options> {
  using CommandFor<Options>::CommandFor, CommandFor<Options>::app, CommandFor<Options>::options;

  /// What is measured, and who takes part.
  void operands(const char* placeholder, const char* help, std::vector<std::string>& words, const char* whom,
                const char* pattern) {
    this->read_from(app->add_option(placeholder, words, help));
    app->add_flag("--list", options.list, formatted("print the {} and exit", whom));
    app->add_option(
           "--only", options.only,
           formatted("{} whose names match a pattern with * and ?, or one of several between commas, such as {}", whom,
                     pattern))
        ->type_name("GLOB");
  }
  void outputs(const char* trials, int least) {
    this->number("--trials", options.trials, "N", trials, whole(least, 10000));
    this->file("--csv", options.csv, "write a row per trial");
    this->page(options.html);
    if constexpr (requires { options.warm; })
      app->add_flag(
          "--warm", options.warm,
          "leave caches as the trial before left them, and measure no bandwidth to compare with: a quick look");
  }
  /// --threads is a list here; it is taken before the common options are checked.
  void thread_list(CommonTexts& common) {
    this->checks.push_back([&] {
      if (!common.threads.empty())
        options.thread_counts = numbers<int>("--threads", std::exchange(common.threads, ""), "1,2,4");
    });
  }
  void require_operand(const std::vector<std::string>& words, const std::string& command, const char* placeholder,
                       const char* help, const char* example) const {
    if (words.empty() && !options.list)
      throw UsageError(formatted("{}: a {} is missing: {}\n  start with: {} {}", within_program(command), placeholder,
                                 help, command, example));
  }
};

inline constexpr const char* timed_repetitions = "timed repetitions of each rival; 0 checks only (15)";

struct BenchKernelCommand : ContestCommand<BenchKernelOptions> {
  BenchKernelCommand(CLI::App& bench, CommonTexts& common, const Kernel& kernel)
      : ContestCommand(bench, std::string(kernel.name).c_str(), kernel.help) {
    options.kernel = &kernel;
    operands(kernel.takes->placeholder, kernel.takes->help, options.operands, "rivals", "'*.csr.*'");
    if (kernel.columns_help) {
      options.k = kernel.columns;
      std::string unless_given;
      for (const auto k : kernel.columns) unless_given += (unless_given.empty() ? "" : ",") + std::to_string(k);
      with_text("--k", "LIST", formatted("{} ({})", kernel.columns_help, unless_given).c_str(),
                [&](const std::string& text) { options.k = numbers<std::int64_t>("--k", text, "1,8,64"); });
      words("--layout", options.layouts, "LIST", "of the columns: row, col or row,col (row)", {"row", "col"});
    }
    if (kernel.orders != Orders::none)
      words("--order", options.orders, "LIST",
            kernel.orders == Orders::solves
                ? "natural, colours or both: also setup, PCG iterations and time to solution of each"
                : "natural, colours or both: the sweeps in each",
            {"natural", "colours"});
    outputs(timed_repetitions, 0);
    thread_list(common);
    app->footer(
        "--threads takes a list here, such as 1,2,4.\nWRONG rivals are not timed, and the command then exits with 1.");
  }
  void finish() override {
    const OperandKind& kind = *options.kernel->takes;
    if (options.operands.empty()) options.operands = options.kernel->unless_given;
    require_operand(options.operands, formatted("seidel bench {}", options.kernel->name), kind.placeholder, kind.help,
                    kind.example);
  }
};

struct BenchSolveCommand : ContestCommand<BenchSolveOptions> {
  BenchSolveCommand(CLI::App& bench, CommonTexts& common)
      : ContestCommand(bench, "solve", "method x preconditioner x back end on the same system") {
    operands("MATRIX", matrix_help, options.matrices, "contestants", "'cg.*'");
    number("--tol", options.tolerance, "TOL", "solved when ||b - Ax|| <= TOL ||b|| (1e-8)", between_0_and_1);
    number("--max-iterations", options.max_iterations, "N", "stop after N iterations (2000)", whole<std::int64_t>(1));
    outputs("solves of each contestant; the fastest counts (1)", 1);
    thread_list(common);
    app->footer(
        "b = A * ones. --threads takes a list here, such as 1,2,4.\n"
        "Whose answer is not what it claims is WRONG, and the command then exits with 1.");
  }
  void finish() override {
    require_operand(options.matrices, "seidel bench solve", "MATRIX", matrix_help, "poisson3d:32");
  }
};

struct BenchSuiteCommand : ContestCommand<BenchSuiteOptions> {
  bool small_suite = false;

  explicit BenchSuiteCommand(CLI::App& bench)
      : ContestCommand(bench, "suite", "all kernels on a fixed list of generated matrices") {
    app->add_flag("--small", small_suite, "for a laptop (unless --large is given)");
    app->add_flag("--large", options.large, "for a GPU: up to 211 million nonzeros");
    input_file("--files", options.files, "all .mtx and .mtx.gz files of a folder instead")->type_name("FOLDER");
    outputs(timed_repetitions, 0);
  }
  void finish() override {
    if (!options.files.empty() && (small_suite || options.large))
      throw UsageError("--files is a suite of its own; leave --small and --large out");
    if (small_suite && options.large) throw UsageError("--small and --large contradict each other; take one of them");
  }
};

struct BenchMachineCommand : CommandFor<BenchMachineOptions> {
  explicit BenchMachineCommand(CLI::App& bench)
      : CommandFor(bench, "machine", "what this machine can do at best: bandwidths, gathers, flops, latencies") {
    file("--csv", options.csv, "write a row per ceiling");
    page(options.html);
  }
};

struct BenchHpcgCommand : CommandFor<BenchHpcgOptions> {
  explicit BenchHpcgCommand(CLI::App& bench)
      : CommandFor(bench, "hpcg", "the HPCG benchmark: conjugate gradients with four levels of multigrid") {
    number("--n", options.n, "N", "points along each side, a multiple of 8 (104)", whole<Index>(8, 1024));
    number("--seconds", options.seconds, "S", "how long solves are repeated (60; at least one solve)",
           Range<double>{"a number above 0", [](double s) { return s > 0; }});
    with_text("--order", "ORDER", "of sweeps: natural, colours or auto: colours, unless one core works alone (auto)",
              [this](const std::string& text) {
                options.order = one_of("--order", text, {Order::natural, Order::colours});
              });
  }
};

/// Under mpirun it takes the place of bench gemm, too, which each process would run by itself.
struct BenchGemmMpiCommand : CommandFor<BenchGemmMpiOptions> {
  explicit BenchGemmMpiCommand(CLI::App& bench)
      : CommandFor(bench, "gemm-mpi", "products of dense matrices in memory, on many processes (mpirun)") {
    shares_work = true;
    app->add_option("MxNxK", options.sizes, "A is M x K, B is K x N")->required();
    words("--grid", options.grids, "RxC,...",
          "rows and columns of processes; those left over wait (of 1, 2, 3 ... processes)");
    words("--method", options.methods, "LIST", "summa, row-sums or both", {"summa", "row-sums"});
    number("--block", options.block, "N", "rows and columns per block of a matrix (32)",
           whole<std::int64_t>(1, 1 << 20));
    app->add_flag("--fp32", options.fp32, "elements of 4 bytes (8)");
    number("--trials", options.trials, "N", "timed repetitions; the fastest counts (3)", whole(1, 10000));
    if (processes_of_mpirun() > 1) app->alias(std::string(kernels::gemm.name));
  }
};

struct BenchCompareCommand : CommandFor<BenchCompareOptions> {
  explicit BenchCompareCommand(CLI::App& bench)
      : CommandFor(bench, "compare", "what became faster or slower between two files of bench KERNEL or suite --json") {
    on_host = "it compares files";
    read_from(app->add_option("OLD", options.old_file, "a file that seidel bench KERNEL or suite --json wrote"))
        ->required();
    read_from(app->add_option("NEW", options.new_file, "another"))->required();
    page(options.html);
  }
};

struct BenchReadCommand : CommandFor<BenchReadOptions> {
  explicit BenchReadCommand(CLI::App& bench)
      : CommandFor(bench, "read", "reading a Matrix Market file, against a bare scan of its bytes") {
    on_host = "files are read on the host";
    read_from(app->add_option("FILE", options.file, "a .mtx file; 500 MB and more, in the memory cache"))->required();
    number("--repetitions", options.repetitions, "N", "of each measurement; the median counts (5)", whole(1, 1000));
    page(options.html);
  }
};

}  // namespace seidel::drivers
