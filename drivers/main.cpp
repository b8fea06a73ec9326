// The program: one command per run, and the one place where errors become exit codes.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <new>
#include <string>

#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/with_backend.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

enum ExitCode { done = 0, not_reached = 1, wrong_usage = 2, bad_input = 3, no_resource = 4, no_backend = 5 };

struct Failure {
  int exit_code;
  std::string message;
  std::string unwritten = {};  // the file of which that is said
};

/// The table of exit codes, once. To be called where an exception is being handled.
Failure failure() {
  try {
    throw;
  } catch (const UsageError& error) {
    return {wrong_usage, error.what()};
  } catch (const InputError& error) {
    return {bad_input, error.what()};
  } catch (const Unwritten& error) {
    return {no_resource, error.what(), error.path};
  } catch (const ResourceError& error) {
    return {no_resource, error.what()};
  } catch (const BackendError& error) {
    return {no_backend, error.what()};
  } catch (const std::bad_alloc&) {
    return {no_resource, "out of memory\n  a smaller matrix, --precond jacobi or --method cg would need less"};
  } catch (const std::exception& error) {
    return {not_reached, formatted("internal error: {}\n  please report it, with the command line", error.what())};
  }
}

int report_failure(const std::string& json) {
  const Failure what = failure();
  std::fflush(stdout);
  // Most likely all processes of mpirun fail alike, and it ends the others when the first one has said why.
  if (rank_of_mpirun() > 0) sleep(2);
  std::fprintf(stderr, "seidel: %s\n", what.message.c_str());
  // Wrong usage may be a wrong name of that very file; a report that was begun cannot be told from what would follow it.
  if (json.empty() || what.exit_code == wrong_usage || what.unwritten == json) return what.exit_code;
  try {
    Json document;
    document.set("schema", "seidel.error/1").set("exit_code", what.exit_code).set("message", what.message);
    write_text(json, document.text());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "seidel: %s\n", error.what());
  }
  return what.exit_code;
}

/// Threads beyond the cores of this process wait for each other.
void say_if_too_many(const CommonOptions& options) {
  if (const int cores = available_threads(); options.threads > cores && rank_of_mpirun() == 0)
    say(options, formatted("--threads {}: this process has {}, on which more threads take turns", options.threads,
                           plural(cores, "core")));
}

/// Whoever starts such a command by mpirun may expect its processes to share the work.
void say_if_not_shared(const Request& request) {
  if (const int processes = processes_of_mpirun(); processes > 1 && rank_of_mpirun() == 0 && !request.shares_work)
    say(request.common,
        formatted("one of {} processes of mpirun, each of which does all of this by itself; {}", processes,
                  built_with_mpi ? "only solve, gemm and bench gemm-mpi share their work"
                                 : "this build has no MPI (cmake --preset mpi)"));
}

/// Threads that run or could run now, of all processes.
int running_threads() {
  std::ifstream file("/proc/loadavg");
  std::string average;
  int running = 1;
  file >> average >> average >> average >> running;
  return running;
}

/// Threads that spin while they wait keep the cores from those that they wait for, where other processes want cores as well: a
/// parallel region of 20 us takes 20 ms. Elsewhere to wake threads doubles the time of small systems. How to wait is read when
/// libgomp is loaded, so on a busy machine this starts anew.
void sleep_while_waiting_if_busy(char** argv) {
  if (available_threads() == 1 || std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  for (int look = 0; look < 3; ++look) {  // what ends or begins just now is gone in a moment
    if (look > 0) usleep(2000);
    if (running_threads() - 1 + available_threads() <= sysconf(_SC_NPROCESSORS_ONLN)) return;
  }
  setenv("OMP_WAIT_POLICY", "passive", 1);
  execv("/proc/self/exe", argv);  // where that fails, this goes on as it is
}

int run_program(int argc, char** argv) {
  std::string json;
  try {
    const Request request = parse(argc, argv);
    if (!request.run) {
      write_text("-", request.text);
      return done;
    }
    sleep_while_waiting_if_busy(argv);
    say_if_too_many(request.common);
    say_if_not_shared(request);
    json = request.common.json;
    return request.run();
  } catch (...) {
    return report_failure(json);
  }
}

}  // namespace

}  // namespace seidel::drivers

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_DFL);  // `| head` has seen enough: to end without a word, wherever this was started
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond `ulimit -f` is an error of write() then, with its sentence
  return seidel::drivers::run_program(argc, argv);
}
