// One line on standard error that lives while the work goes on; only on a terminal.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/stopwatch.hpp>

namespace seidel::drivers {

/// A line that is rewritten at most ten times a second and wiped at the end.
class LiveLine {
 public:
  explicit LiveLine(bool wanted);
  ~LiveLine();
  LiveLine(const LiveLine&) = delete;
  LiveLine& operator=(const LiveLine&) = delete;

  bool due();  // whether it is time to show something new; cheap
  void show(const std::string& text);
  /// If it is time: "40 %  what is done now  about 12 s left", where `share` of the work is done since this was made.
  void show_share(double share, const std::string& what);
  void wipe();

 private:
  bool wanted_ = false, shown_ = false;
  int width_ = 80;
  Stopwatch watch_;
  double next_ = 0.3;  // seconds, when it may be rewritten
};

/// How far, how fast and how long still, while a solver runs.
class SolveProgress {
 public:
  SolveProgress(bool wanted, double tolerance) : line_(wanted), tolerance_(tolerance) {}
  void operator()(std::int64_t iteration, double relative_residual, double seconds);
  void wipe() { line_.wipe(); }

 private:
  LiveLine line_;
  double tolerance_;
  std::vector<double> log_residual_;  // by iteration
};

}  // namespace seidel::drivers
