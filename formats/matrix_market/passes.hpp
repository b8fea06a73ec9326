// What reading a coordinate and an array file have in common.
#pragma once
#include <seidel/formats/matrix_market/chunks.hpp>

namespace seidel::mm {

/// What values are met, gathered by a thread.
struct ValueCounts {
  std::int64_t zeros = 0, nonfinite = 0;
  const char* first_nonfinite = nullptr;  // its line

  void add(const ValueCounts& other) {
    zeros += other.zeros;
    nonfinite += other.nonfinite;
    if (!first_nonfinite || (other.first_nonfinite && other.first_nonfinite < first_nonfinite))
      first_nonfinite = other.first_nonfinite;
  }
};

struct Reading {
  const Source& source;
  const Header& header;
  const ReadOptions& options;
  ReadReport& report;

  OpenMP on() const { return {std::max(1, options.threads)}; }
  /// Errors  ResourceError if so much memory is not there.
  void require(std::int64_t bytes) const;
  void report_values(const ValueCounts& counts) const;
  /// Goes through the file line by line and throws its first defect. Returns if there is none.
  void diagnose() const;
  /// For when something was wrong: diagnose(), which then throws.
  [[noreturn]] void explain() const;
};

Csr<double, std::int64_t> read_coordinate(const Reading& reading);
Csr<double, std::int64_t> read_array(const Reading& reading);

}  // namespace seidel::mm
