// The bare scan of a Matrix Market file.
#include <seidel/formats/matrix_market/scan.hpp>

#include <zlib.h>

#include <charconv>
#include <memory>
#include <vector>

#include <seidel/formats/matrix_market/header.hpp>
#include <seidel/formats/matrix_market/line.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel {

ScanResult scan_matrix_market(const std::string& path) {
  const Stopwatch watch;
  if (const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), gzclose);
      file && !gzdirect(file.get())) {
    ScanResult result;
    result.inflated = true;
    std::vector<char> buffer(1 << 18);
    for (int got; (got = gzread(file.get(), buffer.data(), unsigned(buffer.size()))) > 0;) result.bytes += got;
    result.seconds = watch.seconds();
    return result;
  }
  const mm::Source source(path, {});
  const mm::Header header = mm::parse_header(source);
  if (source.held_bytes() > 0 || header.layout != FileLayout::coordinate)
    throw InputError(path +
                     ": found another kind of file, expected a plain coordinate file\n  the bare scan knows no other");
  const char* p = header.body;
  const char* const end = source.end();
  ScanResult result;
  const auto integer = [&] {
    while (p < end && (*p == ' ' || *p == '\t')) ++p;
    std::uint64_t v = 0;  // may wrap: nothing is checked here
    while (p < end && '0' <= *p && *p <= '9') v = v * 10 + std::uint64_t(*p++ - '0');
    return v;
  };
  const bool values = header.field != Field::pattern;
  while (p < end) {
    const std::uint64_t row = integer(), col = integer();
    while (p < end && (*p == ' ' || *p == '\t')) ++p;
    double value = 0;
    if (values) p = std::from_chars(p, end, value).ptr;
    result.sum += double(row + col) + value;
    ++result.entries;
    while (p < end && *p != '\n') ++p;
    ++p;
  }
  result.bytes = (long long)(source.text().size());
  result.seconds = watch.seconds();
  return result;
}

}  // namespace seidel
