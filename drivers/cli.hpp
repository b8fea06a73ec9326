// What the declarations of all commands share. Included by options.cpp alone, which compiles CLI11.
#pragma once
#include <CLI/CLI.hpp>

#include <memory>

#include <seidel/config.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/option_values.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/with_backend.hpp>

namespace seidel::drivers {

/// Makes the option take the name of a file. `standard`, such as /dev/stdin, becomes -. A name that begins with - gets ./ in
/// front, so that it is not taken for an option where a report quotes it.
inline CLI::Option* file_name(CLI::Option* option, const char* standard) {
  if (option->get_positional()) option->type_name("");  // its name says what it is
  return option->transform(CLI::Validator(
      [=](std::string& word) {
        if (word == standard) word = "-";
        if (word.size() > 1 && word[0] == '-') word = "./" + word;
        return std::string();
      },
      ""));
}

/// The texts behind CommonOptions, before they are checked.
struct CommonTexts {
  std::string backend = "auto", threads, json;
  bool quiet = false, verbose = false;

  /// After all options of the command's own. Returns --json.
  CLI::Option* add_to(CLI::App& app) {
    app.option_defaults()->group("Every command");
    app.add_option("--backend", backend, "where to compute: auto, serial (one core), openmp (all cores), cuda (GPU)")
        ->type_name("NAME")
        ->capture_default_str();
    app.add_option("--threads", threads, "threads to use (all cores of this process)")->type_name("N");
    CLI::Option* const file =
        app.add_option("--json", json,
                       "write the report as JSON to FILE, or to standard output (-), the text then to standard error")
            ->type_name("FILE|-");
    app.add_flag("-q,--quiet", quiet, "no report, no progress: the exit code and files only");
    app.add_flag("-v,--verbose", verbose, "say more");
    app.set_help_flag("-h,--help", "print this and exit");
    app.set_version_flag("-V,--version", formatted("seidel {}", version), "print the version and exit");
    return file;
  }
  void check(CommonOptions& options) const {
    require_one_of("--backend", lower_case(backend), {backend_names.begin(), backend_names.end()});
    options.backend =
        BackendName(std::find(backend_names.begin(), backend_names.end(), lower_case(backend)) - backend_names.begin());
    if (!threads.empty()) options.threads = number("--threads", threads, whole(1, 4096));
    if (options.backend == BackendName::serial && options.threads > 1)
      throw UsageError(
          formatted("--threads {}: the back end serial has one thread; take --backend openmp", options.threads));
    if (quiet && verbose) throw UsageError("--quiet and --verbose contradict each other; take one of them");
    options.json = json;
    options.quiet = quiet;
    options.verbose = verbose;
  }
};

inline std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  return names;
}

/// "solve" of "seidel solve".
inline std::string within_program(const std::string& command) {
  return command.substr(std::min(command.size(), command.find(' ') + 1));
}

/// Refuses what `app` did not understand. `settings`: the keys of --set, where it has that.
inline void refuse_extras(const CLI::App& app, const std::string& command,
                          const std::vector<std::string>& settings = {}) {
  auto extras = app.remaining();
  if (const auto end_of_options = std::find(extras.begin(), extras.end(), "--"); end_of_options != extras.end())
    extras.erase(end_of_options);
  if (extras.empty()) return;
  for (const auto& word : extras)
    if (word.size() > 1 && word[0] == '-') {
      const auto names = option_names(app);
      const std::string option = word.substr(0, word.find('='));
      const std::string key =
          option.substr(option.find_first_not_of('-') == option.npos ? 0 : option.find_first_not_of('-'));
      const bool detail = std::find(settings.begin(), settings.end(), key) != settings.end();
      const std::string meant = lower_case(option) == "--gpu" || lower_case(option) == "--cuda"
                                    ? " (did you mean --backend cuda?)"
                                : detail ? formatted(" (did you mean --set {}=VALUE?)", key)
                                         : did_you_mean(option, names);
      throw UsageError(
          formatted("{}: unknown option {}{}\n  it knows {}", within_program(command), option, meant, joined(names)));
    }
  const std::string& extra = extras.front();
  const bool vector = app.get_option_no_throw("--rhs") && extra.find(".mtx") != extra.npos;
  throw UsageError(formatted("{}: '{}' is one argument too many{}\n  see {} --help", within_program(command), extra,
                             vector ? formatted(" (did you mean --rhs {}?)", extra) : "", command));
}

/// Refuses '', which a script gives for a variable without a value: no default is meant.
inline void refuse_empty_values(const CLI::App& app, const std::string& command) {
  for (const auto* option : app.get_options())
    for (const std::string& value : option->results())
      if (value.empty())
        throw UsageError(formatted("{}: {}: found an empty value\n  see {} --help", within_program(command),
                                   option->get_name(), command));
}

inline constexpr const char* repair_help = "take what is repairable in the file, and report it";

/// A command: its constructor declares what it takes, finished() makes the request of what was typed.
struct Command {
  CLI::App* app;
  std::vector<std::function<void()>> checks;  // of texts, once all have been read
  std::vector<CLI::Option*> inputs, results;  // files
  std::vector<CLI::Option*> exchangeable;     // of these: an input and a result that may be one file
  std::string on_host;                        // why --backend cuda is refused; empty where it is not
  bool shares_work = false;                   // among the processes of mpirun

  Command(CLI::App& parent, const char* name, const char* what) : app(parent.add_subcommand(name, what)) {
    app->allow_extras();
  }
  virtual ~Command() = default;
  virtual Request finished(CommonTexts& common, const std::string& command_line) = 0;

  CLI::Option* read_from(CLI::Option* option) { return inputs.emplace_back(file_name(option, "/dev/stdin")); }
  CLI::Option* written_to(CLI::Option* option) { return results.emplace_back(file_name(option, "/dev/stdout")); }
  std::vector<NamedFile> named(const std::vector<CLI::Option*>& options) const {
    std::vector<NamedFile> files;
    for (const CLI::Option* option : options)
      for (const std::string& path : option->results())
        files.push_back({option->get_name(), path,
                         std::find(exchangeable.begin(), exchangeable.end(), option) != exchangeable.end()});
    return files;
  }
  CLI::Option* file(const char* option, std::string& value, const char* what) {
    return written_to(app->add_option(option, value, what)->type_name("FILE"));
  }
  /// One of some names, which `what` lists. Its usual value is what `value` is now.
  void name(const char* option, std::string& value, const std::string& what) {
    app->add_option(option, value, what)->type_name("NAME")->capture_default_str();
  }
  void page(std::string& html) { file("--html", html, "write the report as one page for a browser"); }
  CLI::Option* input_file(const char* option, std::string& value, const char* what) {
    return read_from(app->add_option(option, value, what)->type_name("FILE"));
  }
  template <class Number>
  void number(const char* option, Number& value, const char* type, const char* what, const Range<Number>& range) {
    with_text(option, type, what,
              [=, &value](const std::string& text) { value = drivers::number(option, text, range); });
  }
  /// Calls take(text), later, if the option was given.
  void with_text(const char* option, const char* type, const char* what, const auto& take) {
    const auto text = std::make_shared<std::string>();
    app->add_option(option, *text, what)->type_name(type);
    checks.push_back([=] {
      if (!text->empty()) take(*text);
    });
  }
  /// "row,col": each one of `allowed`, if there are any.
  void words(const char* option, std::vector<std::string>& values, const char* type, const char* what,
             const std::vector<std::string>& allowed = {}) {
    with_text(option, type, what, [=, &values](const std::string& text) {
      values = CLI::detail::split(text, ',');
      if (allowed.empty()) return;
      for (const auto& value : values) require_one_of(option, value, allowed);
    });
  }
  void details(std::vector<std::string>& pairs, const char* what) {
    app->add_option("--set", pairs, what)->type_name("KEY=VALUE")->allow_extra_args(false);
  }
};

template <class Options>
struct CommandFor : Command {
  Options options;

  using Command::Command;
  /// What no single option shows.
  virtual void finish() {}
  Request finished(CommonTexts& common, const std::string& command_line) final {
    for (const auto& check : checks) check();
    common.check(options);
    finish();
    if (options.backend == BackendName::cuda && !on_host.empty())
      throw UsageError(formatted("--backend cuda: {}; leave --backend out", on_host));
    require_files(named(results), named(inputs));
    const int processes = shares_work ? processes_of_mpirun() : 1;
    options.command_line = (processes > 1 ? formatted("mpirun -np {} ", processes) : "") + command_line;
    return {.common = options, .shares_work = shares_work, .run = [options = options] { return run(options); }};
  }
};

}  // namespace seidel::drivers
