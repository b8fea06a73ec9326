// seidel gemm as processes under mpirun: any grid, any sizes, and what happens when something fails.
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <limits>

#include "../skipped.hpp"
#include "process.hpp"

#include <nlohmann/json.hpp>

#include <seidel/formats/block_cyclic.hpp>
#include <seidel/formats/dense_file/dense_file.hpp>
#include <seidel/formats/runtime/errors.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const std::string program = SEIDEL_PROGRAM " gemm ";
Run mpirun(const Folder& folder, int processes, const std::string& words) {
  return launched(folder, "-np " + std::to_string(processes) + " " + program + words);
}

template <class Real = double>
struct Dense {
  DenseShape shape;
  std::vector<Real> elements;
  Real at(std::int64_t i, std::int64_t j) const { return elements[std::size_t(i * shape.ncols + j)]; }
};
template <class Real = double>
Dense<Real> read_dense(const std::string& path) {
  const DenseHead head = read_dense_head(path);
  REQUIRE(head.precision == precision_of<Real>);
  Dense<Real> dense{head.shape, {}};
  const std::string bytes = read_file(path);
  dense.elements.resize(std::size_t(dense.shape.nrows * dense.shape.ncols));
  std::memcpy(dense.elements.data(), bytes.data() + DenseHead::bytes, dense.elements.size() * sizeof(Real));
  return dense;
}

/// Of elements that are not the chain of fma, and the largest error over its bound.
struct Difference {
  std::int64_t other_bits = 0;
  double error = 0;
};
template <class Real>
Difference difference(const Dense<Real>& A, const Dense<Real>& B, const Dense<Real>* C, const Dense<Real>& got) {
  Difference found;
  for (std::int64_t i = 0; i < A.shape.nrows; ++i)
    for (std::int64_t j = 0; j < B.shape.ncols; ++j) {
      Real chain = C ? C->at(i, j) : 0;
      double scale = std::fabs(chain);
      long double sum = chain;
      for (std::int64_t k = 0; k < A.shape.ncols; ++k) {
        chain = std::fma(A.at(i, k), B.at(k, j), chain);
        sum += static_cast<long double>(A.at(i, k)) * B.at(k, j), scale += std::fabs(double(A.at(i, k)) * B.at(k, j));
      }
      const double bound = double(A.shape.ncols + 2) * double(std::numeric_limits<Real>::epsilon()) * scale,
                   error = std::fabs(double(got.at(i, j) - sum));
      found.other_bits += got.at(i, j) != chain;
      if (!(error <= found.error * bound)) found.error = error == 0 ? found.error : error / bound;
    }
  return found;
}

}  // namespace

TEST_CASE("blocks dealt out to parts: each element once, counts and places by closed formulas") {
  for (const std::int64_t n : {0, 1, 2, 31, 32, 33, 100})
    for (const std::int64_t block : {1, 3, 32, 64})
      for (const int nparts : {1, 2, 3, 7}) {
        const BlockCyclic dealt{n, block, nparts};
        std::vector<int> seen(static_cast<std::size_t>(n));
        for (int part = 0; part < nparts; ++part)
          for (std::int64_t local = 0; local < dealt.count(part); ++local) {
            const std::int64_t i = dealt.global(part, local);
            REQUIRE(i < n);
            ++seen[std::size_t(i)];
            const std::int64_t q = i / block;
            CHECK(dealt.owner(q) == part);
            CHECK(dealt.place(q) + i % block == local);
            CHECK(i % block < dealt.size(q));
          }
        for (const int times : seen) CHECK(times == 1);
      }
}

TEST_CASE("generate dense:MxN writes what its layout says, and a file that is not so is refused") {
  const Folder folder;
  succeeded({"generate", "dense:5x7", "--out", folder / "a", "--quiet"});
  const std::string bytes = read_file(folder / "a");
  CHECK(bytes.size() == 64 + 8 * 35);
  CHECK(bytes.starts_with("seidel dense fp64 row-major\n"));
  const Dense<> A = read_dense(folder / "a");
  CHECK(A.shape.nrows == 5);
  CHECK(A.shape.ncols == 7);
  for (const double x : A.elements) CHECK((std::fabs(x) < 1 && x != 0));
  succeeded({"generate", "dense:0x7", "--out", folder / "empty", "--quiet"});
  CHECK(read_dense_head(folder / "empty").shape.ncols == 7);
  write_file(folder / "short", bytes.substr(0, 300));
  write_file(folder / "other", "%%MatrixMarket matrix array real general\n1 1\n1.0\n" + std::string(64, ' '));
  CHECK_THROWS_WITH_AS(read_dense_head(folder / "short"),
                       doctest::Contains("found 300 bytes, expected 344 for 5 x 7 elements"), InputError);
  CHECK_THROWS_WITH_AS(read_dense_head(folder / "other"), doctest::Contains("found no dense matrix"), InputError);
  CHECK_THROWS_AS(read_dense_head(folder / "missing"), InputError);
  check_refused(2, {{{"generate", "dense:5", "--out", folder / "b"}, {"expected MxN"}},
                    {{"generate", "dense:5x", "--out", folder / "b"}, {"expected MxN"}},
                    {{"generate", "dense:ax5", "--out", folder / "b"}, {"expected MxN"}}});
}

TEST_CASE(
    "gemm on 1 to 6 processes: every grid is right, summa has the bits of one machine, row-sums repeats its own") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  struct Sizes {
    int m, n, k, block;
  };
  for (const Sizes s : {Sizes{70, 50, 90, 8}, Sizes{65, 3, 33, 32}, Sizes{5, 6, 700, 32}}) {
    const Folder folder;
    const auto size = [](int rows, int columns) {
      return "dense:" + std::to_string(rows) + "x" + std::to_string(columns);
    };
    seidel_program({"generate", size(s.m, s.k), "--out", folder / "a", "--seed", "1", "--quiet"});
    seidel_program({"generate", size(s.k, s.n), "--out", folder / "b", "--seed", "2", "--quiet"});
    seidel_program({"generate", size(s.m, s.n), "--out", folder / "c", "--seed", "3", "--quiet"});
    const Dense<> A = read_dense(folder / "a"), B = read_dense(folder / "b"), C = read_dense(folder / "c");
    struct Grid {
      int processes;
      const char* shape;
    };
    for (const Grid grid : {Grid{1, "1x1"}, Grid{2, "2x1"}, Grid{3, "1x3"}, Grid{4, "2x2"}, Grid{6, "2x3"}})
      for (const char* method : {"summa", "row-sums"})
        for (const bool adds : {false, true}) {
          if (adds != (grid.processes % 2 == 0)) continue;
          CAPTURE(s.m);
          CAPTURE(grid.shape);
          CAPTURE(method);
          const std::string words = std::string("a b ") + (adds ? "c" : "") + " --threads 1 --grid " + grid.shape +
                                    " --block " + std::to_string(s.block) + " --method " + method + " --out ";
          const Run run = mpirun(folder, grid.processes, words + "r");
          REQUIRE(run.exit_code == 0);
          CHECK(contains(run.out, "GFLOP/s from file to file"));
          const Difference found = difference(A, B, adds ? &C : nullptr, read_dense(folder / "r"));
          CHECK(found.error <= 1);
          if (std::string(method) == "summa" || grid.shape[2] == '1') CHECK(found.other_bits == 0);
        }
    const std::string words = "a b --threads 1 --grid 1x3 --block 8 --method row-sums --out ";
    REQUIRE(mpirun(folder, 3, words + "first").exit_code == 0);
    REQUIRE(mpirun(folder, 3, words + "second").exit_code == 0);
    CHECK(read_file(folder / "first") == read_file(folder / "second"));
  }
}

TEST_CASE("gemm in FP32: elements rounded from those of FP64, the bits of one machine, the bound of FP32") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  for (const auto& [name, size] : {std::pair{"a", "dense:45x70"}, {"b", "dense:70x33"}, {"c", "dense:45x33"}}) {
    succeeded({"generate", size, "--out", folder / name, "--fp32", "--quiet"});
    succeeded({"generate", size, "--out", folder / name + std::string("64"), "--quiet"});
  }
  CHECK(read_file(folder / "a").size() == 64 + 4 * 45 * 70);
  const Dense<float> A = read_dense<float>(folder / "a"), B = read_dense<float>(folder / "b"),
                     C = read_dense<float>(folder / "c");
  const Dense<double> A64 = read_dense(folder / "a64");
  for (std::size_t e = 0; e < A.elements.size(); ++e) REQUIRE(A.elements[e] == float(A64.elements[e]));
  for (const char* method : {"summa", "row-sums"}) {
    const Run run = mpirun(folder, 4, std::string("a b c --threads 1 --block 8 --out r --method ") + method);
    REQUIRE(run.exit_code == 0);
    CHECK(contains(run.out, "fp32, grid 2x2"));
    const Difference found = difference(A, B, &C, read_dense<float>(folder / "r"));
    CHECK(found.error <= 1);
    if (std::string(method) == "summa") CHECK(found.other_bits == 0);
  }
  const Run mixed = mpirun(folder, 2, "a b64 --out mixed");
  CHECK(mixed.exit_code == 3);
  CHECK(contains(mixed.err, "a has elements of fp32, b64 of fp64: expected one precision"));
  const Run bench = launched(folder, "-np 2 " SEIDEL_PROGRAM " bench gemm-mpi 65x33x90 --fp32 --threads 1 --trials 1");
  CHECK(bench.exit_code == 0);
  CHECK(contains(bench.out, "fp32, blocks of 32"));
  check_refused(2, {{{"generate", "poisson2d:5", "--fp32", "--out", folder / "p.mtx"}, {"--fp32"}}});
}

TEST_CASE(
    "bench gemm-mpi measures 1, 2, 3 processes with both methods, checks what they computed, and says so in JSON") {
  if (!have_mpi()) return skipped("seidel bench gemm-mpi on several processes (no MPI in this build)");
  const Folder folder;
  const Run run =
      launched(folder, "-np 3 " SEIDEL_PROGRAM
                       " bench gemm-mpi 65x33x90 7x5x1 --threads 1 --block 8 --trials 1 --json report.json");
  REQUIRE(run.exit_code == 0);
  const nlohmann::json report = nlohmann::json::parse(read_file(folder / "report.json"));
  CHECK(report["schema"] == "seidel.bench.gemm-mpi/1");
  REQUIRE(report["products"].size() == 12);
  for (std::size_t row = 0; row < 12; ++row) {
    const auto& product = report["products"][row];
    CHECK(product["grid"]["rows"].get<int>() * product["grid"]["columns"].get<int>() == int(row % 3 + 1));
    CHECK(product["method"] == (row / 3 % 2 == 0 ? "summa" : "row-sums"));
    CHECK(product["error"].get<double>() <= 1);
    CHECK(product["seconds"]["all"].get<double>() > 0);
  }
  const Run short_name = launched(folder, "-np 2 " SEIDEL_PROGRAM " bench gemm 9x8x7 --threads 1 --trials 1");
  CHECK(short_name.exit_code == 0);
  CHECK(contains(short_name.out, "row-sums"));
  CHECK(contains(short_name.out, "2x1"));
  const Run too_large = launched(folder, "-np 2 " SEIDEL_PROGRAM " bench gemm-mpi 9x9x9 --grid 2x2");
  CHECK(too_large.exit_code == 2);
  CHECK(contains(too_large.err, "--grid 2x2: found 2 processes"));
  const Run no_size = launched(folder, "-np 2 " SEIDEL_PROGRAM " bench gemm-mpi 9x9");
  CHECK(no_size.exit_code == 2);
  CHECK(contains(no_size.err, "MxNxK: found '9x9'"));
}

TEST_CASE("gemm of matrices without elements, on more processes than blocks") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  seidel_program({"generate", "dense:4x0", "--out", folder / "a", "--quiet"});
  seidel_program({"generate", "dense:0x3", "--out", folder / "b", "--quiet"});
  seidel_program({"generate", "dense:4x3", "--out", folder / "c", "--quiet"});
  seidel_program({"generate", "dense:3x5", "--out", folder / "d", "--quiet"});
  for (const char* method : {"summa", "row-sums"}) {
    const std::string with = std::string(" --method ") + method + " --out r";
    REQUIRE(mpirun(folder, 4, "a b" + with).exit_code == 0);
    for (const double x : read_dense(folder / "r").elements) CHECK(x == 0);
    REQUIRE(mpirun(folder, 4, "a b c" + with).exit_code == 0);
    CHECK(read_file(folder / "r") == read_file(folder / "c"));
    REQUIRE(mpirun(folder, 3, "b d" + with).exit_code == 0);
    CHECK(read_dense_head(folder / "r").shape.nrows == 0);
    CHECK(read_dense_head(folder / "r").shape.ncols == 5);
  }
}

TEST_CASE("whatever is wrong with gemm ends it soon, with one message and without a file") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  seidel_program({"generate", "dense:300x200", "--out", folder / "a", "--quiet"});
  seidel_program({"generate", "dense:200x300", "--out", folder / "b", "--quiet"});
  write_file(folder / "short", read_file(folder / "a").substr(0, 1000));
  const auto count = [](const std::string& text, const std::string& part) {
    std::size_t found = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
    return found;
  };
  const auto refused = [&](int exit_code, const std::string& words, const std::string& said) {
    const Run run = mpirun(folder, 4, words + (contains(words, "--out") ? "" : " --out r"));
    CHECK(run.exit_code == exit_code);
    CHECK(contains(run.err, said));
    CHECK(count(run.err, "seidel: ") == 1);
    for (const std::string& name : folder.names()) CHECK((name != "r" && name != ".r.part"));
  };
  refused(3, "short b", "found 1000 bytes, expected 480064");
  refused(3, "a missing", "cannot be opened");
  refused(3, "a a", "expected as many columns of A as rows of B");
  refused(3, "a b a", "the shape of A B");
  refused(2, "a b --grid 2x3", "needs 6 processes, found 4");
  refused(2, "a b --grid 2", "--grid: found '2'");
  refused(2, "a b --block 0", "--block: found '0'");  // what each process sees before it knows of the others
  refused(2, "a b --out none/r", "the folder 'none' does not exist");
  refused(2, "a b --out a", "A and --out are one file");
}

TEST_CASE("gemm says that there is no room for its result before it computes, and leaves nothing") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  seidel_program({"generate", "dense:2000x4", "--out", folder / "a", "--quiet"});
  seidel_program({"generate", "dense:4x2000", "--out", folder / "b", "--quiet"});
  // The limit is that of the program alone: mpirun would wait for ever if its own files met it.
  const Run run = launched(folder, "-np 2 sh -c 'ulimit -f 30000; exec " + program + "a b --out r'");
  CHECK(run.exit_code == 4);
  CHECK(contains(run.err, "no room for 32000064 bytes"));
  for (const std::string& name : folder.names()) CHECK((name != "r" && name != ".r.part"));
}

TEST_CASE("gemm reads no pipe and no device, for which many processes would wait, and replaces none by a file") {
  const Folder folder;
  for (const char* name : {"a", "b"}) seidel_program({"generate", "dense:3x3", "--out", folder / name, "--quiet"});
  const std::string pipe = folder / "pipe";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  for (const std::string& out : {pipe, std::string("-"), std::string("/dev/stdout")})
    check_refused(2, {{{"gemm", folder / "a", folder / "b", "--out", out}, {"expected the name of a file"}}});
  for (const std::string& in : {pipe, std::string("-"), std::string("/dev/stdin")})
    check_refused(2,
                  {{{"gemm", in, folder / "a", "--out", folder / "c"}, {"A: found", "expected the name of a file"}},
                   {{"gemm", folder / "a", in, "--out", folder / "c"}, {"B: found", "expected the name of a file"}}});
  struct stat status {};
  REQUIRE(stat(pipe.c_str(), &status) == 0);
  CHECK(S_ISFIFO(status.st_mode));
}

TEST_CASE("gemm writes through a link, which stays a link") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  seidel_program({"generate", "dense:3x3", "--out", folder / "a", "--quiet"});
  std::filesystem::create_directory(folder / "results");
  const auto write = [&](const std::string& out) {
    succeeded({"gemm", folder / "a", folder / "a", "--quiet", "--out", out});
  };
  write(folder / "results/c");
  const std::string expected = read_file(folder / "results/c");
  write_file(folder / "results/c", "old");
  std::filesystem::create_symlink("results/c", folder / "link");
  write(folder / "link");
  CHECK(std::filesystem::is_symlink(folder / "link"));
  CHECK(read_file(folder / "results/c") == expected);
}

TEST_CASE("gemm says once that there is no room for its report") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  seidel_program({"generate", "dense:3x3", "--out", folder / "a", "--quiet"});
  const Run run = launched(folder, "-np 2 " + program + "a a --out c --quiet --json /dev/full");
  CHECK(run.exit_code == 4);
  const std::string said = "seidel: /dev/full: could not be written";
  CHECK(contains(run.err, said));
  CHECK(run.err.find(said) == run.err.rfind(said));
}

TEST_CASE("a process of gemm that dies takes the others along, and leaves no result") {
  if (!have_mpi()) return skipped("seidel gemm on several processes (no MPI in this build)");
  const Folder folder;
  seidel_program({"generate", "dense:2500x2500", "--out", folder / "a", "--quiet"});
  const auto begin = std::chrono::steady_clock::now();
  const std::string words = "a a --threads 1 --block 1 --grid 1x3 --out r";
  const Run run = launched(
      folder, "-np 2 " + program + words + " : -np 1 sh -c '" + program + words + " & sleep 1; kill -9 $!; wait $!'");
  CHECK(run.exit_code != 0);
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 60);
  for (const std::string& name : folder.names()) CHECK(name != "r");
}
