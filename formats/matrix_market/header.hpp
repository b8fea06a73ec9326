// The banner, the comments below it and the size line.
#pragma once
#include <seidel/formats/matrix_market/source.hpp>

namespace seidel::mm {

struct Header {
  FileLayout layout = FileLayout::coordinate;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  std::int64_t nrows = 0, ncols = 0;  // both fit an Index
  std::int64_t entries = 0;           // lines of entries that must follow; no more than the text has room for
  std::int64_t size_line = 0;         // the number of the size line
  const char* body = nullptr;         // the first byte after it
};

/// `text_bytes`: of all text, if the source has only the first of it. Errors  InputError for the first defect.
Header parse_header(const Source& source, std::int64_t text_bytes, const ReadOptions& options = {});
inline Header parse_header(const Source& source, const ReadOptions& options = {}) {
  return parse_header(source, std::int64_t(source.text().size()), options);
}

}  // namespace seidel::mm
