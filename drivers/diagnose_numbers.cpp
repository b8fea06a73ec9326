// The numbers in a diagnosis: rates of convergence, limits to propose, and how they are written.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include <seidel/drivers/diagnose.hpp>

namespace seidel::drivers {

std::string diagnose_detail::text(double value) {
  char s[32];
  std::snprintf(s, sizeof s, "%.2g", value);
  return s;
}

std::int64_t two_digits(double n) {
  const double unit = std::pow(10, std::max(0.0, std::floor(std::log10(std::max(n, 1.0))) - 1));
  return std::int64_t(std::ceil(n / unit) * unit);
}

double decades_per_iteration(const std::vector<double>& history) {
  const std::size_t n = history.size(), first = std::min(n / 2, n > 10 ? n - 10 : 0);
  double count = 0, k_mean = 0, y_mean = 0, covariance = 0, variance = 0;
  const auto each = [&](const auto& what) {
    for (std::size_t k = first; k < n; ++k)
      if (history[k] > 0) what(double(k), std::log10(history[k]));
  };
  each([&](double k, double y) { ++count, k_mean += k, y_mean += y; });
  k_mean /= count, y_mean /= count;
  each([&](double k, double y) {
    covariance += (k - k_mean) * (y - y_mean);
    variance += (k - k_mean) * (k - k_mean);
  });
  return variance > 0 ? -covariance / variance : 0;
}

std::string diagnose_detail::more_seconds(const Criteria& criteria) {
  return "--time-limit " + std::to_string(std::max<std::int64_t>(60, two_digits(10 * criteria.seconds)));
}

std::string longer_limits(const Summary& summary, const Criteria& criteria) {
  const std::int64_t usual = Criteria().max_iterations;
  return (criteria.max_iterations < usual ? " --max-iterations " + std::to_string(usual) : "") +
         (summary.status == Status::time_limit ? " " + diagnose_detail::more_seconds(criteria) : "");
}

}  // namespace seidel::drivers
