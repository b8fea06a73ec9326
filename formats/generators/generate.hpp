// Matrices made from a few words, such as poisson3d:128: for tests, benches and anyone without a file at hand.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>

namespace seidel {

/// The matrix that `spec` describes (generator_help() has the grammar), canonical.
/// Cost    the matrix, parallel; rmat and spd need about three times that while they run.
/// Repeats bit for bit on every machine and with any number of threads. `seed` matters to the random ones only.
/// `sized`, if given, is told how large the matrix will be before it is taken, and may throw. rmat counts edges in the
/// same place one by one, emptyrows is up to 15 rows short.
/// Errors  UsageError naming the spec, what was found, the grammar and an example; ResourceError, before anything is
///         allocated, if the memory is not there.
Csr<double, std::int64_t> generate(const OpenMP& on, std::string_view spec, std::uint64_t seed = 1,
                                   const std::function<void(std::int64_t nrows, std::int64_t nnz)>& sized = {});
inline Csr<double, std::int64_t> generate(const Serial&, std::string_view spec, std::uint64_t seed = 1) {
  return generate(OpenMP{1}, spec, seed);
}

/// Whether `spec` starts with the name of a generator, alone or before a colon. Whether the rest is right, generate()
/// says.
bool is_generator(std::string_view spec);

std::vector<std::string> generator_names();

/// One generator a paragraph: grammar, meaning, example.
std::string generator_help();

}  // namespace seidel
