// Numbers as messages say them.
#include <seidel/formats/runtime/quantity.hpp>

#include <cstdio>

#include <seidel/formats/runtime/errors.hpp>
#include <seidel/formats/runtime/memory.hpp>

namespace seidel {

std::string bytes_text(std::int64_t bytes) {
  if (bytes < 1000) return std::to_string(bytes) + " B";
  const char* const units[] = {"kB", "MB", "GB", "TB", "PB", "EB"};
  int unit = -1;
  double amount = double(bytes);
  while (amount >= 999.5 && unit < 5) amount /= 1000, ++unit;
  char text[32];
  std::snprintf(text, sizeof text, "%.3g %s", amount, units[unit]);
  return text;
}

std::string counted(std::int64_t n, const std::string& one, const std::string& many) {
  return std::to_string(n) + " " + (n == 1 ? one : many.empty() ? one + "s" : many);
}

std::string count(std::int64_t n) {
  std::string digits = std::to_string(n);
  for (auto at = std::int64_t(digits.size()) - 3; at > (n < 0); at -= 3) digits.insert(std::size_t(at), 1, ',');
  return digits;
}

std::string plural(std::int64_t n, std::string_view one, std::string_view many) {
  if (n == 1 || many.empty()) return count(n) + " " + std::string(one) + (n == 1 ? "" : "s");
  return count(n) + " " + std::string(many);
}

void require_memory(std::int64_t bytes, const std::string& what, const std::string& remedy) {
  const std::int64_t available = available_bytes(Host{});
  if (bytes > available)
    throw ResourceError(what + ": " + bytes_text(bytes) + " of memory are needed, " + bytes_text(available) +
                        " are free\n  " + remedy);
}

}  // namespace seidel
