// The command line: exit codes, streams, and what a wrong word is told.
#include "process.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <regex>
#include <set>
#include <sstream>

using namespace seidel::tests;

namespace {

Words words_in(const std::string& text) {
  std::istringstream words(text);
  return {std::istream_iterator<std::string>(words), {}};
}

const std::vector<std::string> commands = {"solve",
                                           "info",
                                           "generate",
                                           "convert",
                                           "validate",
                                           "gemm",
                                           "bench spmv",
                                           "bench spmm",
                                           "bench symgs",
                                           "bench transpose",
                                           "bench transpose-values",
                                           "bench symgs-guess",
                                           "bench solve",
                                           "bench suite",
                                           "bench machine",
                                           "bench hpcg",
                                           "bench compare",
                                           "bench read"};

std::string document(const std::string& name) { return read_file(SEIDEL_SOURCE_DIR "/" + name); }

std::set<std::string> options_in(const std::string& text) {
  static const std::regex option("--[a-z][a-z0-9-]*");
  return {std::sregex_token_iterator(text.begin(), text.end(), option), std::sregex_token_iterator()};
}

/// It goes to standard output.
std::string help_of(const std::string& command) {
  const Run run = succeeded(words_in(command) + Words{"--help"});
  CHECK(contains(run.out, "--help"));
  CHECK(contains(run.out, "Usage: seidel " + command));
  CHECK(run.err.empty());
  return run.out;
}

}  // namespace

TEST_CASE("--help of the program and of bench lists their commands") {
  const std::string of_program = help_of(""), of_bench = help_of("bench");
  for (const std::string& command : commands) {
    CHECK(contains(of_program, words_in(command).front()));
    if (command.starts_with("bench ")) CHECK(contains(of_bench, words_in(command).back()));
  }
}

TEST_CASE("what --help lists the guide explains, and what documents show --help lists") {
  const std::set<std::string> explained = options_in(document("docs/user-guide.md") + document("docs/benchmarks.md"));
  std::set<std::string> known;
  for (const std::string& command : commands) {
    const std::string help = help_of(command);
    CHECK(!contains(help, "TEXT"));
    for (const std::string& option : options_in(help)) {
      CHECK_MESSAGE(explained.contains(option), option);
      known.insert(option);
    }
  }
  // From "seidel " to the end of the line, the code or the comment: what a reader would type.
  static const std::regex typed("seidel [^`\n#|]*");
  std::vector<std::string> names = {"README.md"};  // docs/notes/ shows what was typed at the commit of each note
  for (const auto& page : std::filesystem::directory_iterator(SEIDEL_SOURCE_DIR "/docs"))
    if (page.path().extension() == ".md") names.push_back("docs/" + page.path().filename().string());
  CHECK(names.size() > 5);
  for (const std::string& name : names) {
    CAPTURE(name);
    const std::string text = document(name);
    CHECK(!text.empty());
    for (std::sregex_iterator at(text.begin(), text.end(), typed), end; at != end; ++at)
      for (const std::string& option : options_in(at->str())) CHECK_MESSAGE(known.contains(option), at->str());
  }
}

TEST_CASE("names are taken in any case, and usual short options as the long ones") {
  const Run run = succeeded({"solve", "poisson2d:9", "--method", "CG", "--precond", "Jacobi", "-q"});
  CHECK(run.out.empty());
  CHECK(seidel_program({"-V"}).out == seidel_program({"--version"}).out);
  CHECK(seidel_program({"solve", "-V"}).out == seidel_program({"--version"}).out);
  CHECK(seidel_program({"help", "solve"}).out == seidel_program({"solve", "--help"}).out);
  CHECK(seidel_program({"help"}).out == seidel_program({"--help"}).out);
}

TEST_CASE("a preconditioner that A does not suit is refused with others that it does") {
  const Words random{"solve", "random:50x50:300", "--precond"};
  check_refused(3,
                {{random + Words{"ict"}, {"random:50x50:300: ict needs a symmetric", "such as symgs or ilu0, or none"}},
                 {random + Words{"amg"}, {"random:50x50:300: amg needs a positive diagonal"}},
                 {{"info", "random:50x50:300", "--precond", "ic0"}, {"random:50x50:300: ic0 needs a symmetric"}},
                 {{"solve", "graph:9", "--precond", "gmg"}, {"graph:9: gmg: found no lattice"}}});
}

TEST_CASE("help for what is no command is an error that names the commands") {
  check_refused(2, {{{"help", "foo"}, {"unknown command 'foo', expected one of solve, info"}},
                    {{"help", "solv"}, {"did you mean solve?"}},
                    {{"foo", "--help"}, {"unknown command 'foo', expected one of solve, info"}},
                    {{"help", "--foo"}, {"unknown option '--foo', expected one of solve, info"}},
                    {{"help", "bench", "foo"}, {"unknown command 'foo', expected one of spmv, spmm"}},
                    {{"bench", "foo", "--help"}, {"unknown command 'foo', expected one of spmv, spmm"}},
                    {{"help", "solve", "foo"}, {"'foo' is one argument too many"}},
                    {{"help", "solve", "bench"}, {"'bench' is one argument too many"}},
                    {{"help", "bench", "spmv", "foo"}, {"'foo' is one argument too many"}}});
  for (const char* words : {"help --help", "help solve -h", "help bench spmv"}) succeeded(words_in(words));
}

TEST_CASE("gmg is called gmg in reports, as --precond calls it") {
  const Run run = seidel_program({"solve", "poisson2d:9", "--method", "cg", "--precond", "GMG", "--json", "-"});
  CHECK(contains(run.out, "\"preconditioner\": \"gmg\""));
  CHECK(contains(run.out, "gmg, as asked"));
  CHECK(contains(seidel_program({"info", "poisson2d:9", "--precond", "gmg", "--json", "-"}).out, "\"name\": \"gmg\""));
  CHECK(contains(seidel_program({"solve", "--help"}).out, "gmg        amg on the lattice"));
}

TEST_CASE("more threads than cores are taken, and told of") {
  const Run run = succeeded({"info", "poisson2d:4", "--threads", "4096"});
  CHECK(contains(run.err, "--threads 4096: this process has "));
  CHECK(seidel_program({"info", "poisson2d:4", "--threads", "1"}).err.empty());
}

TEST_CASE("under mpirun a command whose processes share no work says so, once") {
  const Words words = {"info", "poisson2d:4"}, quiet = {"generate", "poisson2d:4", "--out", "-", "--quiet"};
  for (const char* size : {"OMPI_COMM_WORLD_SIZE=3", "PMI_SIZE=3"})
    CHECK(
        contains(succeeded(words, {.environment = size}).err, "one of 3 processes of mpirun, each of which does all"));
  CHECK(succeeded(words, {.environment = "PMI_SIZE=1"}).err.empty());
  CHECK(succeeded(quiet, {.environment = "PMI_SIZE=3"}).err.empty());
  setenv("PMI_RANK", "1", 1);  // for the program
  const Run second = succeeded(words, {.environment = "PMI_SIZE=3"});
  unsetenv("PMI_RANK");
  CHECK(second.err.empty());
}

TEST_CASE("--version of the program and of a command is one line") {
  for (const char* words : {"--version", "solve --version"}) {
    const Run run = succeeded(words_in(words));
    CHECK(run.out.starts_with("seidel "));
    CHECK(std::count(run.out.begin(), run.out.end(), '\n') == 1);
  }
}

TEST_CASE("the program starts in 20 ms" * doctest::skip(SEIDEL_SANITIZED)) {
  double least = 1e9;
  for (int i = 0; i < 20; ++i) least = std::min(least, seidel_program({"--version"}).seconds);
  CAPTURE(least);
  CHECK(least < 0.020);
}

TEST_CASE(
    "wrong usage exits 2, says what is allowed and what was perhaps meant, and prints nothing on standard output") {
  const std::string matrix = "poisson2d:4";
  check_refused(
      2,
      {{{}, {"solve", "info", "generate", "convert", "validate"}},
       {{"slove", matrix}, {"slove", "did you mean solve"}},
       {{matrix}, {"did you mean seidel solve poisson2d:4"}},
       {{"A.mtx"}, {"did you mean seidel solve A.mtx"}},
       {{"--verson"}, {"unknown option", "--verson"}},
       {{"solve"}, {"MATRIX", "seidel solve --help"}},
       {{"solve", matrix, "--toll", "1e-6"}, {"--toll", "did you mean --tol", "--max-iterations"}},
       {{"solve", "--precnod=symgs", matrix}, {"--precnod", "did you mean --precond"}},
       {{"solve", matrix, "B.mtx"}, {"B.mtx", "one argument too many", "did you mean --rhs B.mtx"}},
       {{"info", matrix, "B.mtx"}, {"info: 'B.mtx' is one argument too many\n"}},
       {{"solve", matrix, "--preconditioner", "jacobi"}, {"seidel: solve: unknown", "did you mean --precond"}},
       {{"solve", matrix, "--maxiter", "9"}, {"did you mean --max-iterations"}},
       {{"solve", matrix, "--tolerance", "1e-6"}, {"did you mean --tol"}},
       {{"solve", matrix, "--gpu"}, {"did you mean --backend cuda"}},
       {{"solve", matrix, "--restart", "9"}, {"did you mean --set restart=VALUE"}},
       {{"solve", matrix, "--tol", "1e-3", "--tol", "1e-5"}, {"solve: --tol: found 2 values, expected one"}},
       {{"solve", matrix, "--tol"}, {"solve: --tol: found no value, expected one"}},
       {{"solve", matrix, "--set"}, {"--set: found no value, expected one"}},
       {{"solve", matrix, "--atol", "9"}, {"did you mean --set atol=VALUE"}},
       {{"solve", matrix, "--set", "restart=10,omega=1.2"}, {"--set restart=10 --set omega=1.2"}},
       {{"solve", matrix, "--set", "restart=10", "--set", "restart=12"}, {"--set restart=12", "as restart=10"}},
       {{"solve", matrix, "--method", "direct", "--set", "restart=9"}, {"--set restart=9", "direct has no such"}},
       {{"solve", matrix, "--method", "direct", "--set", "omega=1.2"}, {"direct has no such"}},
       {{"solve", matrix, "--method", "direct", "--max-iterations", "9"}, {"leave --max-iterations out"}},
       {{"solve", matrix, "--method", "cg", "--set", "restart=9"}, {"cg has no such"}},
       {{"solve", matrix, "--precond", "jacobi", "--set", "omega=1.2"}, {"jacobi has no such"}},
       {{"info", matrix, "--quiet"}, {"--quiet", "--json"}},
       {{"info", matrix, "--backend", "cuda"}, {"--backend cuda: info works on the host, unless", "--precond"}},
       {{"generate", matrix, "-o", "-", "--backend", "cuda"}, {"--backend cuda: generate works on the host"}},
       {{"convert", matrix, "-", "--backend", "CUDA"}, {"--backend cuda: convert works on the host"}},
       {{"bench", "read", "A.mtx", "--backend", "cuda"}, {"--backend cuda: files are read on the host"}},
       {{"solve", matrix, "--method", "direct", "--backend", "Cuda"}, {"--backend cuda: direct computes factors"}},
       {{"solve", matrix, "--precond", "ssor"}, {"did you mean symgs"}},
       {{"solve", matrix, "--precond", "jacobi", "--order", "colours"}, {"--order", "jacobi has no choice"}},
       {{"solve", matrix, "--method", "cgs"}, {"--method", "cgs", "did you mean cg", "auto, cg, minres, ", ", direct"}},
       {{"solve", matrix, "--method", "multigrid", "--precond", "symgs"}, {"expected amg"}},
       {{"solve", matrix, "--method", "lsmr", "--precond", "jacobi"}, {"expected none", "leave it out"}},
       {{"solve", matrix, "--method", "amg"}, {"did you mean multigrid?"}},
       {{"solve", matrix, "--METHOD", "cg"}, {"did you mean --method?"}},
       {{"solve", matrix, "--max_it", "9"}, {"did you mean --max-iterations?"}},
       {{"solve", matrix, "-pc_type", "jacobi"}, {"did you mean --precond?"}},
       {{"solve", matrix, "--niter", "9"}, {"did you mean --max-iterations?"}},
       {{"solve", matrix, "--precond", "gmg", "--coordinates", "xyz.mtx"}, {"only amg uses it"}},
       {{"solve", matrix, "--precond", "symsg"}, {"did you mean symgs", "auto, none, jacobi, ", ", gmg"}},
       {{"solve", matrix, "--precond", "gmg", "--set", "amg.coarsening=classical"}, {"coarsens the lattice"}},
       {{"solve", matrix, "--order", "colors"}, {"did you mean colours", "natural"}},
       {{"solve", matrix, "--order", "blocks"}, {"'blocks'", "auto, natural, colours"}},
       {{"solve", matrix, "--backend", "gpu"}, {"--backend", "auto, serial, openmp, cuda", "did you mean cuda"}},
       {{"solve", matrix, "--threads", "0"}, {"--threads", "'0'", "from 1"}},
       {{"solve", matrix, "--threads", "2", "--backend", "serial"}, {"--threads 2", "openmp"}},
       {{"solve", matrix, "--tol", "small"}, {"--tol", "small", "above 0"}},
       {{"solve", matrix, "--tol", "nan"}, {"--tol", "nan"}},
       {{"solve", matrix, "--tol", "0"}, {"--tol", "'0'", "--set atol=T"}},
       {{"solve", matrix, "--tol", "1e-6x"}, {"--tol", "1e-6x"}},
       {{"solve", matrix, "--max-iterations", "-1"}, {"--max-iterations", "-1"}},
       {{"solve", matrix, "--max-iterations", "1e3"}, {"--max-iterations", "whole number"}},
       {{"solve", matrix, "--max-iterations", "99999999999999999999"}, {"from 0 to 9223372036854775807"}},
       {{"solve", matrix, "--time-limit", "0"}, {"--time-limit"}},
       {{"solve", matrix, "--set", "restrat=5"}, {"restrat", "did you mean restart", "omega", "atol"}},
       {{"solve", matrix, "--set", "amg.cycle=q"}, {"found 'q', expected one of v, w, k"}},
       {{"solve", matrix, "--set", "omega=2"}, {"omega", "below 2"}},
       {{"solve", matrix, "--set", "omega"}, {"KEY=VALUE"}},
       {{"solve", matrix, "--quiet", "--verbose"}, {"--quiet", "--verbose"}},
       {{"solve", matrix, "--out"}, {"--out"}},
       {{"solve", matrix, "--out", "x.npy"}, {"--out", "x.npy", "Matrix Market"}},
       {{"convert", matrix, "A.npz"}, {"A.npz", "Matrix Market"}},
       {{"convert", matrix, "A.mtx.bz2"}, {"A.mtx.bz2", "a .mtx or .mtx.gz file"}},
       {{"solve", matrix, "--out", "x.mtx.XZ"}, {"--out", "x.mtx.XZ", "a .mtx or .mtx.gz file"}},
       {{"solve", matrix, "--out", "/no/such/folder/x.mtx"}, {"--out", "/no/such/folder", "mkdir -p"}},
       {{"solve", matrix, "--json", "/"}, {"--json", "folder"}},
       {{"solve", "-", "--rhs", "-"}, {"standard input"}},
       {{"solve", matrix, "--out", "-", "--json", "-"}, {"standard output", "--out", "--json"}},
       {{"solve", "poisson2d:0"}, {"poisson2d"}},
       {{"solve", "poisson2d:x"}, {"poisson2d"}},
       {{"generate", "poisson2d:4"}, {"--out"}},
       {{"generate", "poison2d:4", "-o", "-"}, {"poison2d", "poisson2d"}},
       {{"generate", "poisson2d:4", "-o", "-", "--seed", "1"}, {"--seed", "poisson2d:4 is not random"}},
       {{"generate", "dense:3x3", "-o", "z.mtx"}, {"--out", "'z.mtx'", "binary"}},
       {{"generate", "dense:3x3", "-o", "z.npy"}, {"--out", "'z.npy'", "binary"}},
       {{"generate", "dense:3", "-o", "z"}, {"dense:3: found '3', expected MxN"}},
       {{"generate", "random:5x5:30", "-o", "-"}, {"found '30', expected a whole number from 0 to 25"}},
       {{"convert", matrix}, {"OUT"}},
       {{"convert", matrix, "-", "--format", "dense"}, {"--format", "coordinate, array"}},
       {{"bench", "spmv"}, {"seidel: bench spmv: a MATRIX is missing"}},
       {{"bench"}, {"read", "seidel bench suite --small", "seidel bench --help"}}});
}

TEST_CASE("a back end that is not there exits 5 and says how to get it, before anything is read") {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  const std::string before = visible ? visible : "";
  setenv("CUDA_VISIBLE_DEVICES", "", 1);  // so that the program finds no GPU on any machine
  for (const char* command : {"solve", "validate"}) {
    const Run run = seidel_program({command, "no-such-file.mtx", "--backend", "cuda"});
    CHECK(run.exit_code == 5);
    CHECK(contains(run.err, "--backend cuda"));
    CHECK(contains(run.err, "\n  "));  // what to do
    CHECK(run.out.empty());
  }
  visible ? setenv("CUDA_VISIBLE_DEVICES", before.c_str(), 1) : unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_CASE("what is too big exits 4 and says how much was needed") {
  const Run run = seidel_program({"info", "random:2000000000x2000000000:400000000000"});
  CHECK(run.exit_code == 4);
  CHECK((contains(run.err, "TB") || contains(run.err, "GB")));
}
