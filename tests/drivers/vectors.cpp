// Vectors in files: every form that --rhs, --x0 and --null-space take, from a file, a pipe or gzip.
#include "process.hpp"

#include <zlib.h>
#include <nlohmann/json.hpp>

#include <cstdlib>

using namespace seidel::tests;
using nlohmann::json;

namespace {

const std::string diagonal = "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 2\n3 3 4\n";

void write_gzip(const std::string& path, const std::string& text) {
  const gzFile file = gzopen(path.c_str(), "wb");
  REQUIRE(gzwrite(file, text.data(), unsigned(text.size())) == int(text.size()));
  REQUIRE(gzclose(file) == Z_OK);
}

/// What follows the banner of x.
std::string solution(const std::string& A, const std::string& rhs, const Input& input = {}) {
  const Run run = succeeded({"solve", A, "--rhs", rhs, "--out", "-", "--quiet"}, input);
  return run.out.substr(std::min(run.out.size(), run.out.find('\n') + 1));
}

}  // namespace

TEST_CASE("plain numbers are read alike from a file, gzip and standard input") {
  Folder folder;
  const std::string A = folder / "A.mtx";
  write_file(A, diagonal);
  const std::string expected = "3 1\n1\n1\n0.5\n";
  const std::string bom = "\xef\xbb\xbf";
  for (const std::string& text :
       {std::string("1\n2\n2\n"), std::string("1 2 2"), std::string("# b\n\n1.0D+00\n+2.d0\n  2\r\n"),
        std::string("1\r2\r2\r"), bom + "1\n2\n2 # the last\n", std::string("% b\n1\n2 % 1\n2\n")}) {
    CAPTURE(text);
    write_file(folder / "b.txt", text);
    write_gzip(folder / "b.txt.gz", text);
    CHECK(solution(A, folder / "b.txt") == expected);
    CHECK(solution(A, folder / "b.txt.gz") == expected);
    CHECK(solution(A, "-", {.text = text}) == expected);
  }
  write_file(folder / "small.txt", "1e-400 2 2\n");  // as in a Matrix Market file
  CHECK(solution(A, folder / "small.txt") == "3 1\n0\n1\n0.5\n");
}

TEST_CASE("a long plain column comes through a pipe as a whole") {
  std::string text;
  for (int i = 0; i < 90000; ++i) text += std::to_string(i % 1000) + ".25\n";
  const Run run = succeeded({"solve", "poisson2d:300", "--rhs", "-", "--quiet"}, {.text = text});
}

TEST_CASE("lines of k plain numbers are k right-hand sides") {
  Folder folder;
  const std::string A = folder / "A.mtx";
  write_file(A, diagonal);
  write_file(folder / "B.txt", "1 2\n2 -2\n# no line of its own\n4 8\n");
  CHECK(solution(A, folder / "B.txt") == "3 2\n1\n1\n1\n2\n-1\n2\n");
  write_file(folder / "ragged.txt", "1 2\n2\n4 8\n");
  write_file(folder / "short.txt", "1 2\n2 2\n");
  write_file(folder / "large.txt", "1\n1e400\n2\n");
  check_refused(3, {{{"solve", A, "--rhs", folder / "ragged.txt"}, {"found 5 entries", "expected 3"}},
                    {{"solve", A, "--rhs", folder / "short.txt"}, {"found 2 lines of 2 numbers", "expected 3"}},
                    {{"solve", A, "--rhs", folder / "large.txt"}, {"large.txt:2:1", "'1e400'", "finite"}},
                    {{"solve", A, "--x0", folder / "B.txt"}, {"3 x 2", "expected a vector"}},
                    {{"solve", A, "--x0", "none"}, {"--x0 none: ", "expected a Matrix Market file, or one of plain"}},
                    {{"solve", A, "--rhs", "poisson2d:3"}, {"--rhs poisson2d:3: ", "generators make no vectors"}},
                    {{"solve", A, "--null-space", "none"}, {"--null-space none: ", "expected constant, a Matrix"}}});
}

TEST_CASE("what a file of b says twice is told, and bytes that are no text are shown") {
  Folder folder;
  write_file(folder / "A.mtx", diagonal);
  write_file(folder / "b.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 3\n1 1 3\n1 1 5\n2 1 1e-500\n");
  const Run run = succeeded({"solve", folder / "A.mtx", "--rhs", folder / "b.mtx"});
  CHECK(contains(run.err, "b.mtx: 1 entry was listed again: duplicates are added up"));
  CHECK(contains(run.err, "b.mtx: 1 entry is nonzero, but too small for double precision"));
  write_file(folder / "b.txt", std::string("1 2 3\0\n", 7));
  const Run refused = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "b.txt"});
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "b.txt:1:5: found '3\\x00', expected a finite number"));
}

TEST_CASE("duplicates of b whose sum overflows are refused with their place") {
  Folder folder;
  write_file(folder / "A.mtx", diagonal);
  write_file(folder / "b.mtx", "%%MatrixMarket matrix coordinate real general\n3 1 3\n1 1 1\n2 1 1e308\n2 1 1.5e308\n");
  check_refused(3, {{{"solve", folder / "A.mtx", "--rhs", folder / "b.mtx"},
                     {"b.mtx:5:1: found entry (2, 1) again, as in line 4"}}});
}

TEST_CASE("of several right-hand sides each tells its own part in the null space; its file may be a pipe") {
  Folder folder;
  write_file(folder / "A.mtx",  // a ring of 3 points
             "%%MatrixMarket matrix coordinate real symmetric\n3 3 6\n1 1 2\n2 1 -1\n3 1 -1\n2 2 2\n3 2 -1\n3 3 2\n");
  write_file(folder / "B.txt", "1 3 0\n-1 3 0\n0 3 1\n");  // parts: 0, all, 1 of sqrt(3)
  const Run run = succeeded({"solve", folder / "A.mtx", "--rhs", folder / "B.txt", "--null-space", "-", "--json", "-"},
                            {.text = "1\n1\n1\n"});
  const json columns = json::parse(run.out)["columns"];
  CHECK(columns[0]["part_of_b"].get<double>() <= 1e-15);
  CHECK(columns[1]["part_of_b"] == doctest::Approx(1));
  CHECK(columns[2]["part_of_b"] == doctest::Approx(std::sqrt(1.0 / 3)));
  const Run text = seidel_program({"solve", folder / "A.mtx", "--rhs", folder / "B.txt", "--null-space", "constant"});
  CHECK(contains(text.out, "in the null space"));
}
