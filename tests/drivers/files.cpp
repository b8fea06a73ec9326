// Files in and out: each defect named by its place, each file whole or not there.
#include "../skipped.hpp"
#include "process.hpp"

#include <sys/stat.h>
#include <zlib.h>

#include <filesystem>

#include <seidel/formats/runtime/memory.hpp>

using namespace seidel::tests;

namespace {

const std::string small = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 2\n1 2 -1\n";

}  // namespace

TEST_CASE("bad input exits 3 and names file, line and column, found and expected") {
  Folder folder;
  write_file(folder / "outside.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 3 1\n");
  write_file(folder / "few.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 2 1\n");
  write_file(folder / "text.mtx", "hello\n");
  write_file(folder / "wide.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 2\n1 1 2\n2 3 1\n");
  write_file(folder / "nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 nan\n");
  write_file(folder / "zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 1 1\n");
  write_file(folder / "pairs.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1\n2 2\n");
  write_file(folder / "huge.mtx",
             "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 1 1e308\n2 2 1e308\n");
  write_file(folder / "small.mtx", small);
  write_file(folder / "b3.mtx", "%%MatrixMarket matrix array real general\n3 1\n1\n2\n3\n");
  write_file(folder / "binf.mtx", "%%MatrixMarket matrix array real general\n2 1\n1\ninf\n");
  write_file(folder / "three.txt", "1\n2\n3\n");
  write_file(folder / "word.txt", "# b\n1\n x\n");
  write_file(folder / "nan.txt", "1 nan\n");
  write_file(folder / "comma.txt", "1,2\n");
  write_file(folder / "empty.txt", "");
  write_file(folder / "row.mtx", "%%MatrixMarket matrix array real general\n1 2\n1\n2\n");
  check_refused(3, {{{"solve", folder / "outside.mtx"}, {"outside.mtx:4:3"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "three.txt"},
                     {"three.txt", "found 3 entries", "expected 2", "small.mtx"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "word.txt"}, {"word.txt:3:2", "'x'", "number"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "nan.txt"}, {"nan.txt:1:3", "'nan'", "finite"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "comma.txt"},
                     {"comma.txt:1:1", "found '1,2', expected %%MatrixMarket or a number", "plain numbers"}},
                    {{"solve", folder / "small.mtx", "--x0", folder / "empty.txt"},
                     {"found an empty file, expected %%MatrixMarket or a number"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "row.mtx"},
                     {"row.mtx: found 1 row and 2 columns, expected a column of 2 rows", "--transpose"}},
                    {{"info", folder / "outside.mtx"}, {"outside.mtx:4:3"}},
                    {{"info", folder / "pairs.mtx"}, {"pairs.mtx:3:4", "found end of line, expected a real value"}},
                    {{"convert", folder / "few.mtx", "-"}, {"few.mtx:", "found", "expected"}},
                    {{"solve", folder / "text.mtx"}, {"text.mtx:1:1"}},
                    {{"solve", folder / "missing.mtx"}, {"missing.mtx", "No such file", "generator"}},
                    {{"solve", "posson3d:4"}, {"posson3d:4", "did you mean poisson3d:4?"}},
                    {{"solve", folder.path()}, {"folder"}},
                    {{"solve", folder / "wide.mtx"}, {"2 rows and 3 columns"}},
                    {{"solve", folder / "nan.mtx"}, {"nan.mtx:4:5", "NaN"}},
                    {{"solve", folder / "zero.mtx", "--precond", "symgs"}, {"row 2", "diagonal", "--precond none"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "b3.mtx"},
                     {"b3.mtx", "3 entries", "expected 2", "small.mtx"}},
                    {{"solve", folder / "small.mtx", "--x0", folder / "b3.mtx"}, {"b3.mtx", "3 entries", "expected 2"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "binf.mtx"}, {"binf.mtx:4", "found 1 entry"}},
                    {{"solve", folder / "huge.mtx"}, {"huge.mtx", "row 2 whose sum overflows", "--rhs"}},
                    {{"solve", folder / "small.mtx", "--rhs", folder / "none.mtx"}, {"none.mtx", "No such file"}}});
}

TEST_CASE("a complex system is solved in its real form, which the refusal names") {
  Folder folder;
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0 2\n");  // 2i x = 4
  write_file(folder / "A2.mtx", "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 0 2\n2 2 1 0\n");
  write_file(folder / "b.mtx", "%%MatrixMarket matrix array complex general\n2 1\n4 0\n3 5\n");
  const Run refused = seidel_program({"solve", folder / "A2.mtx"});
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "seidel convert " + (folder / "A2.mtx") + " REAL.mtx --real-form"));
  const Run info = succeeded({"info", folder / "A2.mtx"});
  CHECK(contains(info.out, "4 x 4"));
  CHECK(contains(info.out, "--real-form"));
  for (const auto& [name, said] :
       {std::pair("A2", "real matrix [Re A, -Im A; Im A, Re A]"), {"b", "real vector [Re b; Im b]"}})
    CHECK(contains(succeeded({"convert", folder / (name + std::string(".mtx")), folder / (name + std::string("r.mtx")),
                              "--real-form"})
                       .err,
                   said));
  const Run run = succeeded({"solve", folder / "A2r.mtx", "--rhs", folder / "br.mtx", "--out", "-", "--quiet"});
  CHECK(contains(run.out, "4 1\n0\n3\n-2\n5\n"));  // x = (-2i, 3 + 5i)
  CHECK(seidel_program({"convert", folder / "A.mtx", "-"}).exit_code == 3);
  CHECK(seidel_program({"convert", folder / "A2r.mtx", "-", "--real-form"}).exit_code == 3);
}

TEST_CASE("info, convert and validate take NaN, and the first two say so") {
  Folder folder;
  write_file(folder / "nan.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 2 nan\n");
  const Run info = succeeded({"info", folder / "nan.mtx"});
  CHECK(contains(info.out, "NaN"));
  const Run convert = succeeded({"convert", folder / "nan.mtx", "-"});
  CHECK(contains(convert.err, "NaN"));
  succeeded({"validate", folder / "nan.mtx"});
  CHECK(contains(convert.out, "%%MatrixMarket"));
}

TEST_CASE("a matrix may come from standard input") {
  const Run run = succeeded({"solve", "-"}, {.text = small});
  CHECK(contains(run.out, "2 x 2"));
  CHECK(contains(run.out, "standard input"));
}

TEST_CASE("a file is replaced only when the new one is whole, and nothing is left beside it") {
  Folder folder;
  write_file(folder / "x.mtx", "old");
  write_file(folder / "bad.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n");
  CHECK(seidel_program({"solve", folder / "bad.mtx", "--out", folder / "x.mtx"}).exit_code == 3);
  CHECK(read_file(folder / "x.mtx") == "old");
  succeeded(
      {"solve", "poisson2d:4", "--out", folder / "x.mtx", "--history", folder / "h.csv", "--json", folder / "r.json"});
  CHECK(contains(read_file(folder / "x.mtx"), "16 1"));
  CHECK(folder.names().size() == 4);
}

TEST_CASE("whatever is written under a name that ends in .gz is gzip") {
  Folder folder;
  succeeded({"solve", "poisson2d:4", "--out", folder / "x.mtx.gz", "--history", folder / "h.csv.gz", "--json",
             folder / "r.json.gz", "--html", folder / "r.html.gz"});
  for (const auto& [name, text] : {std::pair{"x.mtx.gz", "16 1"},
                                   {"h.csv.gz", "iteration,relative_residual"},
                                   {"r.json.gz", "seidel.solve/1"},
                                   {"r.html.gz", "<!DOCTYPE html>"}}) {
    CAPTURE(name);
    CHECK(read_file(folder / name).starts_with("\x1f\x8b"));
    gzFile file = gzopen((folder / name).c_str(), "rb");
    std::string found(1 << 20, '\0');
    found.resize(std::size_t(std::max(0, gzread(file, found.data(), unsigned(found.size())))));
    gzclose(file);
    CHECK(contains(found, text));
  }
}

TEST_CASE("two results in one file are refused however it is spelled, before anything is computed") {
  Folder folder;
  const std::string x = folder / "x.mtx", again = folder / "./x.mtx";
  for (const std::string& other : {again, x})
    CHECK(seidel_program({"solve", "poisson2d:4", "--out", x, "--history", other}).exit_code == 2);
  CHECK(seidel_program({"generate", "elasticity3d:2", "--out", x, "--coordinates", again}).exit_code == 2);
  // A relative name and an absolute one, of a file that does not exist.
  const std::string relative = std::filesystem::relative(x).string();
  CHECK(seidel_program({"solve", "poisson2d:4", "--out", relative, "--json", x}).exit_code == 2);
  CHECK(seidel_program({"solve", "poisson2d:4", "--out", "x-of-no-folder.mtx", "--json", "./x-of-no-folder.mtx"})
            .exit_code == 2);
  CHECK(folder.names().empty());
}

TEST_CASE("no report takes the place of a matrix that is read") {
  Folder folder;
  write_file(folder / "A.mtx", small);
  const std::string A = folder / "A.mtx";
  check_refused(2, {{{"validate", A, "--json", A}, {"MATRIX", "--json", "one file"}},
                    {{"validate", "poisson2d:4", A, "--html", A}, {"MATRIX", "--html", "one file"}},
                    {{"bench", "solve", A, "--json", A}, {"MATRIX", "--json", "one file"}},
                    {{"bench", "spmv", A, "--csv", A}, {"MATRIX", "--csv", "one file"}},
                    {{"bench", "read", A, "--json", A}, {"FILE", "--json", "one file"}}});
  CHECK(read_file(A) == small);
}

TEST_CASE("an integer that double rounds is told of") {
  Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate integer general\n2 2 2\n";
  write_file(folder / "A.mtx", banner + "1 1 9007199254740993\n2 2 -12345678901234567890123\n");
  CHECK(contains(seidel_program({"info", folder / "A.mtx"}).out, "2 integers are 2^53 or larger"));
  write_file(folder / "A.mtx", banner + "1 1 9007199254740991\n2 2 -1234567890123456\n");
  CHECK(!contains(seidel_program({"info", folder / "A.mtx"}).out, "2^53"));
}

TEST_CASE("a matrix that memory cannot hold exits 4 before it is made, and says what it would need") {
  if (seidel::available_bytes(seidel::Host{}) > 250'000'000'000) {
    skipped("it would fit into the memory of this machine");
    return;
  }
  const Run run = seidel_program({"solve", "poisson3d:1200", "--method", "gmres", "--backend", "openmp"});
  CHECK(run.exit_code == 4);
  CHECK(run.seconds < 1);
  for (const char* part : {"the matrix", "vectors of gmres", "--set restart=20"}) CHECK(contains(run.err, part));
}

TEST_CASE("what `ulimit -v` leaves is what there is: solve refuses more, and takes what fits") {
  constexpr std::int64_t step = 20'000'000, most = 2'000'000'000, left = 230'000'000;
  std::int64_t limit = step;  // what the program needs to start, more with the libraries of MPI and of several GPUs
  while (limit < most && seidel_program({"--version"}, {.memory = limit}).exit_code != 0) limit += step;
  if (limit >= most) return skipped("this program (with a sanitizer?) does not start in so little address space");
  limit += left;
  const auto with = [&](const Words& more) {
    return seidel_program(Words{"solve", "poisson3d:64", "--backend", "serial", "--max-iterations", "1"} + more,
                          {.memory = limit});
  };
  const Run fits = with({"--precond", "symgs"}), not_ = with({"--method", "gmres", "--set", "restart=200"});
  CHECK(fits.exit_code == 1);
  CHECK(not_.exit_code == 4);
  for (const char* part : {"are needed", "vectors of gmres", "less with --set restart=20"})
    CHECK(contains(not_.err, part));

  const Run convert = seidel_program(
      {"convert", "-", "-", "--transpose", "--threads", "1"},
      {.text = "%%MatrixMarket matrix coordinate real general\n20000000 20000000 1\n1 1 1\n", .memory = limit});
  CHECK(convert.exit_code == 4);
  CHECK(contains(convert.err, "--transpose: 160 MB of memory are needed"));

  const Run info = seidel_program(
      {"info", "-", "--threads", "1"},
      {.text = "%%MatrixMarket matrix coordinate real general\n40000000 40000000 1\n1 1 1\n", .memory = limit});
  CHECK(info.exit_code == 4);
  CHECK(contains(info.err, "a matrix of 40,000,000 rows and 1 nonzero: 480 MB of memory are needed"));
}

TEST_CASE("a reader that has seen enough ends the program without a word") {
  const Run run = seidel_program({"convert", "poisson2d:200", "-"}, {.enough = 100});
  CHECK(run.exit_code == 128 + 13);  // SIGPIPE, as for any filter
  CHECK(run.err.empty());
}

TEST_CASE("a full disk exits 4, names the file and leaves none") {
  check_refused(4, {{{"solve", "poisson2d:4", "--quiet", "--history", "/dev/full"}, {"/dev/full"}}});
}

TEST_CASE(
    "an x that --out cannot take is not lost: it goes to a temporary file, the report says where, and the exit is 4") {
  const Folder folder;
  const auto with = [&](const std::string& out, const Words& more = {}) {
    return seidel_program(Words{"solve", "poisson2d:9", "--history", "/dev/full", "--out", out} + more,
                          {.environment = "TMPDIR=" + folder.path()});
  };
  const Run run = with("/dev/full", {"--json", folder / "report.json"});
  CHECK(run.exit_code == 4);
  CHECK(contains(run.out, "solved: ||b - Ax||"));
  const std::size_t begin = run.err.find("x was written to "), end = run.err.find(" instead");
  REQUIRE(end != std::string::npos);
  const std::string file = run.err.substr(begin + 17, end - begin - 17);
  CHECK(file.starts_with(folder.path()));
  CHECK(contains(run.out, "x to " + file));
  CHECK(contains(read_file(folder / "report.json"), "seidel.error/1"));
  CHECK(with(folder / "x.mtx").exit_code == 4);  // of the history
  CHECK(read_file(file) == read_file(folder / "x.mtx"));
}

TEST_CASE("generate, convert and convert back give the same bytes; .gz is told by its name") {
  Folder folder;
  for (const char* spec : {"poisson2d:7x5", "random:40x30:200", "convdiff:6"}) {
    CAPTURE(spec);
    succeeded({"generate", spec, "-o", folder / "a.mtx", "--quiet"});
    succeeded({"convert", folder / "a.mtx", folder / "t.mtx.gz", "--transpose", "--quiet"});
    succeeded({"convert", folder / "t.mtx.gz", folder / "b.mtx", "--transpose", "--quiet"});
    const Run direct = succeeded({"convert", folder / "a.mtx", "-"});
    CHECK(direct.out == read_file(folder / "b.mtx"));
    CHECK(read_file(folder / "t.mtx.gz").substr(0, 2) == "\x1f\x8b");
  }
}

TEST_CASE("generate writes one triangle of a symmetric matrix, as convert does") {
  Folder folder;
  for (const char* spec : {"poisson2d:7x5", "spd:30:4", "elasticity3d:3", "convdiff:6"}) {
    CAPTURE(spec);
    succeeded({"generate", spec, "-o", folder / "a.mtx", "--quiet"});
    const std::string written = read_file(folder / "a.mtx"), comment = "% seidel generate";
    const auto at = written.find(comment);
    REQUIRE(at != std::string::npos);
    const std::string clean = written.substr(0, at) + written.substr(written.find('\n', at) + 1);
    CHECK(clean == succeeded({"convert", folder / "a.mtx", "-"}).out);
    CHECK(contains(clean, std::string(spec) == "convdiff:6" ? " general\n" : " symmetric\n"));
  }
}

TEST_CASE("the same seed generates the same file, another seed another") {
  const auto text = [](const char* seed) {
    return seidel_program({"generate", "random:50x50:300", "-o", "-", "--seed", seed}).out;
  };
  const auto entries = [](const std::string& text) { return text.substr(text.find("50 50")); };
  CHECK(text("5") == text("5"));
  CHECK(entries(text("5")) != entries(text("6")));
}

TEST_CASE("an array has all entries, column by column") {
  const Run run = succeeded({"convert", "-", "-", "--format", "array"}, {.text = small});
  const std::string array = "%%MatrixMarket matrix array real general\n2 2\n2\n0\n-1\n2\n";
  CHECK(run.out == array);
  const Folder folder;
  write_file(folder / "A.mtx", small);
  succeeded({"convert", folder / "A.mtx", folder / "B.mtx.gz", "--format", "array", "--quiet"});
  CHECK(read_file(folder / "B.mtx.gz").starts_with("\x1f\x8b"));
  CHECK(succeeded({"convert", folder / "B.mtx.gz", "-", "--format", "array", "--quiet"}).out == array);
  const std::string none = "%%MatrixMarket matrix array real general\n2 0\n";
  CHECK(succeeded({"convert", "-", "-", "--format", "array"}, {.text = none}).out == none);
}

TEST_CASE("bench read tells the entries and the sizes of a gzip file") {
  const Folder folder;
  succeeded({"generate", "poisson2d:9", "-o", folder / "A.mtx.gz", "--quiet"});
  const Run run = succeeded({"bench", "read", folder / "A.mtx.gz", "--repetitions", "1", "--json", "-"});
  CHECK(contains(run.out, "\"entries\": 225,"));  // one triangle
  CHECK(contains(run.err, " of text, "));
  check_refused(3, {{{"bench", "read", folder / "none.mtx"}, {"none.mtx: No such file", "a Matrix Market file"}}});
}

TEST_CASE("convert takes what is symmetric by its values but not by the places that it stores") {
  const std::string text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 4\n1 2 0\n";
  const Run run = succeeded({"convert", "-", "-"}, {.text = text});
  CHECK(run.out == text);
}

TEST_CASE("--repair takes both triangles of a symmetric file, and reports it") {
  const std::string both = "%%MatrixMarket matrix coordinate real symmetric\n2 2 4\n1 1 2\n2 1 -1\n1 2 -1\n2 2 2\n";
  const Run refused = seidel_program({"solve", "-"}, {.text = both});
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "--repair of solve"));
  const Run run = succeeded({"solve", "-", "--repair"}, {.text = both});
  CHECK(contains(run.out, "triangle"));
}
