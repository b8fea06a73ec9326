// The one file of the program that compiles CLI11.
#include <CLI/CLI.hpp>

#include <charconv>
#include <cmath>

#include <seidel/config.hpp>
#include <seidel/drivers/options.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/errors.hpp>
#include <seidel/formats/generators/generate.hpp>

namespace seidel::drivers {

namespace {

std::string list(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : format(" (did you mean {}?)", near);
}

void require_one_of(const char* option, const std::string& value, const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  throw UsageError(format("{}: found '{}'{}, expected one of {}", option, value, did_you_mean(value, allowed), list(allowed)));
}

/// The whole text as a number that `fits`; `expected` says what that is.
template <class Number, class Fits>
Number number(const std::string& option, const std::string& text, const char* expected, const Fits& fits) {
  Number value{};
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !fits(value))
    throw UsageError(format("{}: found '{}', expected {}", option, text, expected));
  return value;
}

Settings read_settings(const std::vector<std::string>& pairs) {
  const std::vector<std::string> keys = {"restart", "omega", "atol"};
  const char* meaning =
      "\n  restart=N  basis vectors that gmres keeps before it starts again (50)"
      "\n  omega=W    relaxation factor of symgs, 0 < W < 2 (1: none)"
      "\n  atol=T     also solved when ||b - Ax|| <= T, whatever ||b|| is (0: never)";
  Settings settings;
  for (const auto& pair : pairs) {
    const auto equals = pair.find('=');
    if (equals == std::string::npos) throw UsageError(format("--set: found '{}', expected KEY=VALUE with a KEY of{}", pair, meaning));
    const std::string key = pair.substr(0, equals), value = pair.substr(equals + 1), option = "--set " + key;
    if (key == "restart")
      settings.restart = number<int>(option, value, "a whole number from 1 to 10000", [](int v) { return v >= 1 && v <= 10000; });
    else if (key == "omega")
      settings.omega = number<double>(option, value, "a number above 0 and below 2", [](double v) { return v > 0 && v < 2; });
    else if (key == "atol")
      settings.absolute_tolerance =
          number<double>(option, value, "a number from 0 up", [](double v) { return v >= 0 && std::isfinite(v); });
    else
      throw UsageError(format("--set: unknown key '{}'{}, expected one of{}", key, did_you_mean(key, keys), meaning));
  }
  return settings;
}

/// The texts behind CommonOptions, before they are checked.
struct CommonTexts {
  std::string backend = "auto", threads, json;
  bool quiet = false, verbose = false;

  void add_to(CLI::App& app) {
    app.add_option("--backend", backend, "where to compute: auto, serial (one core), openmp (all cores), cuda (GPU)")
        ->type_name("NAME")->capture_default_str()->group("Every command");
    app.add_option("--threads", threads, "cores to use; all that the process may use unless given")->type_name("N")->group("Every command");
    app.add_option("--json", json, "write the report as JSON to FILE, or instead of the text to standard output (-)")
        ->type_name("FILE|-")->group("Every command");
    app.add_flag("--quiet", quiet, "no report, no progress: the exit code and files only")->group("Every command");
    app.add_flag("--verbose", verbose, "say more")->group("Every command");
    app.set_help_flag("--help", "print this and exit")->group("Every command");
    app.set_version_flag("--version", format("seidel {}", version), "print the version and exit")->group("Every command");
  }
  void check(CommonOptions& options) const {
    require_one_of("--backend", backend, {"auto", "serial", "openmp", "cuda"});
    options.backend = backend == "auto"     ? BackendName::automatic
                      : backend == "serial" ? BackendName::serial
                      : backend == "openmp" ? BackendName::openmp
                                            : BackendName::cuda;
    if (!threads.empty())
      options.threads = number<int>("--threads", threads, "a whole number from 1 to 4096", [](int v) { return v >= 1 && v <= 4096; });
    if (options.backend == BackendName::serial && options.threads > 1)
      throw UsageError(format("--threads {}: the back end serial has one thread; take --backend openmp", options.threads));
    if (quiet && verbose) throw UsageError("--quiet and --verbose contradict each other; take one of them");
    options.json = json;
    options.quiet = quiet;
    options.verbose = verbose;
  }
};

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// Refuses what `app` did not understand.
void refuse_extras(const CLI::App& app, const std::string& command) {
  const auto extras = app.remaining();
  if (extras.empty()) return;
  for (const auto& word : extras)
    if (word.size() > 1 && word[0] == '-') {
      const auto names = option_names(app);
      const std::string option = word.substr(0, word.find('='));
      throw UsageError(format("{}: unknown option {}{}\n  it knows {}", command, option, did_you_mean(option, names), list(names)));
    }
  throw UsageError(format("{}: '{}' is one argument too many\n  see {} --help", command, extras.front(), command));
}

const char* matrix_help = "a .mtx or .mtx.gz file, - for standard input, or a generator such as poisson3d:64 (listed below)";

std::string quoted(const char* word) {
  const std::string text = word;
  return text.find_first_of(" \t\"'\\$&|;<>()*?") == std::string::npos && !text.empty() ? text : "'" + text + "'";
}

const std::vector<std::string> commands = {"solve", "info", "generate", "convert", "validate", "bench"};

}  // namespace

Request parse(int argc, char** argv) {
  CLI::App app("Solves sparse linear systems, and tells the truth about the answer.", "seidel");
  app.set_help_flag("--help", "print this and exit");
  app.set_version_flag("--version", format("seidel {}", version), "print the version and exit");
  app.allow_extras();
  app.footer("Start with    seidel solve poisson3d:32\n"
             "A command's options: seidel COMMAND --help\n"
             "Exit codes    0 done, 1 ran but did not get there, 2 wrong usage, 3 bad input, 4 out of memory, 5 no such back end");
  CommonTexts common;
  const auto command = [&](const char* name, const char* what) {
    CLI::App* sub = app.add_subcommand(name, what);
    sub->allow_extras();
    return sub;
  };

  SolveOptions solve;
  std::string tolerance, max_iterations, time_limit;
  std::vector<std::string> pairs;
  auto* solve_app = command("solve", "solve A x = b");
  solve_app->add_option("MATRIX", solve.matrix, matrix_help)->required();
  solve_app->add_option("--rhs", solve.rhs, "right-hand side b, a Matrix Market file (A * ones unless given)")->type_name("FILE");
  solve_app->add_option("--x0", solve.x0, "where to start (0 unless given)")->type_name("FILE");
  solve_app->add_option("--out", solve.out, "write x, a Matrix Market file")->type_name("FILE");
  solve_app->add_option("--method", solve.method, "auto, cg, bicgstab, gmres")->type_name("NAME")->capture_default_str();
  solve_app->add_option("--precond", solve.preconditioner, "auto, none, jacobi, symgs")->type_name("NAME")->capture_default_str();
  solve_app->add_option("--order", solve.order, "of the symgs sweeps: auto, natural, colours")->type_name("NAME")->capture_default_str();
  solve_app->add_option("--tol", tolerance, "solved when ||b - Ax|| <= TOL ||b|| (1e-8)")->type_name("TOL");
  solve_app->add_option("--max-iterations", max_iterations, "stop after N iterations (20000)")->type_name("N");
  solve_app->add_option("--time-limit", time_limit, "stop after S seconds of solving (none)")->type_name("S");
  solve_app->add_option("--set", pairs, "a detail: restart=N (gmres), omega=W (symgs), atol=T")->type_name("KEY=VALUE")->allow_extra_args(false);
  solve_app->add_option("--history", solve.history, "write the residual after each iteration, a CSV file")->type_name("FILE");
  solve_app->add_flag("--repair", solve.repair, "take what is repairable in the file, and report it");
  common.add_to(*solve_app);
  solve_app->footer("MATRIX as a generator:\n" + generator_help() +
                    "\nExamples      seidel solve A.mtx --rhs b.mtx --out x.mtx\n"
                    "              seidel solve poisson3d:128 --precond symgs --backend cuda\n"
                    "Ctrl-C stops at the next iteration, writes the best x so far and reports; a second one ends at once.");

  InfoOptions info;
  auto* info_app = command("info", "say what a matrix is like, and what that means for solving");
  info_app->add_option("MATRIX", info.matrix, matrix_help)->required();
  info_app->add_flag("--repair", info.repair, "take what is repairable in the file, and report it");
  common.add_to(*info_app);
  info_app->footer("MATRIX as a generator:\n" + generator_help());

  GenerateOptions generate;
  std::string seed;
  auto* generate_app = command("generate", "write a generated matrix to a file");
  generate_app->add_option("SPEC", generate.spec, "which one, as listed below")->required();
  generate_app->add_option("-o,--out", generate.out, "the .mtx or .mtx.gz file to write, - for standard output")->type_name("FILE")->required();
  generate_app->add_option("--seed", seed, "of the random ones: the same seed, the same matrix, everywhere (1)")->type_name("N");
  common.add_to(*generate_app);
  generate_app->footer("SPEC is one of\n" + generator_help());

  ConvertOptions convert;
  auto* convert_app = command("convert", "read a matrix, write it as a clean Matrix Market file: rows sorted, duplicates summed");
  convert_app->add_option("IN", convert.in, matrix_help)->required();
  convert_app->add_option("OUT", convert.out, "the .mtx or .mtx.gz file to write, - for standard output")->required();
  convert_app->add_flag("--transpose", convert.transpose, "write the transpose");
  convert_app->add_flag("--sort", "entries in order of rows and columns (always so)");
  convert_app->add_option("--format", convert.form, "coordinate (the nonzeros), array (all entries)")->type_name("NAME")->capture_default_str();
  convert_app->add_flag("--repair", convert.repair, "take what is repairable in the file, and report it");
  common.add_to(*convert_app);

  ValidateOptions validate;
  auto* validate_app = command("validate", "check every kernel, format, back end and solver against Eigen on these matrices");
  validate_app->add_option("MATRIX", validate.matrices, "as for solve; a built-in list unless given");
  common.add_to(*validate_app);

  BenchReadOptions bench_read;
  std::string repetitions;
  auto* bench_app = command("bench", "measure");
  auto* bench_read_app = bench_app->add_subcommand("read", "reading a Matrix Market file, against a bare scan of its bytes");
  bench_read_app->allow_extras();
  bench_read_app->add_option("FILE", bench_read.file, "a .mtx file; best in the memory cache, 500 MB and more")->required();
  bench_read_app->add_option("--repetitions", repetitions, "of each measurement; the median counts (5)")->type_name("N");
  common.add_to(*bench_read_app);
  bench_app->set_help_flag("--help", "print this and exit");

  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    const CLI::App* at = &app;
    while (!at->get_subcommands().empty()) at = at->get_subcommands().front();
    return PrintText{at->help()};
  } catch (const CLI::CallForVersion&) {
    return PrintText{format("seidel {}\n", version)};
  } catch (const CLI::ParseError& error) {
    // An option that is not known explains a missing argument better than the missing argument does.
    for (const auto* sub : app.get_subcommands()) refuse_extras(*sub, "seidel " + sub->get_name());
    std::string where = "seidel";
    for (const auto* sub : app.get_subcommands()) where += " " + sub->get_name();
    throw UsageError(format("{}: {}\n  see {} --help", where, error.what(), where));
  }

  const auto used = app.get_subcommands();
  if (used.empty()) {
    const auto words = app.remaining();
    if (words.empty()) throw UsageError("a command is missing, expected one of " + list(commands) + "\n  start with: seidel solve poisson3d:32, or see seidel --help");
    const bool matrix = words.front().find(".mtx") != std::string::npos || is_generator(words.front()) || words.front() == "-";
    throw UsageError(format("unknown command '{}'{}, expected one of {}", words.front(),
                            matrix ? format(" (did you mean seidel solve {}?)", words.front()) : did_you_mean(words.front(), commands), list(commands)));
  }
  refuse_extras(*used.front(), "seidel " + used.front()->get_name());
  std::string command_line = "seidel";
  for (int i = 1; i < argc; ++i) command_line += " " + quoted(argv[i]);
  const auto finish = [&](auto& options) -> Request {
    common.check(options);
    options.command_line = command_line;
    return std::move(options);
  };

  if (solve_app->parsed()) {
    const auto not_yet = [](const char* option, const std::string& value, const std::vector<std::string>& names, const char* instead) {
      if (std::find(names.begin(), names.end(), value) != names.end())
        throw UsageError(format("{} {}: multigrid is not in this version; take {}", option, value, instead));
    };
    not_yet("--method", solve.method, {"multigrid"}, "--method auto --precond symgs");
    not_yet("--precond", solve.preconditioner, {"amg", "gmg"}, "--precond symgs");
    require_one_of("--method", solve.method, {"auto", "cg", "bicgstab", "gmres"});
    require_one_of("--precond", solve.preconditioner, {"auto", "none", "jacobi", "symgs"});
    require_one_of("--order", solve.order, {"auto", "natural", "colours"});
    if (!tolerance.empty())
      solve.tolerance = number<double>("--tol", tolerance, "a number above 0 and below 1", [](double v) { return v > 0 && v < 1; });
    if (!max_iterations.empty())
      solve.max_iterations = number<std::int64_t>("--max-iterations", max_iterations, "a whole number from 0 up", [](auto v) { return v >= 0; });
    if (!time_limit.empty())
      solve.time_limit = number<double>("--time-limit", time_limit, "seconds, a number above 0", [](double v) { return v > 0; });
    solve.settings = read_settings(pairs);
    if ((solve.matrix == "-") + (solve.rhs == "-") + (solve.x0 == "-") > 1)
      throw UsageError("standard input (-) holds one file; give the others by name");
    if ((solve.out == "-") + (solve.history == "-") + (common.json == "-") > 1)
      throw UsageError("standard output (-) takes one of --out, --history and --json; give the others a file name");
    return finish(solve);
  }
  if (info_app->parsed()) return finish(info);
  if (generate_app->parsed()) {
    if (!seed.empty())
      generate.seed = number<std::uint64_t>("--seed", seed, "a whole number from 0 to 18446744073709551615", [](auto) { return true; });
    if (generate.out == "-" && common.json == "-") throw UsageError("standard output (-) takes one of --out and --json; give the other a file name");
    return finish(generate);
  }
  if (convert_app->parsed()) {
    require_one_of("--format", convert.form, {"coordinate", "array"});
    if (convert.out == "-" && common.json == "-") throw UsageError("standard output (-) takes one of OUT and --json; give the other a file name");
    return finish(convert);
  }
  if (validate_app->parsed()) return finish(validate);
  if (!bench_read_app->parsed())
    throw UsageError("seidel bench: expected one of read\n  see seidel bench read --help");
  refuse_extras(*bench_read_app, "seidel bench read");
  if (!repetitions.empty())
    bench_read.repetitions = number<int>("--repetitions", repetitions, "a whole number from 1 to 1000", [](int v) { return v >= 1 && v <= 1000; });
  return finish(bench_read);
}

}  // namespace seidel::drivers
