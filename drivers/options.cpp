// The one file of the program that compiles CLI11.
#include <span>

#include <seidel/drivers/bench/cli.hpp>
#include <seidel/drivers/cli.hpp>
#include <seidel/drivers/direct.hpp>
#include <seidel/drivers/report/command_line.hpp>
#include <seidel/formats/generators/generate.hpp>

namespace seidel::drivers {

namespace {

/// For commands that take a MATRIX; generate has the whole of it.
std::string generators() {
  return formatted("MATRIX may be a generator (seidel generate --help says what each makes and takes):\n  {}",
                   joined(generator_names()));
}

const Range<double> relative_tolerance{"a number above 0 and below 1, or 0 beside --set atol=T",
                                       [](double v) { return v >= 0 && v < 1; }};

struct SolveCommand : CommandFor<SolveOptions> {
  std::string method = "auto", preconditioner = "auto", order, permute = "auto", scale = "auto";
  std::vector<std::string> pairs;
  bool least_squares = false;

  explicit SolveCommand(CLI::App& program) : CommandFor(program, "solve", "solve A x = b") {
    shares_work = built_with_mpi;
    read_from(app->add_option("MATRIX", options.matrix, matrix_help)->required());
    input_file(
        "-b,--rhs", options.rhs,
        "right-hand side b, a Matrix Market file or plain numbers (default: A * ones); several columns are several "
        "right-hand sides");
    exchangeable.push_back(input_file("--x0", options.x0, "where to start (default: 0)"));
    input_file(
        "--coordinates", options.coordinates,
        "of the points of an elastic body, one row of 2 or 3 numbers per point, or the generator of A: amg makes "
        "its rigid-body modes of them");
    input_file("--near-null", options.near_null,
               "what A maps to nearly nothing, a column per vector: what amg should know of the smooth error; a Matrix "
               "Market file or plain numbers");
    input_file(
        "--null-space", options.null_space,
        "A is singular: constant (where rows sum to zero), or a file with vectors z, A z = 0; the part of b in it "
        "is left out")
        ->type_name("constant|FILE");
    exchangeable.push_back(file("-o,--out", options.out, "write x, a Matrix Market file; as many columns as --rhs"));
    app->add_flag("--least-squares", least_squares,
                  "find the x with the least ||b - Ax||, of several the smallest: for rectangular and singular A");
    name("--method", method, names_of(program_methods));
    name("--precond", preconditioner, names_of_preconditioners());
    name("--order", order,
         "symgs only: natural (default, bit-identical everywhere), colours, auto (the fastest by estimate)");
    name("--permute", permute, "auto (where the diagonal has zeros, preconditioners see other rows there), none");
    name("--scale", scale, "auto (preconditioners see scaled rows and columns where that helps), none");
    number("--tol", options.tolerance, "TOL", "solved when ||b - Ax|| <= TOL ||b|| (1e-8)", relative_tolerance);
    with_text("--error-tol", "E", "go on until the estimated error of x is at most E, too",
              [this](const std::string& text) {
                options.error_tolerance = drivers::number("--error-tol", text, between_0_and_1);
              });
    number("--max-iterations", options.max_iterations, "N", "stop after N iterations (20000)", whole<std::int64_t>(0));
    number("--time-limit", options.time_limit, "S", "stop after S seconds of setup and solving (none)",
           Range<double>{"seconds, a number above 0", [](double v) { return v > 0; }});
    details(pairs, "a detail, as listed below; may be given several times");
    file("--history", options.history,
         "write the residual after each iteration, a CSV file, with a column for each of --rhs");
    page(options.html);
    app->add_flag("--repair", options.repair, repair_help);
    app->footer("NAME of --method" + meanings_of(program_methods) + "\n\nNAME of --precond" +
                meanings_of_preconditioners() + "\n\nKEY=VALUE of --set" + meanings_of_details() + "\n\n" +
                generators() +
                "\n\nExamples\n  seidel solve A.mtx --rhs b.mtx --out x.mtx\n"
                "  seidel solve poisson3d:128 --precond symgs --backend cuda\n"
                "Ctrl-C stops at the next iteration, writes the best x so far and reports; a second one ends at once.");
  }

  void finish() override {
    const bool geometric = is_geometric(preconditioner);
    options.request.method = entry_of("--method", method, program_methods);
    request_preconditioner(options, preconditioner, pairs);
    if (least_squares) require_least_squares();
    if (options.request.method == direct_method) {
      on_host = "direct computes factors on the host";
      if (options.request.preconditioner || !order.empty())
        throw UsageError("--method direct: it takes no preconditioner; leave --precond and --order out");
      if (!options.x0.empty()) throw UsageError("--method direct: it takes no first guess; leave --x0 out");
      if (app->get_option("--max-iterations")->count() > 0)
        throw UsageError("--method direct: it does not iterate; leave --max-iterations out");
      options.request.preconditioner = PreconditionerKind::none;
    }
    if (options.request.preconditioner && !order.empty() && options.request.preconditioner->orders.size() < 2)
      throw UsageError(formatted("--order {}: {} has no choice of orders; leave --order out, or take --precond symgs",
                                 order, options.request.preconditioner->name));
    for (const auto& [option, value] :
         {std::pair{"--coordinates", &options.coordinates}, {"--near-null", &options.near_null}})
      if (!value->empty() && (options.request.preconditioner != PreconditionerKind::amg || geometric))
        throw UsageError(formatted("{}: only amg uses it; take --precond amg", option));
    if (!options.coordinates.empty() && !options.near_null.empty())
      throw UsageError("--coordinates and --near-null both tell the near-null vectors; give one of them");
    options.permute = is_auto("--permute", permute);
    options.scale = is_auto("--scale", scale);
    options.order_by_time = lower_case(order) == "auto";
    if (!order.empty()) options.request.order = one_of("--order", order, {Order::natural, Order::colours});
    if (options.tolerance == 0 && options.absolute_tolerance == 0)
      throw UsageError(formatted("--tol: found '0', expected {}", relative_tolerance.expected));
    require_ending("--out", options.out, WrittenAs::matrix_market);
  }

  /// Refuses what would be ignored beside --least-squares.
  void require_least_squares() {
    MethodRequest& request = options.request;
    request.goal = Goal::least_squares;
    if (request.method && request.method->needs != Needs::nothing)
      throw UsageError(formatted("--method {}: it solves square systems; beside --least-squares take --method {}",
                                 request.method->name, Method::lsmr.name));
    if (request.preconditioner && !Method::lsmr.takes(request.preconditioner->name))
      throw UsageError(
          formatted("--precond {}: --least-squares takes none; leave --precond out", request.preconditioner->name));
    for (const auto* option : {"--order", "--permute", "--scale", "--null-space"})
      if (app->get_option(option)->count() > 0)
        throw UsageError(formatted("{}: --least-squares does not use it; leave {} out", option, option));
  }
};

struct InfoCommand : CommandFor<InfoOptions> {
  std::string preconditioner;
  std::vector<std::string> pairs;

  explicit InfoCommand(CLI::App& program)
      : CommandFor(program, "info", "say what a matrix is like, and what that means for solving") {
    read_from(app->add_option("MATRIX", options.matrix, matrix_help)->required());
    app->add_flag("--repair", options.repair, repair_help);
    name("--precond", preconditioner,
         "make this preconditioner as well, where solve would, and say what it holds: " + names_of_preconditioners());
    details(pairs, "a detail of it, as seidel solve --help lists them; may be given several times");
    app->footer(generators());
  }
  void finish() override {
    if (options.quiet && options.json.empty())
      throw UsageError("--quiet: info has nothing to say then; give a file for its report with --json");
    if (preconditioner.empty()) on_host = "info works on the host, unless it makes what --precond names";
    SolveOptions solve;
    if (!preconditioner.empty()) {
      request_preconditioner(solve, preconditioner, pairs);
      options.made = solve.request;
    }
    for (const auto& pair : pairs)
      if (!options.made || !is_detail_of_preconditioners(pair.substr(0, pair.find('='))))
        throw UsageError(formatted("--set {}: expected a detail of the preconditioner that --precond names", pair));
  }
};

struct GenerateCommand : CommandFor<GenerateOptions> {
  explicit GenerateCommand(CLI::App& program) : CommandFor(program, "generate", "write a generated matrix to a file") {
    app->add_option("SPEC", options.spec, "which one, as listed below")->required()->type_name("");
    file("-o,--out", options.out, "the .mtx or .mtx.gz file to write, - for standard output")->required();
    file("--coordinates", options.coordinates,
         "of elasticity3d: write the coordinates of its points, too, for seidel solve --coordinates");
    number("--seed", options.seed, "N", "of the random ones: the same seed, the same matrix, everywhere (1)",
           whole<std::uint64_t>(0));
    app->add_flag("--fp32", options.fp32, "of dense:MxN: elements of 4 bytes (8)");
    on_host = "generate works on the host";
    app->footer("SPEC is one of\n" + generator_help() +
                "\n  dense:MxN  a dense matrix in a binary file, for seidel gemm (docs/gemm.md has its layout)");
  }
  void finish() override {
    require_ending("--out", options.out,
                   options.spec.starts_with("dense:") ? WrittenAs::dense : WrittenAs::matrix_market);
    require_ending("--coordinates", options.coordinates, WrittenAs::matrix_market);
    if (options.coordinates == "-") throw UsageError("--coordinates: found '-', expected the name of a file");
    if (app->get_option("--seed")->count() > 0 && is_generator(options.spec) && !is_random(options.spec))
      throw UsageError(
          formatted("--seed: {} is not random: it is the same for every seed; leave --seed out", options.spec));
  }
};

struct GemmCommand : CommandFor<GemmOptions> {
  explicit GemmCommand(CLI::App& program)
      : CommandFor(program, "gemm", "multiply dense matrices in files, C = A B (+ C), on many processes (mpirun)") {
    shares_work = true;
    read_from(app->add_option(
                     "A", options.a,
                     "M x K, as seidel generate dense:MxK writes it; the precision of the files is that of the product")
                  ->required());
    read_from(app->add_option("B", options.b, "K x N")->required());
    read_from(app->add_option("C", options.c, "M x N, added to the product"));
    file("-o,--out", options.out, "the file to write the result to")->required();
    app->add_option("--grid", options.grid, "rows and columns of processes (as square as can be)")->type_name("RxC");
    number("--block", options.block, "N", "rows and columns per block of a matrix (32)",
           whole<std::int64_t>(1, 1 << 20));
    name("--method", options.method,
         "summa (the bits of one machine), row-sums (each row of processes adds up its parts)");
  }
  void finish() override {
    require_one_of("--method", options.method, {"summa", "row-sums"});
    require_ending("--out", options.out, WrittenAs::dense);
    // Many processes read each file, and write the result under another name at first: a device would be replaced by a file.
    for (const auto& [name, path] :
         {std::pair("A", options.a), {"B", options.b}, {"C", options.c}, {"--out", options.out}})
      if (path == "-" || is_special(path))
        throw UsageError(
            formatted("{}: found '{}', which is a stream or a device, expected the name of a file: many "
                      "processes {} it",
                      name, path, path == options.out ? "write" : "read"));
  }
};

struct ConvertCommand : CommandFor<ConvertOptions> {
  explicit ConvertCommand(CLI::App& program)
      : CommandFor(program, "convert",
                   "read a matrix, write it as a clean Matrix Market file: rows sorted, duplicates summed") {
    on_host = "convert works on the host";
    exchangeable = {
        read_from(app->add_option("IN", options.in, matrix_help)->required()),
        written_to(app->add_option("OUT", options.out, "the .mtx or .mtx.gz file to write, - for standard output")
                       ->required())};
    app->add_flag("--transpose", options.transpose, "write the transpose");
    app->add_flag(
        "--permute-diagonal", options.permute_diagonal,
        "reorder the rows so that large entries stand on the diagonal; b needs the same order, which --json lists");
    app->add_flag("--real-form", options.real_form,
                  "of a complex file: [Re A, -Im A; Im A, Re A], and [Re b; Im b] of a vector");
    name("--format", options.form, "coordinate (the nonzeros), array (all entries)");
    app->add_flag("--repair", options.repair, repair_help);
  }
  void finish() override {
    require_one_of("--format", options.form, {"coordinate", "array"});
    require_ending("OUT", options.out, WrittenAs::matrix_market);
  }
};

struct ValidateCommand : CommandFor<ValidateOptions> {
  explicit ValidateCommand(CLI::App& program)
      : CommandFor(program, "validate", "check every kernel, format, back end, baseline and solver") {
    read_from(app->add_option("MATRIX", options.matrices, "as for solve; a built-in list unless given"));
    app->add_flag("--list", options.list, "print the rivals that are checked and exit");
    app->add_option(
           "--only", options.only,
           "rivals whose names match a pattern with * and ?, or one of several between commas, such as 'spmm.*'")
        ->type_name("GLOB");
    page(options.html);
  }
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

/// The keys of --set, where the command has that.
std::vector<std::string> settings_of(const CLI::App& app) {
  return last_of(app).get_option_no_throw("--set") ? names_of_details() : std::vector<std::string>();
}

/// An option that was given without its value, or several times.
std::string wrong_count(const CLI::App& app, const std::string& name) {
  const CLI::Option* const option = app.get_option_no_throw(name);
  const std::size_t found = option ? option->count() : 0;
  return formatted("{}: found {}, expected one", name, found == 0 ? "no value" : formatted("{} values", found));
}

constexpr const char *example = "seidel solve poisson3d:32", *bench_example = "seidel bench suite --small";

[[noreturn]] void refuse_command(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* command : app.get_subcommands([](const CLI::App*) { return true; }))
    names.push_back(command->get_name());
  const auto words = app.remaining();
  if (words.empty()) {
    const bool bench = app.get_parent() != nullptr;
    throw UsageError(formatted("a command is missing, expected one of {}\n  start with: {}, or see seidel{} --help",
                               joined(names), bench ? bench_example : example, bench ? " bench" : ""));
  }
  const std::string& word = words.front();
  const bool matrix = word.find(".mtx") != std::string::npos || is_generator(word) || word == "-";
  throw UsageError(formatted(
      "unknown {} '{}'{}, expected one of {}", word.starts_with("-") && word != "-" ? "option" : "command", word,
      matrix ? formatted(" (did you mean seidel solve {}?)", quoted(word)) : did_you_mean(word, names), joined(names)));
}

/// All commands as CLI11 knows them.
struct CommandLine {
  CLI::App app{"Solves sparse linear systems and reports honestly how good the answer is.", "seidel"};
  CLI::App* bench = nullptr;
  CommonTexts common;
  BenchKernelOptions registry;  // bench --list
  std::vector<std::unique_ptr<Command>> commands;

  CommandLine() {
    app.set_help_flag("-h,--help", "print this and exit");
    app.set_version_flag("-V,--version", formatted("seidel {}", version), "print the version and exit");
    app.allow_extras();
    add<SolveCommand, InfoCommand, GenerateCommand, GemmCommand, ConvertCommand, ValidateCommand>(app);
    bench = app.add_subcommand("bench", "measure kernels and solvers, others' beside ours, and this machine")
                ->allow_extras();
    bench->set_help_flag("-h,--help", "print this and exit");
    bench->add_flag("--list", registry.list, "print the rivals of every kernel and exit");
    for (const Kernel* kernel : all_kernels())
      if (kernel != &kernels::gemm || processes_of_mpirun() == 1)
        commands.push_back(std::make_unique<BenchKernelCommand>(*bench, common, *kernel));
    commands.push_back(std::make_unique<BenchSolveCommand>(*bench, common));
    add<BenchSuiteCommand, BenchMachineCommand, BenchHpcgCommand, BenchGemmMpiCommand, BenchCompareCommand,
        BenchReadCommand>(*bench);
    for (const auto& command : commands) command->written_to(common.add_to(*command->app));
    // Now, since a command takes the footer that its parent has when it is made.
    app.footer(formatted(
        "Start with    {}\nOptions of a command    seidel COMMAND --help\n"
        "Exit codes    0 success, 1 not solved or a check failed, 2 wrong usage, 3 bad input, 4 out of memory, "
        "5 no such back end",
        example));
    bench->footer(formatted("Start with    {}\nOptions of a command    seidel bench COMMAND --help", bench_example));
  }

 private:
  template <class... Commands>
  void add(CLI::App& parent) {
    (commands.push_back(std::make_unique<Commands>(parent)), ...);
  }
};

/// Says why `app` was not understood. An option that is not known explains a missing argument better than that does.
[[noreturn]] void refuse(const CLI::App& app, const CLI::ParseError& error) {
  refuse_extras(last_of(app), path_of(app), settings_of(app));
  const std::string said = error.what();
  const bool mismatch = dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr;  // "--tol: ..."
  throw UsageError(formatted("{}: {}\n  see {} --help", within_program(path_of(app)),
                             mismatch ? wrong_count(last_of(app), said.substr(0, said.find(':'))) : said,
                             path_of(app)));
}

/// The words as a shell takes them again. Behind --, which is left out since a report may add options at the end, they are
/// names of files.
std::string quoted_line(const std::vector<char*>& words) {
  std::string line = quoted(words.empty() ? "seidel" : words.front());
  bool only_names = false;
  for (const std::string word : std::span(words).subspan(std::min<std::size_t>(1, words.size())))
    if (!only_names && word == "--")
      only_names = true;
    else
      line += " " + quoted(only_names && word.size() > 1 && word[0] == '-' ? "./" + word : word);
  return line;
}

}  // namespace

Request parse(int argc, char** argv) {
  std::vector<char*> words(argv, argv + argc);
  char help[] = "--help";
  const bool topic_wanted = argc >= 2 && std::string_view(argv[1]) == "help";
  if (topic_wanted) {  // seidel help COMMAND
    words.erase(words.begin() + 1);
    words.push_back(help);
  }
  CommandLine line;
  CLI::App &app = line.app, &bench = *line.bench;
  try {
    app.parse(argc, words.data());
  } catch (const CLI::CallForHelp&) {
    const CLI::App& topic = last_of(app);
    if ((&topic == &app || &topic == &bench) && !topic.remaining().empty()) refuse_command(topic);
    const std::string path = path_of(app);
    const std::string_view next = words[std::size_t(1 + std::count(path.begin(), path.end(), ' '))];
    if (topic_wanted && !next.starts_with('-'))
      throw UsageError(formatted("help: '{}' is one argument too many\n  see {} --help", next, path));
    return {.text = app.help()};
  } catch (const CLI::CallForVersion&) {
    return {.text = formatted("seidel {}\n", version)};
  } catch (const CLI::ParseError& error) {
    refuse(app, error);
  }
  if (app.get_subcommands().empty()) refuse_command(app);
  if (bench.parsed() && bench.get_subcommands().empty()) {
    if (!line.registry.list || !bench.remaining().empty()) refuse_command(bench);
    return {.run = [registry = line.registry] { return run(registry); }};
  }
  refuse_extras(last_of(app), path_of(app), settings_of(app));
  refuse_empty_values(last_of(app), path_of(app));
  const auto given = std::ranges::find_if(line.commands, [](const auto& command) { return command->app->parsed(); });
  return (*given)->finished(line.common, quoted_line(words));
}

}  // namespace seidel::drivers
