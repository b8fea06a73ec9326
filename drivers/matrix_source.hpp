// MATRIX on the command line: a file, standard input, or a generator.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <seidel/drivers/options.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>

namespace seidel::drivers {

struct LoadedMatrix {
  std::string name;                  // as it was given; "standard input" for -
  Csr<double, std::int64_t> matrix;  // canonical
  std::optional<ReadReport> file;    // empty for a generator
  double seconds = 0;                // of reading or generating
};

/// Reads or generates. A generator's name wins over a file of the same name (write ./NAME for the file). A complex file
/// is refused, or taken in its real form.
/// `sized`, if given, is told the size before the memory is taken, and may throw.
/// Errors  InputError with file:line:column, or saying what MATRIX may be; ResourceError.
LoadedMatrix load_matrix(const std::string& word, const CommonOptions& options, bool repair,
                         const ReadOptions::Sized& sized = {},
                         ReadOptions::Complex complex = ReadOptions::Complex::refused);

/// How to read `name`, with what a reader sees meanwhile.
ReadOptions read_options(const CommonOptions& options, LiveLine& line, const std::string& name);
/// Refuses a word that is no file, in better words than "cannot open". `option` is empty for MATRIX.
void require_file(const std::string& option, const std::string& word, bool may_be_generator);

/// Errors  InputError for NaN or infinity in the file, naming the first place.
void require_finite(const ReadReport& file);

/// One sentence for each thing that a reader should know of the file: repairs, duplicates, explicit zeros, NaN.
std::vector<std::string> notes(const LoadedMatrix& loaded);

/// "matrix" in every JSON report.
Json matrix_json(const LoadedMatrix& loaded);

}  // namespace seidel::drivers
