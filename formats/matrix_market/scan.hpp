// The yardstick for reading: a bare loop that only scans.
#pragma once
#include <string>

namespace seidel {

/// Maps the file and scans the entries of a coordinate file on one thread: integers by hand, values by std::from_chars,
/// nothing checked and nothing kept but a sum. A gzip file is inflated by zlib instead, a buffer at a time.
struct ScanResult {
  bool inflated = false;
  double seconds = 0, sum = 0;
  long long bytes = 0, entries = 0;
};
/// Errors  InputError as read_matrix_market has for what is above the entries; pipes are refused.
ScanResult scan_matrix_market(const std::string& path);

}  // namespace seidel
