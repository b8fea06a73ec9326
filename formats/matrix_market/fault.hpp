// What is wrong with a file, and where: `file:line:column: found X, expected Y`, then the remedy.
#pragma once
#include <string>

#include <seidel/formats/matrix_market/source.hpp>

namespace seidel::mm {

struct Fault {
  const char* at = nullptr;  // the place in the text
  std::string found, expected, remedy;
};

/// file:line:column of a place in the text, counted from 1; a column is a byte. Reads the text up to there.
std::string place(const Source& source, const char* at);
/// The number of the line a place is in.
std::int64_t line_of(const Source& source, const char* at);
/// The word at `at` in quotes, printable, shortened if it is long; or `end of line`.
std::string word_at(const char* at, const char* line_end);

[[noreturn]] void raise(const Source& source, const Fault& fault);

}  // namespace seidel::mm
