// The report of a solve, read back.
#pragma once
#include <nlohmann/json.hpp>

#include <optional>

#include "process.hpp"

namespace seidel::tests {

/// The JSON of `seidel solve` with these words, which must exit so; with 0 or 1 unless a code is given.
inline nlohmann::json report_of(std::vector<std::string> words, std::optional<int> exit_code = {}) {
  words.insert(words.begin(), "solve");
  words.insert(words.end(), {"--json", "-"});
  const Run run = seidel_program(words);
  CAPTURE(run.err);
  if (exit_code)
    CHECK(run.exit_code == *exit_code);
  else
    REQUIRE(run.exit_code <= 1);
  return nlohmann::json::parse(run.out);
}

}  // namespace seidel::tests
