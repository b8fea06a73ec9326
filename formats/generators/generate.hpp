// Matrices from a short specification such as poisson3d:128, for tests, benchmarks and users without a file.
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
/// Repeats bit for bit on every machine and with any number of threads. `seed` affects random generators only.
/// `sized`, if given, is called with the size of the matrix before memory is allocated, and may throw. For rmat it
/// counts repeated edges separately; for emptyrows it may be up to 15 rows too small.
/// Errors  UsageError naming the spec, what was found, the grammar and an example; ResourceError, before anything is
///         allocated, if there is not enough memory.
Csr<double, std::int64_t> generate(
    const OpenMP& on, std::string_view spec, std::uint64_t seed = 1,
    const std::function<void(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz)>& sized = {});

/// The same matrix in device memory. Those of a stencil on a box (poisson2d, poisson3d, hpcg, aniso2d, aniso3d, convdiff) are
/// made there, for which the host does not wait; others are made on the host and copied.
/// Errors  as above, but that memory of the device is asked for as it is needed; ResourceError if Offset cannot count the
///         entries.
template <class Offset>
Csr<double, Offset, Device> generate(const Cuda& on, std::string_view spec, std::uint64_t seed = 1);

/// The coordinates of the points whose unknowns, together, are the rows of that matrix: a row per point, every entry stored.
/// Errors  as generate(); UsageError for generators that know of no points.
Csr<double, std::int64_t> generate_coordinates(std::string_view spec);

/// Whether `spec` starts with the name of a generator, alone or before a colon. The rest is checked by
/// generate().
bool is_generator(std::string_view spec);

/// Whether the matrix of this generator depends on the seed.
bool is_random(std::string_view spec);

std::vector<std::string> generator_names();

/// One paragraph per generator: grammar, meaning, example.
std::string generator_help();

}  // namespace seidel
