// The reference for the speed of reading: a loop that only scans.
#pragma once
#include <string>

namespace seidel {

/// Maps the file and scans the entries of a coordinate file on one thread: integers by hand, values by std::from_chars,
/// nothing checked and only a sum kept. A gzip file is inflated by zlib instead, one buffer at a time.
struct ScanResult {
  bool inflated = false;
  double seconds = 0, sum = 0;
  long long bytes = 0, entries = 0;
};
/// Errors  InputError as read_matrix_market for the banner and the size line; pipes are refused.
ScanResult scan_matrix_market(const std::string& path);

}  // namespace seidel
