// The program seidel, run as a process.
#include "process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>

#include "../skipped.hpp"

namespace seidel::tests {

namespace {

struct Pipe {
  int read_end = -1, write_end = -1;
  Pipe() {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    read_end = ends[0], write_end = ends[1];
  }
  ~Pipe() { close_read(), close_write(); }
  void close_read() { close_end(read_end); }
  void close_write() { close_end(write_end); }
  static void close_end(int& end) {
    if (end >= 0) close(end);
    end = -1;
  }
};

/// What is there to be read now; closes the end at its end.
void drain(int& end, std::string& text) {
  char buffer[65536];
  const ssize_t n = read(end, buffer, sizeof buffer);
  if (n > 0) text.append(buffer, std::size_t(n));
  if (n == 0) Pipe::close_end(end);
}

}  // namespace

Run seidel_program(const Words& words, const Input& input) {
  using Clock = std::chrono::steady_clock;
  Pipe in, out, err;
  std::vector<char*> argv = {const_cast<char*>(input.called.c_str())};
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const auto start = Clock::now();
  const auto seconds = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    dup2(in.read_end, 0), dup2(out.write_end, 1), dup2(err.write_end, 2);
    if (!input.environment.empty()) putenv(const_cast<char*>(input.environment.c_str()));
    const rlimit space{rlim_t(input.memory), rlim_t(input.memory)};
    if (input.memory > 0) setrlimit(RLIMIT_AS, &space);
    const rlimit file{rlim_t(input.file_size), rlim_t(input.file_size)};
    if (input.file_size > 0) setrlimit(RLIMIT_FSIZE, &file);
    if (chdir(input.folder.c_str()) != 0) _exit(126);
    execv(SEIDEL_PROGRAM, argv.data());
    _exit(127);
  }
  in.close_read(), out.close_write(), err.close_write();
  signal(SIGPIPE, SIG_IGN);
  fcntl(in.write_end, F_SETFL, O_NONBLOCK);
  std::size_t written = 0;
  bool interrupted = input.interrupt_after == 0;
  Run run;
  while (out.read_end >= 0 || err.read_end >= 0) {
    if (written == input.text.size()) in.close_write();
    pollfd waits[3] = {{out.read_end, POLLIN, 0}, {err.read_end, POLLIN, 0}, {in.write_end, POLLOUT, 0}};
    poll(waits, 3, 20);
    if (waits[0].revents) drain(out.read_end, run.out);
    if (run.out.size() >= input.enough) out.close_read();
    if (waits[1].revents) drain(err.read_end, run.err);
    if (waits[2].revents) {
      const ssize_t n = write(in.write_end, input.text.data() + written, input.text.size() - written);
      written = n < 0 ? input.text.size() : written + std::size_t(n);
    }
    if (!interrupted && seconds() > input.interrupt_after && contains(run.err, input.interrupt_when)) {
      kill(child, SIGINT);
      interrupted = true;
    }
    if (seconds() > 120) kill(child, SIGKILL);
  }
  int status = 0;
  rusage used{};
  wait4(child, &status, 0, &used);
  const auto in_seconds = [](const timeval& time) { return double(time.tv_sec) + 1e-6 * double(time.tv_usec); };
  run.seconds = in_seconds(used.ru_utime) + in_seconds(used.ru_stime);
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  std::string command = "seidel";
  for (const std::string& word : words) command += " " + word;
  tell(command, run);
  return run;
}

void tell(const std::string& command, const Run& run) {
  ran(command + ": exit " + std::to_string(run.exit_code) + "\n" + run.out.substr(0, 2000) + run.err.substr(0, 2000));
}

Run succeeded(const Words& words, const Input& input) {
  const Run run = seidel_program(words, input);
  REQUIRE(run.exit_code == 0);
  return run;
}

void check_refused(int exit_code, const std::vector<Refused>& all) {
  for (const Refused& one : all) {
    const Run run = seidel_program(one.words);
    CHECK(run.exit_code == exit_code);
    CHECK(run.out.empty());
    CHECK(run.err.starts_with("seidel: "));
    for (const auto& part : one.said) {
      CAPTURE(part);
      CHECK(contains(run.err, part));
    }
  }
}

bool have_mpi() {
  const Run run = seidel_program({"gemm", "missing-a", "missing-b", "--out", "missing-c"});
  if (contains(run.err, "this build has no MPI")) return false;
  return std::system("command -v mpirun > /dev/null 2>&1") == 0;
}

Run launched(const Folder& folder, const std::string& arguments) {
  const std::string command =
      "cd " + folder.path() +
      " && export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"
      " OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_btl=self,vader OMPI_MCA_mpi_yield_when_idle=1;"
      " timeout -k 1 100 mpirun " +
      arguments + " > out.txt 2> err.txt";
  Run run;
  const int status = std::system(command.c_str());
  run.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  run.out = read_file(folder / "out.txt"), run.err = read_file(folder / "err.txt");
  tell(arguments, run);
  return run;
}

}  // namespace seidel::tests
