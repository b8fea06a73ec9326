// One line on standard error that lives while the work goes on.
#include <unistd.h>

#include <cmath>
#include <cstdio>

#include <seidel/drivers/report/progress.hpp>

namespace seidel::drivers {

namespace {

/// Seconds until log10(residual) reaches log10(tolerance), by a least-squares line through the later half; negative: it
/// does not fall.
double seconds_left(const std::vector<double>& log_residual, double tolerance, double seconds) {
  const auto n = std::int64_t(log_residual.size());
  if (n < 4 || !(seconds > 0)) return -1;
  // The later half, thinned to at most 1000 points.
  const std::int64_t first = n / 2, step = std::max<std::int64_t>(1, (n - first) / 1000);
  double count = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (std::int64_t i = first; i < n; i += step) {
    const double x = double(i - first), y = log_residual[i];
    count += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
  }
  const double slope = (count * sxy - sx * sy) / (count * sxx - sx * sx);
  if (!(slope < 0)) return -1;
  const double iterations = (std::log10(tolerance) - log_residual.back()) / slope;
  return iterations > 0 ? iterations * seconds / double(n) : 0;
}

}  // namespace

LiveLine::LiveLine(bool wanted) {
  const Terminal terminal = Terminal::of(STDERR_FILENO);
  wanted_ = wanted && terminal.interactive;
  width_ = terminal.width;
}
LiveLine::~LiveLine() { wipe(); }

bool LiveLine::due() { return wanted_ && watch_.seconds() >= next_; }

void LiveLine::show(const std::string& text) {
  std::fprintf(stderr, "\r\033[K%s", text.substr(0, std::size_t(width_ - 1)).c_str());
  std::fflush(stderr);
  shown_ = true;
  next_ = watch_.seconds() + 0.1;
}

void LiveLine::show_share(double share, const std::string& what) {
  if (!due()) return;
  const double seconds = watch_.seconds();
  const std::string left =
      share > 0.02 ? formatted("  about {} left", human_seconds(seconds * (1 - share) / share)) : std::string();
  show(formatted("{:.0f} %  {}{}", 100 * share, what, left));
}

void LiveLine::wipe() {
  if (!shown_) return;
  std::fputs("\r\033[K", stderr);
  std::fflush(stderr);
  shown_ = false;
}

void SolveProgress::operator()(std::int64_t iteration, double relative_residual, double seconds) {
  log_residual_.push_back(std::log10(std::max(relative_residual, 1e-300)));
  if (!line_.due()) return;
  const double rate = seconds > 0 ? double(iteration) / seconds : 0;
  const double left = seconds_left(log_residual_, tolerance_, seconds);
  line_.show(formatted("iteration {}  residual {:.1e} of {:.0e}  {:.0f} iterations/s  {}", count(iteration),
                       relative_residual, tolerance_, rate,
                       left < 0 ? "no end in sight" : "about " + human_seconds(left) + " left"));
}

}  // namespace seidel::drivers
