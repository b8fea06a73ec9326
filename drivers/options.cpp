// The one file of the program that compiles CLI11.
#include <cmath>

#include <seidel/drivers/bench/cli.hpp>
#include <seidel/drivers/cli.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/formats/generators/generate.hpp>

namespace seidel::drivers {

namespace {

/// --set KEY=VALUE: what only some methods know.
void apply_settings(const std::vector<std::string>& pairs, SolveOptions& solve) {
  const std::vector<std::string> keys = {"restart", "omega", "sweeps", "storage", "form", "atol"};
  const char* meaning =
      "\n  restart=N  directions that gmres keeps before it starts again (50; all where A has up to 1000 rows)"
      "\n  omega=W    relaxation factor of symgs, 0 < W < 2 (1: none)"
      "\n  sweeps=N   pairs of sweeps in an application of symgs (1)"
      "\n  storage=S  fp32: symgs in single precision, half the bytes of values, under an iteration in double (fp64)"
      "\n  form=F     of cg with symgs: plain, or eisenstat, which reads A once an iteration (chosen by the matrix)"
      "\n  atol=T     also solved when ||b - Ax|| <= T, whatever ||b|| is (0: never)";
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos)
      throw UsageError(formatted("--set: found '{}', expected KEY=VALUE with a KEY of{}", pair, meaning));
    const std::string key = pair.substr(0, equals), value = pair.substr(equals + 1), option = "--set " + key;
    if (key == "restart")
      solve.request.restart =
          number<int>(option, value, "a whole number from 1 to 10000", [](int v) { return v >= 1 && v <= 10000; });
    else if (key == "omega")
      solve.sweeps.omega =
          number<double>(option, value, "a number above 0 and below 2", [](double v) { return v > 0 && v < 2; });
    else if (key == "sweeps")
      solve.sweeps.pairs =
          number<int>(option, value, "a whole number from 1 to 1000", [](int v) { return v >= 1 && v <= 1000; });
    else if (key == "storage")
      require_one_of("--set storage", value, {"fp64", "fp32"}), solve.sweeps.single = value == "fp32";
    else if (key == "form")
      solve.request.form = one_of("--set form", value, {Form::plain, Form::eisenstat});
    else if (key == "atol")
      solve.absolute_tolerance =
          number<double>(option, value, "a number from 0 up", [](double v) { return v >= 0 && std::isfinite(v); });
    else
      throw UsageError(
          formatted("--set: unknown key '{}'{}, expected one of{}", key, did_you_mean(key, keys), meaning));
  }
}

/// How each command declares its options, and what it makes of them.
struct SolveCommand {
  SolveOptions options;
  std::string method = "auto", preconditioner = "auto", order, tolerance, max_iterations, time_limit;
  std::vector<std::string> pairs;
  CLI::App* app = nullptr;

  void declare(CLI::App& program, CommonTexts& common) {
    app = add_command(program, "solve", "solve A x = b");
    app->add_option("MATRIX", options.matrix, matrix_help)->required();
    app->add_option("--rhs", options.rhs, "right-hand side b, a Matrix Market file (A * ones unless given)")
        ->type_name("FILE");
    app->add_option("--x0", options.x0, "where to start (0 unless given)")->type_name("FILE");
    app->add_option("-o,--out", options.out, "write x, a Matrix Market file")->type_name("FILE");
    app->add_option("--method", method, "auto, cg, bicgstab, gmres")->type_name("NAME")->capture_default_str();
    app->add_option("--precond", preconditioner, "auto, none, jacobi, symgs")->type_name("NAME")->capture_default_str();
    app->add_option(
           "--order", order,
           "of the symgs sweeps: natural (unless given, the same bits everywhere), colours, blocks, or auto: what "
           "should be fastest here")
        ->type_name("NAME");
    app->add_option("--tol", tolerance, "solved when ||b - Ax|| <= TOL ||b|| (1e-8)")->type_name("TOL");
    app->add_option("--max-iterations", max_iterations, "stop after N iterations (20000)")->type_name("N");
    app->add_option("--time-limit", time_limit, "stop after S seconds of solving (none)")->type_name("S");
    app->add_option("--set", pairs,
                    "a detail: restart=N (gmres), omega=W, sweeps=N, storage=fp32 (symgs), form=F (cg), atol=T")
        ->type_name("KEY=VALUE")
        ->allow_extra_args(false);
    app->add_option("--history", options.history, "write the residual after each iteration, a CSV file")
        ->type_name("FILE");
    app->add_option("--html", options.html, "write the report as one page for a browser")->type_name("FILE");
    app->add_flag("--repair", options.repair, "take what is repairable in the file, and report it");
    common.add_to(*app);
    app->footer("MATRIX as a generator:\n" + generator_help() +
                "\nExamples\n  seidel solve A.mtx --rhs b.mtx --out x.mtx\n"
                "  seidel solve poisson3d:128 --precond symgs --backend cuda\n"
                "Ctrl-C stops at the next iteration, writes the best x so far and reports; a second one ends at once.");
  }

  void finish(const CommonTexts& common) {
    const auto not_yet = [](const char* option, const std::string& value, const char* instead) {
      throw UsageError(formatted("{} {}: multigrid is not in this version; take {}", option, value, instead));
    };
    if (method == "multigrid") not_yet("--method", method, "--method auto --precond symgs");
    if (preconditioner == "amg" || preconditioner == "gmg") not_yet("--precond", preconditioner, "--precond symgs");
    options.request.method = one_of("--method", method, {Method::cg, Method::bicgstab, Method::gmres});
    options.request.preconditioner = one_of(
        "--precond", preconditioner, {PreconditionerKind::none, PreconditionerKind::jacobi, PreconditionerKind::symgs});
    options.order_by_time = order == "auto";
    if (!order.empty())
      options.request.order = one_of("--order", order, {Order::natural, Order::colours, Order::blocks});
    if (!tolerance.empty())
      options.tolerance =
          number<double>("--tol", tolerance, "a number above 0 and below 1", [](double v) { return v > 0 && v < 1; });
    if (!max_iterations.empty())
      options.max_iterations = number<std::int64_t>("--max-iterations", max_iterations, "a whole number from 0 up",
                                                    [](auto v) { return v >= 0; });
    if (!time_limit.empty())
      options.time_limit =
          number<double>("--time-limit", time_limit, "seconds, a number above 0", [](double v) { return v > 0; });
    apply_settings(pairs, options);
    const SymgsSettings& sweeps = options.sweeps;
    options.request.one_plain_pair = sweeps.omega == 1 && sweeps.pairs == 1 && !sweeps.single;
    if ((options.matrix == "-") + (options.rhs == "-") + (options.x0 == "-") > 1)
      throw UsageError("standard input (-) holds one file; give the others by name");
    if ((options.out == "-") + (options.history == "-") + (common.json == "-") > 1)
      throw UsageError("standard output (-) takes one of --out, --history and --json; give the others a file name");
  }
};

struct InfoCommand {
  InfoOptions options;
  CLI::App* app = nullptr;

  void declare(CLI::App& program, CommonTexts& common) {
    app = add_command(program, "info", "say what a matrix is like, and what that means for solving");
    app->add_option("MATRIX", options.matrix, matrix_help)->required();
    app->add_flag("--repair", options.repair, "take what is repairable in the file, and report it");
    common.add_to(*app);
    app->footer("MATRIX as a generator:\n" + generator_help());
  }
  void finish(const CommonTexts&) {}
};

void require_one_output(const CommonTexts& common, const std::string& out, const char* option) {
  if (out == "-" && common.json == "-")
    throw UsageError(formatted("standard output (-) takes one of {} and --json; give the other a file name", option));
}

struct GenerateCommand {
  GenerateOptions options;
  std::string seed;
  CLI::App* app = nullptr;

  void declare(CLI::App& program, CommonTexts& common) {
    app = add_command(program, "generate", "write a generated matrix to a file");
    app->add_option("SPEC", options.spec, "which one, as listed below")->required();
    app->add_option("-o,--out", options.out, "the .mtx or .mtx.gz file to write, - for standard output")
        ->type_name("FILE")
        ->required();
    app->add_option("--seed", seed, "of the random ones: the same seed, the same matrix, everywhere (1)")
        ->type_name("N");
    common.add_to(*app);
    app->footer("SPEC is one of\n" + generator_help());
  }
  void finish(const CommonTexts& common) {
    if (!seed.empty())
      options.seed = number<std::uint64_t>("--seed", seed, "a whole number from 0 to 18446744073709551615",
                                           [](auto) { return true; });
    require_one_output(common, options.out, "--out");
  }
};

struct ConvertCommand {
  ConvertOptions options;
  CLI::App* app = nullptr;

  void declare(CLI::App& program, CommonTexts& common) {
    app = add_command(program, "convert",
                      "read a matrix, write it as a clean Matrix Market file: rows sorted, duplicates summed");
    app->add_option("IN", options.in, matrix_help)->required();
    app->add_option("OUT", options.out, "the .mtx or .mtx.gz file to write, - for standard output")->required();
    app->add_flag("--transpose", options.transpose, "write the transpose");
    app->add_flag("--sort")->description("entries in order of rows, one triangle in order of columns (always so)");
    app->add_option("--format", options.form, "coordinate (the nonzeros), array (all entries)")
        ->type_name("NAME")
        ->capture_default_str();
    app->add_flag("--repair", options.repair, "take what is repairable in the file, and report it");
    common.add_to(*app);
  }
  void finish(const CommonTexts& common) {
    require_one_of("--format", options.form, {"coordinate", "array"});
    require_one_output(common, options.out, "OUT");
  }
};

struct ValidateCommand {
  ValidateOptions options;
  CLI::App* app = nullptr;

  void declare(CLI::App& program, CommonTexts& common) {
    app = add_command(program, "validate", "check every kernel, format, back end, baseline and solver");
    app->add_option("MATRIX", options.matrices, "as for solve; a built-in list unless given");
    app->add_flag("--list", options.list, "print the rivals that are checked and exit");
    app->add_option("--only", options.only, "rivals whose names match a pattern with * and ?, such as 'spmm.*'")
        ->type_name("GLOB");
    app->add_option("--html", options.html, "write the report as one page for a browser")->type_name("FILE");
    common.add_to(*app);
  }
  void finish(const CommonTexts&) {}
};

/// "seidel", "seidel solve", ...: where on the command line `app` and the commands given below it are.
std::string path_of(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return app.get_name() + (below.empty() ? "" : " " + path_of(*below.front()));
}
const CLI::App& last_of(const CLI::App& app) {
  const auto below = app.get_subcommands();
  return below.empty() ? app : last_of(*below.front());
}

[[noreturn]] void refuse_command(const CLI::App& app, const std::vector<std::string>& names) {
  std::string all;
  for (const auto& name : names) all += (all.empty() ? "" : ", ") + name;
  const auto words = app.remaining();
  if (words.empty())
    throw UsageError(formatted(
        "a command is missing, expected one of {}\n  start with: seidel solve poisson3d:32, or see seidel --help",
        all));
  const std::string& word = words.front();
  const bool matrix = word.find(".mtx") != std::string::npos || is_generator(word) || word == "-";
  throw UsageError(formatted(
      "unknown {} '{}'{}, expected one of {}", word.starts_with("-") && word != "-" ? "option" : "command", word,
      matrix ? formatted(" (did you mean seidel solve {}?)", quoted(word)) : did_you_mean(word, names), all));
}

}  // namespace

Request parse(int argc, char** argv) {
  CLI::App app("Solves sparse linear systems, and tells the truth about the answer.", "seidel");
  app.set_help_flag("-h,--help", "print this and exit");
  app.set_version_flag("--version", formatted("seidel {}", version), "print the version and exit");
  app.allow_extras();
  app.footer(
      "Start with    seidel solve poisson3d:32\n"
      "Options of a command    seidel COMMAND --help\n"
      "Exit codes    0 done, 1 ran but did not get there, 2 wrong usage, 3 bad input, 4 out of memory, 5 no such back "
      "end");
  CommonTexts common;
  SolveCommand solve;
  InfoCommand info;
  GenerateCommand generate;
  ConvertCommand convert;
  ValidateCommand validate;
  BenchReadCommand bench_read;
  BenchKernelCommand bench_spmv, bench_spmm, bench_symgs, bench_symgs_guess, bench_transpose;
  BenchSolveCommand bench_solve;
  BenchSuiteCommand bench_suite;
  BenchMachineCommand bench_machine;
  BenchCompareCommand bench_compare;
  solve.declare(app, common);
  info.declare(app, common);
  generate.declare(app, common);
  convert.declare(app, common);
  validate.declare(app, common);
  CLI::App* bench = add_command(app, "bench", "measure");
  bench->set_help_flag("-h,--help", "print this and exit");
  bench_spmv.declare(*bench, common, "spmv", "sparse matrix times vector");
  bench_spmm.declare(*bench, common, "spmm", "sparse matrix times several vectors");
  bench_symgs.declare(*bench, common, "symgs", "a forward and a backward Gauss-Seidel sweep from zero");
  bench_symgs_guess.declare(*bench, common, "symgs-guess", "the same from a guess, which reads more");
  bench_transpose.declare(*bench, common, "transpose", "the transpose of a sparse matrix");
  bench_solve.declare(*bench, common);
  bench_suite.declare(*bench, common);
  bench_machine.declare(*bench, common);
  bench_compare.declare(*bench, common);
  bench_read.declare(*bench, common);

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    return PrintText{last_of(app).help()};
  } catch (const CLI::CallForVersion&) {
    return PrintText{formatted("seidel {}\n", version)};
  } catch (const CLI::ParseError& error) {
    // An option that is not known explains a missing argument better than the missing argument does.
    refuse_extras(last_of(app), path_of(app));
    throw UsageError(formatted("{}: {}\n  see {} --help", path_of(app), error.what(), path_of(app)));
  }
  if (app.get_subcommands().empty()) refuse_command(app, {"solve", "info", "generate", "convert", "validate", "bench"});
  if (bench->parsed() && bench->get_subcommands().empty())
    refuse_command(
        *bench, {"spmv", "spmm", "symgs", "symgs-guess", "transpose", "solve", "suite", "machine", "compare", "read"});
  refuse_extras(last_of(app), path_of(app));

  std::string command_line = quoted(argc > 0 ? argv[0] : "seidel");
  for (int i = 1; i < argc; ++i) command_line += " " + quoted(argv[i]);
  const auto finished = [&](auto& command) -> Request {
    common.check(command.options);
    command.finish(common);
    command.options.command_line = command_line;
    return std::move(command.options);
  };
  if (solve.app->parsed()) return finished(solve);
  if (info.app->parsed()) return finished(info);
  if (generate.app->parsed()) return finished(generate);
  if (convert.app->parsed()) return finished(convert);
  if (validate.app->parsed()) return finished(validate);
  for (BenchKernelCommand* kernel : {&bench_spmv, &bench_spmm, &bench_symgs, &bench_symgs_guess, &bench_transpose})
    if (kernel->app->parsed()) {
      kernel->options.thread_counts = thread_list(common);
      return finished(*kernel);
    }
  if (bench_solve.app->parsed()) {
    bench_solve.options.thread_counts = thread_list(common);
    return finished(bench_solve);
  }
  if (bench_suite.app->parsed()) return finished(bench_suite);
  if (bench_machine.app->parsed()) return finished(bench_machine);
  if (bench_compare.app->parsed()) return finished(bench_compare);
  return finished(bench_read);
}

}  // namespace seidel::drivers
