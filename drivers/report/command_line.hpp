// Command lines that a report quotes: a shell takes them again as they were.
#pragma once
#include <string>

namespace seidel::drivers {

/// One word as a shell takes it, in quotes where it must be.
std::string quoted(const std::string& word);

/// The program of `command_line` with other words, as in "build/cpu/seidel info A.mtx".
std::string same_program(const std::string& command_line, const std::string& words);

/// `command_line`, of quoted words, with the options in `change` ("--tol 1e-6 --set restart=9") in place of those that
/// it had, or added.
std::string command_with(const std::string& command_line, const std::string& change);

}  // namespace seidel::drivers
