// What became faster or slower between two files of seidel bench --json.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace seidel::drivers {

enum class Change { faster, slower, same };
std::string_view to_string(Change);

/// One rival on one task, in both files.
struct Comparison {
  std::string what;                 // "spmv.csr.openmp, 2 threads, poisson3d:64"
  double old_seconds, new_seconds;  // medians
  Change change;  // same: the middle halves of the trials overlap, or the medians differ by less than 2 %
};

struct Differences {
  std::vector<Comparison> compared;             // largest change first
  std::vector<std::string> only_old, only_new;  // measured in one file alone
  std::vector<std::string> machine;  // "processor: AMD EPYC -> Intel Xeon"; threads; bandwidths more than 5 % apart
};

/// Reads both files. Where each has one number of threads, OpenMP rivals are compared across these numbers.
/// Errors  InputError if one cannot be read, is not of schema seidel.bench/1, or lacks a key.
Differences compare(const std::string& old_name, const std::string& new_name);

/// Machines first, then faster and slower, then a line that counts the rest, then what one file has alone.
std::string text_of(const Differences& differences);

}  // namespace seidel::drivers
