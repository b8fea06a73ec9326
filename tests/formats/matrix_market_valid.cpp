// Every legal file is read as it says, however it is cut among threads.
#include <doctest/doctest.h>

#include "../files.hpp"
#include "../matrices.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <sstream>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <seidel/formats/matrix_market/matrix_market.hpp>
#include <seidel/formats/matrix_market/scan.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const std::filesystem::path valid_files = SEIDEL_SOURCE_DIR "/tests/formats/valid";

/// rows x columns: row,column=value ...
std::string shown(const Csr<double, std::int64_t>& A) {
  std::string text = std::to_string(A.nrows) + "x" + std::to_string(A.ncols) + ":";
  for (Index row = 0; row < A.nrows; ++row)
    for (std::int64_t k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k) {
      char digits[32];
      text += " " + std::to_string(row + 1) + "," + std::to_string(A.col_idx[k] + 1) + "=" +
              std::string(digits, std::to_chars(digits, digits + 32, A.values[k]).ptr);
    }
  CHECK((A.row_ptr[0] == 0 && A.row_ptr[A.nrows] == A.nnz() && A.col_idx.size() == A.nnz()));
  return text;
}

struct Valid {
  std::string file, matrix;
  bool repair = false;
};
const Valid valid[] = {
    {"awkward_layout.mtx", "3x4: 1,1=1.5 1,3=0 2,2=100 2,4=7 3,1=5 3,4=-0.25"},
    {"byte_order_mark.mtx", "2x2: 1,1=4 2,1=-1"},
    {"symmetric_upper.mtx", "3x3: 1,1=4 1,3=-1 2,2=4 3,1=-1"},
    {"symmetric_mixed.mtx", "3x3: 1,1=4 1,3=-1 2,2=4 2,3=2 3,1=-1 3,2=2"},
    {"both_triangles_that_agree.mtx", "3x3: 1,1=4 1,3=-1 2,2=4 3,1=-1 3,3=nan", true},
    {"skew.mtx", "3x3: 1,2=-5 2,1=5 2,3=7 3,2=-7"},
    {"pattern_symmetric.mtx", "3x3: 1,1=1 1,2=1 2,1=1 2,3=1 3,2=1"},
    {"array_general.mtx", "2x3: 1,1=1 1,2=3 1,3=0 2,1=2 2,2=4 2,3=6"},
    {"array_symmetric.mtx", "3x3: 1,1=1 1,2=2 1,3=3 2,1=2 2,2=4 2,3=5 3,1=3 3,2=5 3,3=6"},
    {"array_skew.mtx", "3x3: 1,2=-2 1,3=-3 2,1=2 2,3=-5 3,1=3 3,2=5"},
    {"array_empty.mtx", "0x3:"},
    {"empty_matrix.mtx", "0x0:"},
    {"no_entries.mtx", "3x2:"},
    {"duplicates.mtx", "2x2: 1,2=1 2,1=7"},  // ((1e100 + 1) - 1e100) + 1, in the order of the file
    {"not_finite.mtx", "2x3: 1,1=nan 1,2=-inf 1,3=inf 2,1=-0 2,2=0"},
    {"fortran_exponents.mtx", "1x6: 1,1=0.001 1,2=-25 1,3=1.5e-103 1,4=1.5e+103 1,5=2 1,6=0"},
    {"unsigned_of_scipy.mtx", "2x2: 1,1=4294967296 1,2=3 2,1=3"},
    {"one_by_one.mtx", "1x1: 1,1=123456789.01234567"},
    {"gzip_of_two_members.mtx", "2x2: 1,1=3 2,2=4"},
    {"plain_text_called.mtx.gz", "2x2: 2,1=3"},
};

}  // namespace

TEST_CASE("every legal file is read as it says") {
  for (const auto& one : valid) {
    const std::string &file = one.file, &matrix = one.matrix;
    const bool repair = one.repair;
    CAPTURE(file);
    const ReadOptions options{.repair = repair};
    const auto read = read_matrix_market((valid_files / file).string(), options);
    CHECK(shown(read.matrix) == matrix);
    CHECK(read.report.nnz == read.matrix.nnz());
  }
}

TEST_CASE("options as large as numbers are set no limit") {
  for (const auto& one : valid) {
    const std::string path = (valid_files / one.file).string();
    CAPTURE(path);
    ReadOptions options{.repair = one.repair};
    options.chunk_bytes = options.memory_limit = INT64_MAX;
    CHECK(shown(read_matrix_market(path, options).matrix) == one.matrix);
  }
}

TEST_CASE("a file may be of any year") {
  const Folder folder;
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  for (const std::int64_t seconds : {-10'000'000'000L, -1L, 10'000'000'000L}) {  // 1653, 1969, 2286
    const timespec time{seconds, 999'999'999}, times[] = {time, time};
    REQUIRE(utimensat(AT_FDCWD, (folder / "A.mtx").c_str(), times, 0) == 0);
    CHECK(shown(read_matrix_market(folder / "A.mtx").matrix) == "1x1: 1,1=2");
  }
}

TEST_CASE("the bare scan takes numbers of any length") {
  const Folder folder;
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate pattern general\n1 1 1\n1 " + std::string(99, '9'));
  CHECK(scan_matrix_market(folder / "A.mtx").entries == 1);
}

TEST_CASE("the cuts among threads never change a result") {
  for (const auto& one : valid) {
    const std::string &file = one.file, &matrix = one.matrix;
    const bool repair = one.repair;
    CAPTURE(file);
    const std::string text = read_file(valid_files / file);
    if (text.substr(0, 2) == "\x1f\x8b") continue;  // compressed
    // Behind comments the quick functions see the entries, which the careful ones have near the end of a text.
    for (const std::string& padded :
         {text, text + "\n% a comment that is longer than the fence\n\n% and one more of them\n"})
      for (int threads : {1, 2, 3, 7})
        for (std::int64_t chunk = 1; chunk <= std::int64_t(padded.size()); ++chunk) {
          if (threads > 1 && chunk > 4 && chunk % 16 != threads) continue;  // time: cuts are the same for all threads
          const ReadOptions options{.repair = repair, .threads = threads, .chunk_bytes = chunk};
          const std::string got = shown(parse_matrix_market(padded, file, options).matrix);
          if (got != matrix) {
            CAPTURE(chunk);
            CAPTURE(threads);
            CHECK(got == matrix);
          }
        }
  }
}

TEST_CASE("what is not taken as it stands is counted and said") {
  const auto report = [](const char* file) { return read_matrix_market((valid_files / file).string()).report; };
  const auto odd = report("not_finite.mtx");
  CHECK(odd.nonfinite == 3);
  CHECK(odd.first_nonfinite == (valid_files / "not_finite.mtx").string() + ":3:5");
  CHECK(odd.explicit_zeros == 2);
  const auto twice = report("duplicates.mtx");
  CHECK(twice.duplicates == 4);
  CHECK(twice.entries == 6);
  CHECK(twice.nnz == 2);
  CHECK(twice.repairs.size() == 1);
  const auto awkward = report("awkward_layout.mtx");
  CHECK(awkward.explicit_zeros == 1);
  CHECK(awkward.repairs.empty());
  CHECK(awkward.file_bytes == awkward.text_bytes);
  CHECK(name(report("skew.mtx").symmetry) == "skew-symmetric");
}

TEST_CASE("a number too small for a double is told from a zero, and a subnormal one is read as it is") {
  const std::vector<std::string> small = {"1e-400", "-2.4e-324", "0.0003d-400", "1-400", "+00.1E-99999999", "2e-324"};
  const std::vector<std::string> zeros = {"0", "-0.0", "0e-400", ".0", "+0d5", "0-400"};
  const std::string padding = "% a comment that keeps the quick parser from the end of the text\n";
  const auto read = [&](const std::string& head, const std::string& before, const std::string& after) {
    std::string text = head;
    for (const auto& words : {small, zeros})
      for (const std::string& word : words) text += before + word + after + "\n";
    return parse_matrix_market(text + padding + padding, "text", {.complex = ReadOptions::Complex::as_real_form})
        .report;
  };
  for (const ReadReport& report : {read("%%MatrixMarket matrix coordinate real general\n1 1 12\n", " 1 1 ", " "),
                                   read("%%MatrixMarket matrix array real general\n4 3\n", "  ", " "),
                                   read("%%MatrixMarket matrix coordinate complex general\n1 1 12\n", "1 1 0 ", ""),
                                   read("%%MatrixMarket matrix array complex general\n3 4\n", "", " 0")}) {
    CHECK(report.underflows == 6);
    CHECK(report.explicit_zeros == 6);
    CHECK(std::ranges::count(report.repairs, "6 entries are nonzero, but too small for double precision: taken as 0") ==
          1);
  }
  std::mt19937_64 random(fresh_seed());
  for (int k = 0; k < 1000; ++k) {
    const double value = std::bit_cast<double>(random() >> (12 + random() % 52));
    for (const char* form : {"%.17g", "%.20e", "%.1100f", "%.3e"}) {
      char word[1200];
      std::snprintf(word, sizeof word, form, value);
      const auto file = parse_matrix_market(
          "%%MatrixMarket matrix array real general\n1 1\n" + std::string(word) + "\n" + padding, "text");
      CHECK(file.matrix.values[0] == std::strtod(word, nullptr));
      CHECK(file.report.underflows + file.report.explicit_zeros == (file.matrix.values[0] == 0));
    }
  }
}

TEST_CASE("vectors are read from one column, in either layout") {
  const Folder folder;
  const auto vector_of = [&](const std::string& text) {
    write_file(folder / "x.mtx", text);
    const auto x = read_vector(folder / "x.mtx");
    return std::vector<double>(x.begin(), x.end());
  };
  CHECK(vector_of("%%MatrixMarket matrix array real general\n3 1\n1\n2\n-3\n") == std::vector<double>{1, 2, -3});
  CHECK(vector_of("%%MatrixMarket matrix coordinate real general\n3 1 2\n3 1 4\n1 1 5\n") ==
        std::vector<double>{5, 0, 4});
  CHECK(vector_of("%%MatrixMarket matrix array real general\n0 1\n") == std::vector<double>{});
  CHECK_THROWS_AS(vector_of("%%MatrixMarket matrix array real general\n1 3\n1\n2\n-3\n"), InputError);
}

TEST_CASE("standard input is read from a pipe and from a file") {
  const std::string path = (valid_files / "symmetric_upper.mtx").string(), text = read_file(path);
  const int saved = dup(0);
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  REQUIRE(write(ends[1], text.data(), text.size()) == ssize_t(text.size()));
  close(ends[1]);
  dup2(ends[0], 0);
  close(ends[0]);
  const auto piped = read_matrix_market("-");
  const int file = open(path.c_str(), O_RDONLY);
  dup2(file, 0);
  close(file);
  const auto redirected = read_matrix_market("-");
  dup2(saved, 0);
  close(saved);
  CHECK(shown(piped.matrix) == "3x3: 1,1=4 1,3=-1 2,2=4 3,1=-1");
  CHECK(shown(redirected.matrix) == shown(piped.matrix));
  CHECK(piped.report.file == "(standard input)");
}

namespace {

/// Reads each matrix that CG.tsv in `matrices` lists, and compares sizes and entries.
void check_listed(const std::filesystem::path& matrices) {
  std::ifstream list(matrices / "CG.tsv");
  std::string line;
  int read = 0;
  for (std::getline(list, line); std::getline(list, line);) {
    std::istringstream words(line);
    std::string name, field;
    std::int64_t nrows, ncols, stored, nnz;
    words >> name >> nrows >> ncols >> stored >> nnz >> field;
    CAPTURE(name);
    const std::string path = (matrices / (name + ".mtx.gz")).string();
    if (field == "complex") {
      CHECK_THROWS_AS(read_matrix_market(path), InputError);
      continue;
    }
    const auto report = read_matrix_market(path).report;
    CHECK(report.nrows == nrows);
    CHECK(report.ncols == ncols);
    CHECK(report.entries == stored);
    CHECK(report.nnz == nnz);
    ++read;
  }
  CHECK(read > 0);
}

}  // namespace

TEST_CASE("the matrices in data/ have the entries that their list says") { check_listed(SEIDEL_SOURCE_DIR "/data"); }

TEST_CASE("the matrices in SEIDEL_TEST_MATRICES have the entries that their list says" *
          doctest::skip(!std::getenv("SEIDEL_TEST_MATRICES"))) {
  check_listed(std::getenv("SEIDEL_TEST_MATRICES"));
}
