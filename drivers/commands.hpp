// The commands. Each prints its report and returns the exit code 0 or 1; all else is thrown.
#pragma once
#include <seidel/drivers/options.hpp>

namespace seidel::drivers {

struct Terminal;

int run(const SolveOptions& options);
int run(const InfoOptions& options);
int run(const GenerateOptions& options);
int run(const GemmOptions& options);
int run(const ConvertOptions& options);
int run(const ValidateOptions& options);
int run(const BenchReadOptions& options);
int run(const BenchKernelOptions& options);
int run(const BenchSolveOptions& options);
int run(const BenchSuiteOptions& options);
int run(const BenchMachineOptions& options);
int run(const BenchHpcgOptions& options);
int run(const BenchGemmMpiOptions& options);
int run(const BenchCompareOptions& options);

/// Text for a person: to standard output, or to standard error when a file or JSON has the former; not at all with
/// --quiet.
void print(const CommonOptions& options, const std::string& text, bool output_is_taken = false);
/// That which print() writes to.
Terminal terminal_of(const CommonOptions& options, bool output_is_taken = false);
/// "OUT: what" of a matrix that was written; where that took standard output, "from: what", of what it was made from.
void print_written(const CommonOptions& options, const std::string& out, const std::string& from,
                   const std::string& what);
/// A line on standard error, "seidel: ..."; not with --quiet.
void say(const CommonOptions& options, const std::string& text);

}  // namespace seidel::drivers
