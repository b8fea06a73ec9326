// The files of a solve: x and the history.
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/solve_report.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

/// A column for each right-hand side, empty after its last iteration.
std::string history_csv(const std::vector<Outcome>& outcomes, Goal goal) {
  std::string text = "iteration";
  std::size_t longest = 0;
  for (std::size_t j = 0; j < outcomes.size(); ++j) {
    text += goal == Goal::solution ? ",relative_residual" : ",residual_or_orthogonality";
    if (outcomes.size() > 1) text += formatted("_{}", j + 1);
    longest = std::max(longest, outcomes[j].summary.history.size());
  }
  for (std::size_t i = 0; i < longest; ++i) {
    text += formatted("\n{}", i);
    for (const Outcome& outcome : outcomes) {
      const auto& history = outcome.summary.history;
      text += i < history.size() ? formatted(",{}", history[i]) : ",";
    }
  }
  return text + "\n";
}

/// A new folder that nobody else can write to, or "".
std::string temporary_folder() {
  std::error_code unknown;
  std::string name = std::filesystem::temp_directory_path(unknown) / "seidel-XXXXXX";
  return mkdtemp(name.data()) ? name : "";
}

}  // namespace

Written write_results(const SolveOptions& options, const std::vector<Outcome>& outcomes) {
  Written written{.x = options.out, .failure = {}};
  WriteOptions write;
  write.threads = host_threads(options).threads;
  std::vector<HostSpan<const double>> x;
  for (const Outcome& outcome : outcomes) x.push_back(outcome.x);
  const auto attempt = [&](const auto& writes) {
    try {
      writes();
      return true;
    } catch (const ResourceError& error) {
      written.failure += (written.failure.empty() ? "" : "\n") + std::string(error.what());
      return false;
    }
  };
  if (!options.out.empty() && !attempt([&] { write_vectors(options.out, x, write); })) {
    const std::string folder = temporary_folder();
    written.x = folder.empty() ? "" : folder + "/x.mtx";
    if (!folder.empty() && !attempt([&] { write_vectors(written.x, x, write); })) {
      written.x.clear();
      rmdir(folder.c_str());
    }
    written.failure += written.x.empty() ? "\n  x is lost" : "\n  x was written to " + written.x + " instead";
  }
  if (!options.history.empty())
    attempt([&] { write_text(options.history, history_csv(outcomes, options.request.goal)); });
  return written;
}

void say_if_disk_is_full(const SolveOptions& options, std::int64_t numbers) {
  constexpr std::int64_t max_bytes = 25;  // of a number and the end of its line
  if (options.out.empty() || options.out == "-") return;
  std::error_code unknown;
  const auto folder = std::filesystem::absolute(options.out, unknown).parent_path();
  const auto space = std::filesystem::space(folder, unknown);
  if (unknown || space.available >= std::uintmax_t(max_bytes * numbers)) return;
  say(options, formatted("--out {}: x takes up to {}, and the disk has {} free", options.out,
                         human_bytes(max_bytes * numbers), human_bytes(std::int64_t(space.available))));
}

}  // namespace seidel::drivers
