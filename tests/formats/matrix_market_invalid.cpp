// Each malformed file has one fault and bears its name; its first defect is reported alike, however it is read.
#include <doctest/doctest.h>

#include "../backends.hpp"
#include "../files.hpp"

#include <filesystem>
#include <set>

#include <seidel/formats/matrix_market/matrix_market.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const std::filesystem::path invalid_files = SEIDEL_SOURCE_DIR "/tests/formats/invalid";

struct Invalid {
  std::string file, message;  // what follows `file:` in the first line
};
const Invalid invalid[] = {
    {"array_beyond_the_file.mtx",
     "2:1: found 4000000000000000000 entries promised, expected at most 1, since 2 bytes follow"},
    {"banner_not_first.mtx", "1:1: found '%', expected %%MatrixMarket"},
    {"banner_too_long.mtx", "1:47: found 'please', expected end of line"},
    {"banner_with_one_percent.mtx", "1:1: found '%MatrixMarket', expected %%MatrixMarket"},
    {"both_triangles_in_skew.mtx",
     "4:1: found entry (3, 1) as well as its mirror image (1, 3) of line 3, expected one of the two in a file that "
     "says skew-symmetric"},
    {"both_triangles_in_symmetric.mtx",
     "6:1: found entry (1, 3) as well as its mirror image (3, 1) of line 4, expected one of the two in a file that "
     "says symmetric"},
    {"byte_order_mark_alone.mtx", "1:4: found an empty file, expected %%MatrixMarket"},
    {"carriage_return_inside.mtx", "3:3: found '1\\x0d1', expected a column (a whole number from 1)"},
    {"carriage_returns_only.mtx",
     "1:39: found 'general\\x0d1', expected the symmetry: one of general, symmetric, skew-symmetric"},
    {"column_beyond.mtx", "4:3: found '4', expected a column in 1..3"},
    {"column_beyond_in_gzip.mtx", "3:3: found '4', expected a column in 1..3"},
    {"column_missing.mtx", "4:6: found end of line, expected a column"},
    {"column_zero.mtx", "3:3: found '0', expected a column in 1..3"},
    {"columns_overflow_64_bits.mtx",
     "2:3: found '99999999999999999999', expected the number of columns, at most 2147483647"},
    {"comment_behind_an_entry.mtx", "3:7: found '%', expected end of line"},
    {"compressed_by_bzip2.mtx", "1:1: found a file compressed by bzip2, expected %%MatrixMarket"},
    {"diagonal_in_skew.mtx", "4:1: found the diagonal entry (3, 3), expected entries off the diagonal"},
    {"duplicates_overflow.mtx",
     "7:1: found entry (3, 1) again, as in line 5, with a sum beyond the largest double, expected a magnitude of at "
     "most "
     "1.7976931348623157e308"},
    {"duplicates_overflow_in_gzip.mtx.gz",
     "5:1: found entry (2, 1) again, as in line 4, with a sum beyond the largest double, expected a magnitude of at "
     "most "
     "1.7976931348623157e308"},
    {"duplicates_overflow_in_symmetric.mtx",
     "5:1: found entry (1, 3) again, as in line 3, with a sum beyond the largest double, expected a magnitude of at "
     "most "
     "1.7976931348623157e308"},
    {"empty.mtx", "1:1: found an empty file, expected %%MatrixMarket"},
    {"entries_beyond_the_file.mtx", "2:11: found 1000000 entries promised, expected at most 1, since 6 bytes follow"},
    {"entries_overflow_64_bits.mtx",
     "2:5: found '9223372036854775808', expected the number of entries, at most 9223372036854775807"},
    {"entry_in_an_empty_matrix.mtx", "3:1: found '1', expected no entry"},
    {"exponent_overflows.mtx",
     "4:5: found '1e99999999999999999999', expected a magnitude of at most 1.7976931348623157e308"},
    {"exponent_without_digits.mtx", "3:5: found '1e+', expected a real value"},
    {"field_complex.mtx", "1:34: found 'Complex', expected real, integer or pattern"},
    {"field_unknown.mtx", "1:34: found 'float', expected the field: one of real, integer, pattern"},
    {"gzip_cut_short.mtx.gz", " byte 66: found the end of the file, expected a whole gzip stream"},
    {"gzip_followed_by_text.mtx.gz",
     " byte 78: found other bytes after the end of the stream, expected a whole gzip stream"},
    {"gzip_wrong_checksum.mtx.gz",
     " byte 74: found bytes that do not inflate (incorrect data check), expected a whole gzip stream"},
    {"hermitian_real.mtx", "1:39: found 'hermitian', expected general, symmetric or skew-symmetric"},
    {"index_is_a_word.mtx", "3:3: found 'one', expected a column"},
    {"index_negative.mtx", "3:3: found '-1', expected a column (a whole number from 1)"},
    {"index_not_whole.mtx", "3:1: found '1.0', expected a row (a whole number from 1)"},
    {"index_overflows_32_bits.mtx", "3:3: found '4294967297', expected a column in 1..3"},
    {"index_overflows_64_bits.mtx", "3:1: found '18446744073709551617', expected a row in 1..3"},
    {"integer_with_a_point.mtx", "3:5: found '1.0', expected an integer value"},
    {"layout_missing.mtx", "1:22: found end of line, expected the layout: one of coordinate, array"},
    {"layout_unknown.mtx", "1:23: found 'sparse', expected the layout: one of coordinate, array"},
    {"nan_among_integers.mtx", "3:5: found 'nan', expected an integer value"},
    {"no_banner.mtx", "1:1: found '3', expected %%MatrixMarket"},
    {"no_size_line.mtx", "4:1: found end of file, expected the size line"},
    {"null_byte.mtx", "3:5: found '1\\x00', expected a real value"},
    {"object_vector.mtx", "1:16: found 'vector', expected matrix"},
    {"one_entry_missing.mtx", "3:12: found end of file after 1 entry, expected 2 entries"},
    {"one_entry_too_many.mtx", "4:1: found entry 2, expected end of file after 1 entry"},
    {"one_entry_without_room.mtx", "2:5: found 1 entry promised, expected at most 0, since 1 byte follows"},
    {"pattern_array.mtx", "1:37: found 'general', expected values (real or integer)"},
    {"pattern_skew.mtx", "1:42: found 'skew-symmetric', expected general or symmetric"},
    {"row_beyond.mtx", "4:1: found '4', expected a row in 1..3"},
    {"row_zero.mtx", "3:1: found '0', expected a row in 1..3"},
    {"rows_overflow_an_index.mtx", "2:1: found '2147483648', expected the number of rows, at most 2147483647"},
    {"size_line_array_long.mtx", "2:5: found '1', expected end of line"},
    {"size_line_long.mtx", "2:7: found '1', expected end of line"},
    {"size_line_short.mtx", "2:4: found end of line, expected the number of entries"},
    {"size_negative.mtx", "2:3: found '-3', expected the number of columns"},
    {"size_not_whole.mtx", "2:3: found '3.0', expected the number of columns"},
    {"skew_array_not_square.mtx", "2:3: found '1', expected as many columns as rows (2)"},
    {"symmetric_not_square.mtx", "2:3: found '4', expected as many columns as rows (3)"},
    {"symmetry_missing.mtx",
     "1:38: found end of line, expected the symmetry: one of general, symmetric, skew-symmetric"},
    {"symmetry_unknown.mtx", "1:39: found 'sym', expected the symmetry: one of general, symmetric, skew-symmetric"},
    {"tar_archive.mtx.gz", "1:1: found a tar archive, expected %%MatrixMarket"},
    {"too_few_array_entries.mtx", "6:1: found end of file after 3 entries, expected 4 entries"},
    {"too_few_entries.mtx", "6:1: found end of file after 2 entries, expected 3 entries"},
    {"too_few_without_last_newline.mtx", "4:18: found end of file after 2 entries, expected 3 entries"},
    {"too_many_array_entries.mtx", "5:1: found entry 3, expected end of file after 2 entries"},
    {"too_many_entries.mtx", "6:3: found entry 3, expected end of file after 2 entries"},
    {"two_array_values_in_a_line.mtx", "3:3: found '2', expected end of line"},
    {"two_faults_of_which_the_first_counts.mtx", "4:3: found '9', expected a column in 1..3"},
    {"two_values.mtx", "3:7: found '2', expected end of line"},
    {"upper_triangle_in_array.mtx", "6:1: found entry 4, expected end of file after 3 entries"},
    {"utf16_big_endian.mtx", "1:1: found text in UTF-16, expected %%MatrixMarket"},
    {"utf16_little_endian.mtx", "1:1: found text in UTF-16, expected %%MatrixMarket"},
    {"value_in_a_pattern.mtx", "3:5: found '1', expected end of line"},
    {"value_in_hexadecimal.mtx", "3:5: found '0x1p3', expected a real value"},
    {"value_is_a_word.mtx", "3:5: found 'x', expected a real value"},
    {"value_missing.mtx", "4:4: found end of line, expected a real value"},
    {"value_overflows.mtx", "3:5: found '1e309', expected a magnitude of at most 1.7976931348623157e308"},
    {"value_with_a_comma.mtx", "3:5: found '1,5', expected a real value"},
    {"value_with_two_points.mtx", "3:5: found '1.2.3', expected a real value"},
    {"value_with_two_signs.mtx", "3:5: found '+-1', expected a real value"},
    {"value_without_digits.mtx", "3:5: found '.', expected a real value"},
    {"word_after_the_entries.mtx", "5:1: found 'end', expected end of file after 2 entries"},
};

std::string error_of(const std::string& path, const ReadOptions& options) {
  return refusal<InputError>([&] { read_matrix_market(path, options); });
}

}  // namespace

TEST_CASE("every malformed file is refused with its place, what was found and what was expected") {
  std::set<std::string> tested;
  for (const auto& one : invalid) {
    const std::string &file = one.file, &message = one.message;
    CAPTURE(file);
    const std::string path = (invalid_files / file).string(), error = error_of(path, {});
    const std::size_t line_end = error.find('\n');
    CHECK(error.substr(0, line_end) == path + ":" + message);
    REQUIRE(line_end != error.npos);  // the remedy
    CHECK(error.substr(line_end).size() > 10);
    tested.insert(file);
  }
  for (const auto& entry : std::filesystem::directory_iterator(invalid_files))
    CHECK(tested.count(entry.path().filename().string()) == 1);
}

TEST_CASE("the first defect of a file is the one reported, whatever the threads and chunks") {
  for (const auto& one : invalid) {
    const std::string& file = one.file;
    CAPTURE(file);
    const std::string path = (invalid_files / file).string(), expected = error_of(path, {});
    const std::int64_t size = std::int64_t(std::filesystem::file_size(path));
    for (int threads : {1, 2, 3, 7})
      for (std::int64_t chunk = 1; chunk <= size; ++chunk) {
        if (threads > 1 && chunk > 4 && chunk % 16 != threads) continue;  // time: cuts are the same for all threads
        const ReadOptions options{.threads = threads, .chunk_bytes = chunk};
        const std::string error = error_of(path, options);
        if (error != expected) {
          CAPTURE(chunk);
          CAPTURE(threads);
          CHECK(error == expected);
        }
      }
  }
}

TEST_CASE("quick functions, which are kept from the end of a text, let no defect pass") {
  for (const auto& one : invalid) {
    const std::string &file = one.file, &message = one.message;
    CAPTURE(file);
    const std::string text = read_file(invalid_files / file);
    if (text.substr(0, 2) == "\x1f\x8b" || message.find("end of file") < message.find("expected") ||
        message.find(", since ") != message.npos || message.find("empty file") != message.npos)
      continue;
    const std::string padding = text.back() == '\n' ? "" : "\n";
    CHECK_THROWS_WITH_AS(
        parse_matrix_market(text + padding + "% a comment that is longer than the fence\n\n% and one more\n", "text"),
        doctest::Contains(("text:" + message + "\n").c_str()), InputError);
  }
}

TEST_CASE("the first of two far defects is reported by every number of threads") {
  const int n = 20000;
  const auto text_with = [&](int first, const std::string& one, int second, const std::string& other) {
    std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(n) + " " + std::to_string(n) +
                       " " + std::to_string(n) + "\n";
    for (int k = 1; k <= n; ++k)
      text += k == first ? one : k == second ? other : std::to_string(k) + " " + std::to_string(n - k + 1) + " 0.5\n";
    return text;
  };
  const std::pair<const char*, const char*> defects[] = {
      {"1 1 x\n", "a real value"}, {"1 20001 1\n", "a column in"}, {"0 1 1\n", "a row in"}, {"1\n", "a column"}};
  for (const auto& [one, expected] : defects)
    for (const auto& [other, unexpected] : defects)
      for (int threads : {1, 2, 3, 7}) {
        const ReadOptions options{.threads = threads, .chunk_bytes = 4096};
        const std::string message =
            refusal<InputError>([&] { parse_matrix_market(text_with(9000, one, 9001, other), "text", options); });
        CHECK(message.find("text:9002:") == 0);
        CHECK(message.find(std::string("expected ") + expected) != message.npos);
      }
}

TEST_CASE("pairs in both triangles are repaired only if they agree") {
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n3 3 4\n";
  const ReadOptions repair{.repair = true};
  const auto file = parse_matrix_market(banner + "2 1 5\n1 1 1\n1 2 5\n2 3 7\n", "text", repair);
  CHECK(file.matrix.nnz() == 5);
  CHECK(file.report.mirrored == 1);
  CHECK(file.report.duplicates == 0);
  CHECK(file.report.repairs == std::vector<std::string>{"1 pair was listed in both triangles, with the same values: "
                                                        "each is taken once"});
  CHECK_THROWS_WITH_AS(
      parse_matrix_market(banner + "2 1 5\n3 3 9\n1 2 6\n1 1 1\n", "text", repair),
      doctest::Contains("text:5:1: found entry (1, 2) that disagrees with (2, 1) of line 3, expected the same value"),
      InputError);
}

TEST_CASE("a comma gets the remedy for commas") {
  for (const char* line : {"1,1,1", "1 1 1,5"}) {
    CAPTURE(line);
    CHECK_THROWS_WITH_AS(
        parse_matrix_market(std::string("%%MatrixMarket matrix coordinate real general\n1 1 1\n") + line + "\n",
                            "text"),
        doctest::Contains("numbers have a point before their fraction, and blanks between them"), InputError);
  }
}

TEST_CASE("a file of another program gets its name and a remedy") {
  const std::string boeing =
      "A title of 72 characters\n             5             1             1             3             0\n";
  const auto refused = [](const std::string& text) {
    const Folder folder;
    write_file(folder / "A.mtx", text + std::string(100, ' ') + "\n");
    return error_of(folder / "A.mtx", {});
  };
  for (const char* type : {"RUA", "rsa", "PSE"})
    CHECK(contains(refused(boeing + type + "                        2             2             3             0\n"),
                   "1:1: found a Harwell-Boeing or Rutherford-Boeing file, expected %%MatrixMarket"));
  CHECK(contains(refused("MATLAB 7.3 MAT-file, Platform: GLNXA64"), "found a file of MATLAB"));
  CHECK(contains(refused("\x89HDF\r\n\x1a\n"), "found a file of HDF5"));
  CHECK(contains(refused("\x93NUMPY"), "found an array of NumPy"));
  CHECK(contains(refused(std::string("\0\x12\x7b\x50", 4)), "found a matrix of PETSc"));
  CHECK(contains(refused("PK\x03\x04"), "scipy.sparse.load_npz"));
  CHECK(contains(refused("version https://git-lfs.github.com/spec/v1\noid sha256:4d7a"), "git lfs pull"));
  for (const char* page : {"<!DOCTYPE html>", "<!doctype html>", "<html>"})
    CHECK(contains(refused(page), "found a web page"));
  CHECK(contains(refused("1 1 4\n2 2 3\n"), "need two lines above them"));
  for (const std::string text : {"a\nb\nRUA", "a\nb\n", "a\n", "a"})  // too short to be one
    CHECK(!contains(refused(text), "Boeing"));
}

TEST_CASE("sizes that memory cannot hold are refused before anything is taken") {
  const ReadOptions options{.memory_limit = 1 << 20};
  const std::string banner = "%%MatrixMarket matrix coordinate real general\n";
  CHECK_THROWS_AS(parse_matrix_market(banner + "2147483647 1 0\n", "text", options), ResourceError);
  CHECK_THROWS_AS(parse_matrix_market("%%MatrixMarket matrix array real general\n2147483647 0\n", "text", options),
                  ResourceError);
  CHECK(parse_matrix_market(banner + "1 2147483647 1\n1 2147483647 3\n", "text", options).matrix.nnz() == 1);
}

TEST_CASE("a file that is not there, or not a file, is an input error") {
  CHECK_THROWS_WITH_AS(read_matrix_market("no/such/file.mtx"), doctest::Contains("No such file"), InputError);
  CHECK_THROWS_AS(read_matrix_market("/"), InputError);
}
