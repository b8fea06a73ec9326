// The x that the program wrote, beside the one that was wanted.
#pragma once
#include <algorithm>
#include <cmath>
#include <sstream>
#include <string>
#include <vector>

#include "../files.hpp"

namespace seidel::tests {

/// max |x_i - y_i| / max |x_i|, y being the numbers in the Matrix Market array `file`.
inline double relative_error(const std::string& file, const std::vector<double>& x) {
  std::istringstream lines(read_file(file));
  std::string line;
  std::getline(lines, line), std::getline(lines, line);
  double error = 0, size = 0;
  for (const double v : x) {
    std::getline(lines, line);
    error = std::max(error, std::abs(std::stod(line) - v)), size = std::max(size, std::abs(v));
  }
  return error / size;
}

}  // namespace seidel::tests
