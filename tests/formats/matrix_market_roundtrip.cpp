// What is written is read back bit for bit; what is read does not depend on the order of a file, nor on the threads.
#include "../backends.hpp"
#include "../files.hpp"

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
using seidel::tests::Folder, seidel::tests::read_file, seidel::tests::write_file;

namespace {

std::uint64_t fresh_seed() {
  const std::uint64_t seed = std::random_device{}();
  MESSAGE("seed ", seed);
  return seed;
}

using Matrix = Csr<double, std::int64_t>;

/// `per_row` entries a row on average, of any finite bits; symmetry 1 or -1 mirrors them.
Matrix random_matrix(Index nrows, Index ncols, int per_row, int symmetry, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::map<Index, double>> rows(nrows, std::map<Index, double>{});
  for (std::int64_t k = 0; k < std::int64_t(nrows) * per_row; ++k) {
    const Index row = Index(random() % std::uint64_t(nrows)), col = Index(random() % std::uint64_t(ncols));
    double value = std::bit_cast<double>(random());
    if (k % 3 == 0) value = double(std::int64_t(random() % 2001) - 1000) / 8;
    if (std::isnan(value)) value = -0.0;
    if (symmetry == 0 || row != col) rows[row][col] = value;
    if (symmetry != 0 && row != col) rows[col][row] = symmetry * value;
    if (symmetry == 1 && row == col) rows[row][row] = value;
  }
  std::int64_t nnz = 0;
  for (const auto& row : rows) nnz += std::int64_t(row.size());
  Matrix A{nrows, ncols, Array<std::int64_t>(nrows + 1), Array<Index>(nnz), Array<double>(nnz)};
  nnz = 0;
  for (Index row = 0; row < nrows; ++row) {
    A.row_ptr[row] = nnz;
    for (const auto& [col, value] : rows[row]) {
      A.col_idx[nnz] = col;
      A.values[nnz++] = value;
    }
  }
  A.row_ptr[nrows] = nnz;
  return A;
}

template <class T>
bool same_bits(const Array<T>& a, const Array<T>& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), std::size_t(a.size()) * sizeof(T)) == 0);
}
bool same_bits(const Matrix& A, const Matrix& B) {
  return A.nrows == B.nrows && A.ncols == B.ncols && same_bits(A.row_ptr, B.row_ptr) &&
         same_bits(A.col_idx, B.col_idx) && same_bits(A.values, B.values);
}

ReadOptions with(int threads, std::int64_t chunk_bytes) {
  ReadOptions options;
  options.threads = threads;
  options.chunk_bytes = chunk_bytes;
  return options;
}

}  // namespace

TEST_CASE("every double survives writing and reading bit for bit") {
  const Folder folder;
  const std::uint64_t seed = fresh_seed();
  const std::pair<Symmetry, int> symmetries[] = {
      {Symmetry::general, 0}, {Symmetry::symmetric, 1}, {Symmetry::skew_symmetric, -1}};
  for (const auto& [symmetry, sign] : symmetries)
    for (const char* file : {"A.mtx", "A.mtx.gz"}) {
      const Matrix A = random_matrix(2000, sign ? 2000 : 1234, 20, sign, seed);
      std::string first;
      for (int threads : {1, 2, 3, 7}) {
        CAPTURE(threads);
        WriteOptions options;
        options.symmetry = symmetry;
        options.threads = threads;
        options.comment = "two lines\nof comment";
        write_matrix_market(folder / file, A.view(), options);
        const std::string bytes = read_file(folder / file);
        if (first.empty()) first = bytes;
        CHECK(bytes == first);
        CHECK(same_bits(read_matrix_market(folder / file, with(threads, 1 << 14)).matrix, A));
      }
      CHECK(folder.names().size() == 1);
      std::filesystem::remove(folder / file);
      CHECK((std::uint8_t(first[0]) == 0x1f) == (file[5] != 0));
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
  std::mt19937_64 random(fresh_seed());
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

TEST_CASE("the order of entries in a file and the threads never change a result") {
  const std::uint64_t seed = fresh_seed();
  std::mt19937_64 random(seed);
  // Rows of 0, a few, 25, 300 and 6000 entries: each way of sorting; and a dense column.
  std::vector<std::array<int, 2>> places;
  const auto add_row = [&](int row, int count) {
    std::vector<int> columns(6000);
    for (int k = 0; k < 6000; ++k) columns[k] = k + 1;
    std::shuffle(columns.begin(), columns.end(), random);
    for (int k = 0; k < count; ++k) places.push_back({row, columns[k]});
  };
  for (int row = 1; row <= 600; ++row)
    add_row(row, row == 7 ? 6000 : row % 30 == 0 ? 600 : row % 10 == 0 ? 25 : row % 3);
  const auto text_of = [&] {
    std::string text =
        "%%MatrixMarket matrix coordinate integer general\n600 6000 " + std::to_string(places.size()) + "\n";
    for (const auto& [row, col] : places)
      text += std::to_string(row) + " " + std::to_string(col) + " " + std::to_string(row * 10000 + col) + "\n";
    return text;
  };
  std::sort(places.begin(), places.end());
  const Matrix expected = std::move(parse_matrix_market(text_of(), "text", with(1, 1 << 20)).matrix);
  REQUIRE(expected.nnz() == std::int64_t(places.size()));
  for (int order = 0; order < 3; ++order) {
    if (order == 0)
      std::sort(places.begin(), places.end(),
                [](auto a, auto b) { return std::pair(a[1], a[0]) < std::pair(b[1], b[0]); });
    if (order == 1) std::reverse(places.begin(), places.end());
    if (order == 2) std::shuffle(places.begin(), places.end(), random);
    const std::string text = text_of();
    for (int threads : {1, 2, 3, 7})
      CHECK(same_bits(parse_matrix_market(text, "text", with(threads, 1000)).matrix, expected));
  }
}

TEST_CASE("duplicates are added in the order of the file by every number of threads") {
  const std::uint64_t seed = fresh_seed();
  for (const char* symmetry : {"general", "symmetric", "skew-symmetric"}) {
    CAPTURE(symmetry);
    std::mt19937_64 random(seed);
    std::map<std::pair<int, int>, double> sums;
    const int n = 40, entries = 20000;
    std::ostringstream text;
    text.precision(17);
    text << "%%MatrixMarket matrix coordinate real " << symmetry << "\n" << n << " " << n << " " << entries << "\n";
    for (int k = 0; k < entries; ++k) {
      int row = 1 + int(random() % n), col = 1 + int(random() % n);
      if (symmetry[0] == 's' && row < col) std::swap(row, col);
      if (symmetry[1] == 'k' && row == col) row == n ? --col : ++row;
      const double value = std::ldexp(double(random() >> 11), int(random() % 60)) * (k % 2 ? 1 : -1);
      text << row << " " << col << " " << value << "\n";
      const auto add = [&](int i, int j, double v) {
        const auto [at, fresh] = sums.try_emplace({i, j}, v);
        if (!fresh) at->second += v;
      };
      add(row, col, value);
      if (symmetry[0] == 's' && row != col) add(col, row, symmetry[1] == 'k' ? -value : value);
    }
    std::vector<double> expected;
    for (const auto& [place, sum] : sums) expected.push_back(sum);
    std::int64_t distinct = 0;
    for (const auto& [place, sum] : sums) distinct += symmetry[0] == 'g' || place.first >= place.second;
    for (int threads : {1, 2, 3, 7}) {
      const auto file = parse_matrix_market(text.str(), "text", with(threads, 1000));
      CHECK(same_bits(file.matrix.values, Array<double>(expected)));
      CHECK(file.report.duplicates == entries - distinct);
    }
  }
}

TEST_CASE("reading a file takes the memory of its matrix and a few per cent") {
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
    MESSAGE("skipped: this system does not say what memory was used");
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
    CHECK(taken <
          matrix + matrix / 20 + (1 << 20) + threads * (1 << 19) + 2 * (1 << 21));  // two arrays end on large pages
  }
}

TEST_CASE("one triangle, by columns or in another order, is the whole matrix") {
  for (const auto& [symmetry, whole_diagonal] : {std::pair(1, false), std::pair(1, true), std::pair(-1, false)}) {
    const Matrix A =
        whole_diagonal ? generate(OpenMP{1}, "spd:400:9") : random_matrix(400, 400, 9, symmetry, fresh_seed());
    std::vector<std::string> by_columns, by_rows;  // a row of A to the right of the diagonal is a column below it
    for (Index i = 0; i < A.nrows; ++i)
      for (std::int64_t k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k) {
        const Index j = A.col_idx[k];
        char line[64];
        std::snprintf(line, sizeof line, "%d %d %.17g\n", std::max(i, j) + 1, std::min(i, j) + 1,
                      i < j ? symmetry * A.values[k] : A.values[k]);
        if (i <= j) by_columns.push_back(line);
        if (i >= j) by_rows.push_back(line);
      }
    std::vector<std::string> late_swap = by_columns, with_duplicate = by_columns;
    std::swap(late_swap[late_swap.size() - 1], late_swap[late_swap.size() - 2]);
    with_duplicate.push_back(with_duplicate.back().substr(0, with_duplicate.back().rfind(' ')) + " -0\n");
    for (const auto* lines : {&by_columns, &by_rows, &late_swap, &with_duplicate}) {
      std::string text = std::string("%%MatrixMarket matrix coordinate real ") +
                         (symmetry == 1 ? "symmetric" : "skew-symmetric") + "\n400 400 " +
                         std::to_string(lines->size()) + "\n";
      for (const std::string& line : *lines) text += line;
      for (const int threads : {1, 2, 3, 7})
        CHECK(same_bits(parse_matrix_market(text, "text", with(threads, 1000)).matrix, A));
    }
  }
}

TEST_CASE("a triangle is written by columns, the order that reads fastest") {
  const Folder folder;
  for (const auto& [symmetry, sign] : {std::pair(Symmetry::symmetric, 1), std::pair(Symmetry::skew_symmetric, -1)}) {
    WriteOptions options;
    options.symmetry = symmetry;
    write_matrix_market(folder / "A.mtx", random_matrix(500, 500, 9, sign, 1).view(), options);
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
  write_matrix_market(folder / "A.mtx", random_matrix(20000, 20000, 15, 0, 1).view());
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
  const Matrix A = random_matrix(5000, 5000, 10, 0, 1);
  write_file(folder / "A.mtx", "old");
  rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{100000, limit.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string message;
  try {
    write_matrix_market(folder / "A.mtx", A.view());
  } catch (const ResourceError& error) {
    message = error.what();
  }
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
  const Matrix A = random_matrix(5000, 5000, 10, 0, 1);
  write_file(folder / "A.mtx", "old");
  WriteOptions options;
  options.threads = 1;
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
  const int nameless = ::open(folder.path.c_str(), O_TMPFILE | O_WRONLY, 0666);
  if (nameless >= 0) CHECK(folder.files() == 1);  // nothing is left beside it, where the system has such files
  if (nameless >= 0) ::close(nameless);
}

TEST_CASE("a symmetry that the matrix does not have is not written") {
  const Folder folder;
  Matrix A = random_matrix(300, 300, 4, 1, 1);
  WriteOptions options;
  options.symmetry = Symmetry::symmetric;
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
