// A packed file is read as its text would be, defects too, however it is cut into members, blocks and threads.
#include <doctest/doctest.h>

#include "../files.hpp"

#include <zlib.h>

#include <cstring>
#include <filesystem>

#include "matrix_market.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

struct File {
  Folder folder;
  std::string path = folder / "A.mtx";
  void write(const std::string& bytes) const { write_file(path, bytes); }
};

std::string member(const std::string& text) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = uInt(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = uInt(packed.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}
/// In three members, the second of which is empty.
std::string members(const std::string& text) {
  const std::size_t cut = text.size() / 3;
  return member(text.substr(0, cut)) + member("") + member(text.substr(cut));
}

/// The matrix and what is reported, or the error.
struct Outcome {
  std::string said;
  Csr<double, std::int64_t> matrix;
};
Outcome outcome_of(const File& file, int threads, std::int64_t chunk_bytes) {
  const ReadOptions options{.threads = threads, .chunk_bytes = chunk_bytes};
  try {
    MatrixFile read = read_matrix_market(file.path, options);
    const ReadReport& r = read.report;
    return {std::to_string(r.nnz) + " " + std::to_string(r.entries) + " " + std::to_string(r.explicit_zeros) + " " +
                std::to_string(r.duplicates) + " " + std::to_string(r.nonfinite) + " " + r.first_nonfinite + " " +
                std::to_string(r.text_bytes),
            std::move(read.matrix)};
  } catch (const InputError& error) {
    return {error.what(), {}};
  }
}

/// Whether this text is read alike from gzip; what is said of it.
std::string check_packed(const File& file, const std::string& text) {
  file.write(text);
  const Outcome plain = outcome_of(file, 1, 1 << 20);
  for (const std::string& packed : {member(text), members(text)}) {
    file.write(packed);
    for (const int threads : {1, 2, 3, 7})
      for (const std::int64_t chunk : {1, 1000, 1 << 20}) {
        CAPTURE(threads);
        CAPTURE(chunk);
        const Outcome got = outcome_of(file, threads, chunk);
        CHECK(got.said == plain.said);
        CHECK(same_bits(got.matrix.row_ptr, plain.matrix.row_ptr));
        CHECK(same_bits(got.matrix.col_idx, plain.matrix.col_idx));
        CHECK(same_bits(got.matrix.values, plain.matrix.values));
      }
  }
  return plain.said;
}

constexpr int n = 3000;

std::string header(const std::string& kind, int entries) {
  return "%%MatrixMarket matrix coordinate real " + kind + "\n" + std::to_string(n) + " " + std::to_string(n) + " " +
         std::to_string(entries) + "\n";
}
/// Three entries per column of the lower triangle, from the diagonal down; by rows for the upper triangle of a general
/// matrix if `swapped`. Every 500th row is empty.
std::string lines(bool swapped) {
  std::string text;
  for (int j = 1; j + 2000 <= n; ++j)
    for (int k = 0; k < 3 && j % 500 != 0; ++k) {
      const std::string i = std::to_string(j + 1000 * k), column = std::to_string(j);
      text += (swapped ? column + " " + i : i + " " + column) + " " + std::to_string(j * 0.37 - k) + "\n";
    }
  return text;
}
/// The same triangle by rows.
std::string lines_by_rows() {
  std::string text;
  for (int i = 1; i <= n; ++i)
    for (int k = 2; k >= 0; --k)
      if (const int j = i - 1000 * k; j >= 1 && j + 2000 <= n && j % 500 != 0)
        text += std::to_string(i) + " " + std::to_string(j) + " " + std::to_string(j * 0.37 - k) + "\n";
  return text;
}
constexpr int nlines = 3 * 998;

}  // namespace

TEST_CASE("what the plain corpus says is what it says when packed") {
  const File file;
  for (const char* folder : {"valid", "invalid"})
    for (const auto& entry :
         std::filesystem::directory_iterator(std::filesystem::path(SEIDEL_SOURCE_DIR "/tests/formats") / folder)) {
      CAPTURE(entry.path());
      const std::string text = read_file(entry.path());
      if (text.substr(0, 2) != "\x1f\x8b") check_packed(file, text);
    }
}

TEST_CASE("a packed file is parsed in blocks as if it were whole") {
  const File file;
  const std::string general = header("general", nlines) + lines(true), last = "2999 2999 1\n";
  check_packed(file, general);
  const std::string symmetric = check_packed(file, header("symmetric", nlines) + lines(false));
  CHECK(check_packed(file, header("symmetric", nlines) + lines_by_rows()) == symmetric);
  check_packed(file, header("skew-symmetric", 2) + "2 1 4\n3 2 4.5\n");
  check_packed(file, general.substr(0, general.size() - 1));  // no last line end
  check_packed(file, general + "% a comment\n\n");
  check_packed(file, header("general", nlines + 1) + lines(true) + "2999 2999 nan\n");
  check_packed(file, header("general", nlines + 1) + lines(true) + "1 1 4\n");             // out of order, twice
  check_packed(file, header("general", nlines + 2) + lines(true) + last + last);           // twice
  check_packed(file, header("symmetric", nlines + 1) + lines(false) + "1 1 4\n");          // out of order, twice
  check_packed(file, header("general", nlines + 1) + "% comment\n" + lines(true) + last);  // not a line an entry
  check_packed(file, header("general", 1) + std::string(70000, ' ') + "1 1 4\n");          // longer than a block
}

TEST_CASE("a defect in the last line of a packed file is reported with its place") {
  const File file;
  const auto said = [&](const std::string& kind, const std::string& last) {
    return check_packed(file, header(kind, nlines + 1) + lines(kind == "general") + last);
  };
  const std::string place = file.path + ":" + std::to_string(nlines + 3) + ":";
  for (const char* kind : {"general", "symmetric"}) {
    CHECK(said(kind, "2999 2999 x\n").find(place + "11: found 'x', expected a real value") == 0);
    CHECK(said(kind, "2999 3001 1\n").find(place + "6: found '3001', expected a column in 1..3000") == 0);
    CHECK(said(kind, "2999 2999 1\n2999 2999 1").find("found entry " + std::to_string(nlines + 2)) !=
          std::string::npos);
    CHECK(said(kind, "").find("found end of file after " + std::to_string(nlines) + " entries") != std::string::npos);
  }
}

TEST_CASE("a gzip stream that is cut short or damaged is refused, wherever it is") {
  const File file;
  const std::string packed = members(header("general", nlines) + lines(true));
  for (const std::size_t size : {packed.size() - 1, packed.size() - 8, packed.size() / 2, packed.size() / 3}) {
    file.write(packed.substr(0, size));
    for (const int threads : {1, 2, 3, 7})
      CHECK(outcome_of(file, threads, 1000)
                .said.find(file.path + ": byte " + std::to_string(size + 1) +
                           ": found the end of the file, expected a whole gzip stream") == 0);
  }
  std::string damaged = packed;
  damaged[damaged.size() - 8] ^= 1;  // of the checksum
  file.write(damaged);
  for (const int threads : {1, 2, 3, 7})
    CHECK(outcome_of(file, threads, 1000).said.find("bytes that do not inflate") != std::string::npos);
  file.write(packed + std::string(512, '\0'));  // padding
  CHECK(outcome_of(file, 2, 1000).said.find(std::to_string(nlines)) == 0);
}

TEST_CASE("a packed file in order is inflated once, and parsed meanwhile") {
  const File file;
  const auto inflated_once = [&](const std::string& text) {
    const std::string packed = member(text);
    file.write(packed);
    bool once = true;  // progress then counts packed bytes only
    const ReadOptions options{
        .progress = [&](std::int64_t, std::int64_t total) { once = once && total == std::int64_t(packed.size()); },
        .chunk_bytes = 1000};
    read_matrix_market(file.path, options);
    return once;
  };
  CHECK(inflated_once(header("general", nlines) + lines(true)));
  CHECK(inflated_once(header("symmetric", nlines) + lines(false)));
  CHECK(inflated_once(header("symmetric", nlines) + lines_by_rows()));
  CHECK(!inflated_once(header("general", nlines) + lines(false)));
}
