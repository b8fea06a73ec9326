// The program seidel, run as a process.
#pragma once
#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "../files.hpp"

namespace seidel::tests {

using Words = std::vector<std::string>;
inline Words operator+(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

struct Run {
  int exit_code = -1;  // 128 + n if signal n ended it
  std::string out, err;
  double seconds = 0;  // of processors: what a test may rely on while others have them
};

struct Input {
  std::string text{};             // on standard input
  double interrupt_after = 0;     // seconds until SIGINT; 0 for never
  std::string interrupt_when{};   // not before this text stands on standard error
  std::string environment{};      // NAME=VALUE, added to that of the tests
  std::string called = "seidel";  // argv[0]
  std::int64_t memory = 0;        // ulimit -v, bytes; 0 for none
  std::int64_t file_size = 0;     // ulimit -f, bytes; 0 for none
  std::string folder = ".";       // where it runs
  std::size_t enough = SIZE_MAX;  // bytes of standard output after which its reader goes away
};

/// Runs seidel with these words. If the next check fails, they are printed, and what it said.
Run seidel_program(const Words& words, const Input& input = {});
/// The same, which must exit 0.
Run succeeded(const Words& words, const Input& input = {});
/// Of a program that was started in another way.
void tell(const std::string& command, const Run& run);

/// Whether the program has MPI, and there is an mpirun to start it.
bool have_mpi();
/// mpirun with these arguments, in the folder. More processes than cores, and no look for networks; as root too, since containers are.
Run launched(const Folder& folder, const std::string& arguments);

/// Words that are refused, and parts of what is said of them.
struct Refused {
  Words words;
  std::vector<std::string> said;
};
/// Each exits so, says all that it should on standard error, and nothing on standard output.
void check_refused(int exit_code, const std::vector<Refused>& all);

}  // namespace seidel::tests
