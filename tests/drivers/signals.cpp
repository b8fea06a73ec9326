// A signal as a request: the second one is impatience, unless it is the first one's echo.
#include <seidel/drivers/signals.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <string>

using namespace seidel::drivers;

namespace {

void sleep_ms(long ms) {
  const timespec time{ms / 1000, ms % 1000 * 1'000'000};
  nanosleep(&time, nullptr);
}

double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return double(time.tv_sec) + 1e-9 * double(time.tv_nsec);
}

enum Exit { not_asked = 1, asked = 7, too_slow = 8 };

/// How a process ends that gets `signal` again after each of these pauses: what waitpid() says. Its exit code is `asked`
/// if it lives on.
int ended_by(int signal, std::initializer_list<long> pauses_ms) {
  for (;;) {
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      const StopOnSignal stop;
      const double first = now();
      kill(getpid(), signal);
      for (const long ms : pauses_ms) {
        sleep_ms(ms);
        if (ms < 100 && now() - first > 0.1) _exit(too_slow);  // something else had the processor
        kill(getpid(), signal);
      }
      _exit(stop_requested() ? asked : not_asked);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != too_slow) return status;
  }
}

}  // namespace

TEST_CASE("a second Ctrl-C ends the process, but not at once: timeout(1) signals a process and then its group") {
  for (const int signal : {SIGINT, SIGTERM}) {
    CAPTURE(signal);
    for (const auto& at_once : {std::initializer_list<long>{}, {0}, {10}, {10, 10}}) {
      const int status = ended_by(signal, at_once);
      CHECK(WIFEXITED(status));
      CHECK(WEXITSTATUS(status) == asked);
    }
    const int status = ended_by(signal, {10, 1000});  // the last one is impatient
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == signal);
  }
}

TEST_CASE("who presses Ctrl-C at a terminal is told that a setup may take a while to end, once") {
  for (const bool quiet : {false, true}) {
    const int terminal = posix_openpt(O_RDWR | O_NOCTTY);
    REQUIRE(terminal >= 0);
    REQUIRE(grantpt(terminal) == 0);
    REQUIRE(unlockpt(terminal) == 0);
    const int other_end = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    REQUIRE(other_end >= 0);
    const pid_t child = fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      dup2(other_end, STDERR_FILENO);
      const StopOnSignal stop(quiet);
      kill(getpid(), SIGINT);
      kill(getpid(), SIGINT);
      (void)!write(STDERR_FILENO, "end", 3);
      _exit(0);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    char text[400];
    const ssize_t size = read(terminal, text, sizeof text);
    REQUIRE(size > 0);
    const std::string said(text, std::size_t(size));
    const std::size_t first = said.find("once more stops at once");
    CHECK((first != said.npos) == !quiet);
    CHECK(said.find("once more", first == said.npos ? 0 : first + 1) == said.npos);
    CHECK(said.ends_with("end"));
    close(other_end), close(terminal);
  }
}
