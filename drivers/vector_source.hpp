// Vectors in files: Matrix Market, or plain columns of numbers.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/options.hpp>
#include <seidel/formats/runtime/array.hpp>

namespace seidel::drivers {

/// Reads one or more vectors with `rows` entries from a file, a pipe or standard input, compressed or not: the columns of a
/// Matrix Market file, or plain numbers, as Matrix Market writes them, with comments behind #: `rows` of them in any lines are
/// one vector, `rows` lines of k numbers are k.
/// Errors  InputError with file:line:column, or naming both lengths.
std::vector<Array<double>> load_vectors(const std::string& option, const std::string& path, std::int64_t rows,
                                        const std::string& matrix, const CommonOptions& options);

/// Reads one vector. Errors  as load_vectors().
Array<double> load_vector(const std::string& option, const std::string& path, std::int64_t rows,
                          const std::string& matrix, const CommonOptions& options);

}  // namespace seidel::drivers
