// What is written is read back bit for bit, in little memory, and appears when it is whole.
#include "../files.hpp"
#include "../skipped.hpp"
#include "matrix_market.hpp"

#include <malloc.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <csignal>

#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/matrix_market/number.hpp>

using namespace seidel;
using namespace seidel::tests;

TEST_CASE("every double survives writing and reading bit for bit") {
  const Folder folder;
  const std::uint64_t seed = fresh_seed();
  const std::pair<Symmetry, int> symmetries[] = {
      {Symmetry::general, 0}, {Symmetry::symmetric, 1}, {Symmetry::skew_symmetric, -1}};
  for (const auto& [symmetry, sign] : symmetries)
    for (const char* file : {"A.mtx", "A.mtx.gz", "A.MTX.GZ"}) {
      const Matrix A = matrix_of_any_bits(2000, sign ? 2000 : 1234, 20, sign, seed);
      std::string first;
      for (int threads : {1, 2, 3, 7}) {
        CAPTURE(threads);
        const WriteOptions options{.symmetry = symmetry, .comment = "two lines\nof comment", .threads = threads};
        write_matrix_market(folder / file, A.view(), options);
        const std::string bytes = read_file(folder / file);
        if (first.empty()) first = bytes;
        CHECK(bytes == first);
        CHECK(same_matrix(read_matrix_market(folder / file, with(threads, 1 << 14)).matrix, A));
      }
      CHECK(folder.names().size() == 1);
      std::filesystem::remove(folder / file);
      CHECK((std::uint8_t(first[0]) == 0x1f) == (file[5] != 0));
    }
}

TEST_CASE("a symmetry is exact only if one triangle says all: which places are stored, and the signs of zeros") {
  const std::pair<const char*, Symmetry> files[] = {
      {"2 2 3\n1 1 4\n1 2 -1\n2 1 -1\n", Symmetry::symmetric},
      {"2 2 2\n1 2 -1\n2 1 1\n", Symmetry::skew_symmetric},
      {"2 2 3\n1 1 0\n1 2 -1\n2 1 1\n", Symmetry::general},  // a zero that a skew-symmetric file cannot list
      {"2 2 2\n1 1 4\n1 2 0\n", Symmetry::general},          // equal values, but stored on one side only
      {"2 2 2\n1 2 0\n2 1 -0.0\n", Symmetry::skew_symmetric},
      {"2 2 3\n1 1 4\n1 2 0\n2 1 -0.0\n", Symmetry::general},
      {"2 2 1\n2 1 3\n", Symmetry::general},
      {"2 3 1\n1 1 3\n", Symmetry::general},
      {"2 2 0\n", Symmetry::general}};
  const Folder folder;
  for (const auto& file : files) {
    const auto text = file.first;
    const auto symmetry = file.second;
    CAPTURE(text);
    const Matrix A =
        parse_matrix_market(std::string("%%MatrixMarket matrix coordinate real general\n") + text, "A").matrix;
    const WriteOptions options{.symmetry = exact_symmetry(A.view())};
    CHECK(options.symmetry == symmetry);
    write_matrix_market(folder / "A.mtx", A.view(), options);
    CHECK(same_matrix(read_matrix_market(folder / "A.mtx").matrix, A));
  }
}

TEST_CASE("vectors survive bit for bit, with their odd values") {
  const Folder folder;
  const double inf = std::numeric_limits<double>::infinity(), least = std::numeric_limits<double>::denorm_min();
  const Array<double> x(std::vector<double>{0.0, -0.0, 1.0 / 3, least, -least, std::numeric_limits<double>::max(), inf,
                                            -inf, std::numeric_limits<double>::quiet_NaN(), 1e23, 9007199254740993.0,
                                            2.2250738585072011e-308});
  for (const char* file : {"x.mtx", "x.mtx.gz"}) {
    write_vector(folder / file, x);
    CHECK(same_bits(read_vector(folder / file), x));
  }
  write_vector(folder / "x.mtx", Array<double>(0));
  CHECK(read_vector(folder / "x.mtx").size() == 0);
}

TEST_CASE("quick numbers are those of strtod, or left to the careful ones") {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  const char* formats[] = {"%.17g", "%.16e", "%.3e", "%g", "%.15f", "%.0f", "%.20g", "%+.8E"};
  std::int64_t wrong = 0, taken = 0, all = 0;
  for (int k = 0; k < 200000; ++k) {
    double v = std::bit_cast<double>(random());
    if (k % 2) v = std::ldexp(double(random() >> 11), int(random() % 80) - 90) * (k % 4 ? 1 : -1);
    if (!std::isfinite(v)) continue;
    char text[400] = {};
    std::snprintf(text, sizeof text - 40, formats[random() % std::size(formats)], v);
    const std::size_t length = std::strlen(text);
    std::strcat(text, "\n 1234567890123456789012345678901");
    double got = 0;
    ++all;
    if (const char* end = mm::quick_real(text, got)) {
      ++taken;
      wrong += end != text + length ||
               std::bit_cast<std::uint64_t>(got) != std::bit_cast<std::uint64_t>(std::strtod(text, nullptr));
    }
  }
  CHECK(wrong == 0);
  CHECK(taken > all / 2);
}

TEST_CASE("reading a file takes the memory of its matrix and a few per cent" * doctest::skip(SEIDEL_SANITIZED)) {
  const Folder folder;
  const auto peak = [](const char* what) {
    std::ifstream status("/proc/self/status");
    for (std::string word; status >> word;)
      if (word == what) {
        std::int64_t kib;
        status >> kib;
        return kib * 1024;
      }
    return std::int64_t(-1);
  };
  {
    const int n = 30000;
    std::ofstream text(folder / "A.mtx");
    text << "%%MatrixMarket matrix coordinate real general\n" << n << " " << n << " " << 40 * n << "\n";
    for (int col = 1; col <= n; ++col)
      for (int k = 0; k < 40; ++k) text << (col + k * 701) % n + 1 << " " << col << " 1.234567890123456\n";
  }
  // Memory that earlier tests gave back goes to the system first: taking it again would count as nothing.
  const auto reset = [] {
    malloc_trim(0);
    return bool(std::ofstream("/proc/self/clear_refs") << "5" << std::flush);
  };
  if (!reset() || peak("VmHWM:") < 0) {
    skipped("this system does not say what memory was used");
    return;
  }
  for (int threads : {1, 3}) {
    reset();
    const std::int64_t before = peak("VmHWM:");
    const auto file = read_matrix_market(folder / "A.mtx", with(threads, 1 << 18));
    const std::int64_t taken = peak("VmHWM:") - before;
    const std::int64_t matrix = file.matrix.nnz() * 12 + (file.matrix.nrows + 1) * 8;
    MESSAGE("matrix ", matrix, " bytes, taken ", taken, ", text ", file.report.text_bytes);
    CHECK(taken > matrix / 2);
    CHECK(taken < matrix + matrix / 20 + (1 << 20) + threads * (1 << 19));
  }
}

TEST_CASE("a triangle is written by columns, the order that reads fastest") {
  const Folder folder;
  for (const auto& [symmetry, sign] : {std::pair(Symmetry::symmetric, 1), std::pair(Symmetry::skew_symmetric, -1)}) {
    const WriteOptions options{.symmetry = symmetry};
    write_matrix_market(folder / "A.mtx", matrix_of_any_bits(500, 500, 9, sign, 1).view(), options);
    std::istringstream text(read_file(folder / "A.mtx"));
    std::string line;
    std::getline(text, line);
    std::getline(text, line);
    std::pair<int, int> last(0, 0);
    int row, col, disorder = 0;
    for (std::string value; text >> row >> col >> value; last = {col, row})
      disorder += row < col || std::pair(col, row) <= last;
    CHECK(last.first > 400);
    CHECK(disorder == 0);
  }
}

TEST_CASE("progress only grows, and ends within its total") {
  const Folder folder;
  write_matrix_market(folder / "A.mtx", matrix_of_any_bits(20000, 20000, 15, 0, 1).view());
  for (int threads : {1, 3}) {
    std::int64_t last = 0, calls = 0;
    ReadOptions options = with(threads, 1 << 16);
    options.progress = [&](std::int64_t done, std::int64_t total) {
      CHECK(done > last);
      CHECK(done <= total);
      last = done;
      ++calls;
    };
    read_matrix_market(folder / "A.mtx", options);
    CHECK(calls > 0);
  }
}

TEST_CASE("a write that fails leaves the old file and nothing else") {
  const Folder folder;
  const Matrix A = matrix_of_any_bits(5000, 5000, 10, 0, 1);
  write_file(folder / "A.mtx", "old");
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100000, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string message = refusal<ResourceError>([&] { write_matrix_market(folder / "A.mtx", A.view()); });
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, handler);
  CHECK(message.find("A.mtx: could not be written after 100000 bytes (File too large)") != message.npos);
  CHECK(read_file(folder / "A.mtx") == "old");
  CHECK(folder.names().size() == 1);
  CHECK_THROWS_WITH_AS(write_matrix_market("/dev/full", A.view()), doctest::Contains("No space left on device"),
                       ResourceError);
  CHECK_THROWS_AS(write_matrix_market(folder / "no/such/folder/A.mtx", A.view()), ResourceError);
  CHECK_THROWS_AS(write_matrix_market(folder.path(), A.view()), ResourceError);
}

TEST_CASE("a process that is killed while it writes leaves the old file") {
  const Folder folder;
  const Matrix A = matrix_of_any_bits(5000, 5000, 10, 0, 1);
  write_file(folder / "A.mtx", "old");
  const WriteOptions options{.threads = 1};
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {  // the system kills who writes more
    const rlimit small{100000, 100000}, no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    setrlimit(RLIMIT_FSIZE, &small);
    std::signal(SIGXFSZ, SIG_DFL);
    write_matrix_market(folder / "A.mtx", A.view(), options);
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFSIGNALED(status));
  CHECK(read_file(folder / "A.mtx") == "old");
  const int nameless = ::open(folder.path().c_str(), O_TMPFILE | O_WRONLY, 0666);
  if (nameless >= 0) CHECK(folder.names().size() == 1);  // nothing is left beside it, where the system has such files
  if (nameless >= 0) ::close(nameless);
}

TEST_CASE("a symmetry that the matrix does not have is not written") {
  const Folder folder;
  Matrix A = matrix_of_any_bits(300, 300, 4, 1, 1);
  WriteOptions options{.symmetry = Symmetry::symmetric};
  write_matrix_market(folder / "A.mtx", A.view(), options);
  std::int64_t k = 0;  // the first entry off the diagonal, which is in row 1
  while (A.col_idx[k] == 0) ++k;
  A.values[k] += 1;
  CHECK_THROWS_WITH_AS(write_matrix_market(folder / "B.mtx", A.view(), options),
                       doctest::Contains("row 1: found an entry in column"), InputError);
  options.symmetry = Symmetry::skew_symmetric;
  CHECK_THROWS_AS(write_matrix_market(folder / "B.mtx", A.view(), options), InputError);
  CHECK(folder.names().size() == 1);
}
