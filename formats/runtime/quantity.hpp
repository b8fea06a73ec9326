// Numbers as messages say them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace seidel {

/// 1234567890 -> "1.23 GB"; units of 1000.
std::string bytes_text(std::int64_t bytes);

/// "1 entry", "2 entries"; many is one with an s unless given. In files and errors: digits that can be searched for.
std::string counted(std::int64_t n, const std::string& one, const std::string& many = "");

/// 1234567 -> "1,234,567". In reports: digits that are read.
std::string count(std::int64_t n);
/// "1 row", "2,000 rows".
std::string plural(std::int64_t n, std::string_view one, std::string_view many = {});

/// a * b, or the largest number where that overflows. Both at least 0.
inline std::int64_t saturating_product(std::int64_t a, std::int64_t b) {
  std::int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}
inline std::int64_t saturating_sum(std::int64_t a, std::int64_t b) {
  std::int64_t sum;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

/// Throws ResourceError unless `bytes` of host memory can be had: "<what>: <bytes> are needed, <available> are free",
/// remedy.
void require_memory(std::int64_t bytes, const std::string& what, const std::string& remedy);

}  // namespace seidel
