// The reports of commands, read back.
#pragma once
#include <nlohmann/json.hpp>

#include <optional>

#include "process.hpp"

namespace seidel::tests {

/// The JSON of `seidel` with these words, which must exit so; with 0 or 1 unless a code is given.
inline nlohmann::json reported(const Words& words, std::optional<int> exit_code = {}) {
  const Run run = seidel_program(words + Words{"--json", "-"});
  if (exit_code)
    CHECK(run.exit_code == *exit_code);
  else
    REQUIRE(run.exit_code <= 1);
  return nlohmann::json::parse(run.out);
}

/// Of `seidel solve`.
inline nlohmann::json report_of(const Words& words, std::optional<int> exit_code = {}) {
  return reported(Words{"solve"} + words, exit_code);
}

}  // namespace seidel::tests
