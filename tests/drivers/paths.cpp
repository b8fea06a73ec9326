// Odd but legal names: each does what it says, or is refused in a sentence, and nothing is lost.
#include "process.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <thread>

using namespace seidel::tests;

namespace {

const std::string small = "%%MatrixMarket matrix coordinate real symmetric\n2 2 3\n1 1 2\n2 1 -1\n2 2 2\n";

}  // namespace

TEST_CASE("a name may begin with - and hold spaces, quotes and any letters; a report quotes it so that it works") {
  const Folder folder;
  const auto run = [&](const Words& words) { return succeeded(words, {.folder = folder.path()}); };
  for (const std::string name :
       {"-dash.mtx", "--out", "it's \"this\" one.mtx", "\u00fcn\u00ef \u2713.mtx", "$(x)`y`;&.mtx"}) {
    CAPTURE(name);
    CHECK(contains(run({"generate", "poisson2d:4", "--out=" + name}).out, "info "));
    CHECK(contains(run({"info", "--", name}).out, "16 x 16"));
    const Run solve = run({"solve", "--out", "x", "--verbose", "--", name});
    CHECK(!contains(solve.out, " -- "));
    run({"convert", "--quiet", "--", name, "-copy " + name});
    CHECK(read_file(folder / ("-copy " + name)).size() > 100);
    CHECK(contains(run({"solve", "--x0=x", "--out=" + name + ".x", "--", name}).out, "solved"));
  }
  const Run generate = run({"generate", "poisson2d:4", "-o", "-dash.mtx"});
  CHECK(contains(generate.out, "info ./-dash.mtx"));
}

TEST_CASE("no name, two results in one file and a result in the place of its matrix are refused before any work") {
  const Folder folder;
  write_file(folder / "a.mtx", small);
  REQUIRE(symlink((folder / "a.mtx").c_str(), (folder / "link.mtx").c_str()) == 0);
  const std::string a = folder / "a.mtx", x = folder / "x", link = folder / "link.mtx";
  check_refused(2, {{{"solve", ""}, {"MATRIX", "empty value"}},
                    {{"solve", a, "--out", ""}, {"--out", "empty value"}},
                    {{"convert", a, ""}, {"OUT", "empty value"}},
                    {{"info", a, "--json", ""}, {"--json", "empty value"}},
                    {{"solve", a, "--tol", ""}, {"--tol", "empty value"}},
                    {{"solve", a, "--order", ""}, {"--order", "empty value"}},
                    {{"generate", "poisson2d:3", "-o", a, "--seed", ""}, {"--seed", "empty value"}},
                    {{"bench", "spmv", a, "--threads", ""}, {"--threads", "empty value"}},
                    {{"solve", a, "--out", x, "--history", x}, {"--out and --history", "one file"}},
                    {{"solve", a, "--out", x, "--json", folder / "./x"}, {"--out and --json", "one file"}},
                    {{"solve", a, "--out", a}, {"MATRIX and --out", "one file"}},
                    {{"solve", a, "--out", link}, {"MATRIX and --out", "one file"}},
                    {{"solve", a, "--rhs", x, "--out", x}, {"--rhs and --out", "one file"}},
                    {{"solve", a, "--x0", x, "--history", x}, {"--x0 and --history", "one file"}},
                    {{"solve", "-", "--rhs", "-"}, {"MATRIX - and --rhs -", "standard input"}},
                    {{"solve", a, "--html", "-", "--json", "-"}, {"--html - and --json -", "standard output"}},
                    {{"convert", a, "-", "--json", "-"}, {"OUT - and --json -", "standard output"}},
                    {{"info", a, "--json", a}, {"MATRIX and --json", "one file"}},
                    {{"convert", a, x, "--json", a}, {"IN and --json", "one file"}},
                    {{"bench", "spmv", "poisson2d:4", "--csv", x, "--html", x}, {"--csv and --html", "one file"}}});
  CHECK(read_file(a) == small);
  CHECK(folder.names().size() == 2);
}

TEST_CASE("solve may write x in the place of the x that it begins with") {
  const Folder folder;
  const std::string x = folder / "x.mtx";
  succeeded({"solve", "poisson2d:4", "--out", x});
  succeeded({"solve", "poisson2d:4", "--x0", x, "--out", x});
}

TEST_CASE("convert may replace its input, through a link as well, and who may read it stays") {
  const Folder folder;
  write_file(folder / "a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n2 2 1\n1 1 1\n");
  REQUIRE(chmod((folder / "a.mtx").c_str(), 0640) == 0);
  REQUIRE(symlink("a.mtx", (folder / "link.mtx").c_str()) == 0);
  succeeded({"convert", folder / "link.mtx", folder / "link.mtx", "--quiet"});
  CHECK(contains(read_file(folder / "a.mtx"), "symmetric\n2 2 2\n1 1 1\n2 2 1\n"));
  struct stat status {};
  REQUIRE(lstat((folder / "link.mtx").c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
  REQUIRE(stat((folder / "a.mtx").c_str(), &status) == 0);
  CHECK((status.st_mode & 0777) == 0640);
}

TEST_CASE("a result behind a link that leads nowhere yet is made there, if its folder exists") {
  const Folder folder;
  const std::string link = folder / "link.mtx", nowhere = folder / "nowhere.mtx";
  REQUIRE(symlink("x.mtx", link.c_str()) == 0);
  REQUIRE(symlink("missing/x.mtx", nowhere.c_str()) == 0);
  succeeded({"solve", "poisson2d:4", "--out", link, "--quiet"});
  struct stat status {};
  REQUIRE(lstat(link.c_str(), &status) == 0);
  CHECK(S_ISLNK(status.st_mode));
  CHECK(read_file(folder / "x.mtx").starts_with("%%MatrixMarket"));
  check_refused(2, {{{"solve", "poisson2d:4", "--out", nowhere}, {"--out", "missing", "does not exist"}}});
}

TEST_CASE("/dev/stdin and /dev/stdout are -, a device takes what it is given, and one that never ends is refused") {
  const Run convert = succeeded({"convert", "/dev/stdin", "/dev/stdout"}, {.text = small});
  CHECK(convert.out == small);
  const Run solve = succeeded({"solve", "-", "--out", "/dev/stdout"}, {.text = small});
  CHECK(solve.out.starts_with("%%MatrixMarket"));
  CHECK(!contains(solve.out, "solved"));
  succeeded({"convert", "poisson2d:4", "/dev/null", "--quiet"});
  const Run zero = seidel_program({"info", "/dev/zero"});
  CHECK(zero.exit_code == 3);
  CHECK(contains(zero.err, "/dev/zero:1:1: found "));
  CHECK(zero.seconds < 20);
}

TEST_CASE("a report for which there is no room exits 4 and says so once, wherever it goes") {
  const Folder folder;
  for (const char* kind : {"--json", "--html"})
    for (const std::string& to : {std::string("/dev/full"), folder / "report"}) {
      const Run run = seidel_program({"validate", "poisson2d:3", kind, to, "--quiet"}, {.file_size = 1024});
      CHECK(run.exit_code == 4);
      CHECK(run.err.starts_with("seidel: " + to + ": could not be written"));
      CHECK(run.err.find(to) == run.err.rfind(to));
    }
  // Standard output takes a block or two of it: what follows is no error document.
  const std::string half = folder / "half", said = folder / "said";
  const std::string limited =
      "ulimit -f 1; exec " SEIDEL_PROGRAM " validate poisson2d:3 --quiet --json - >" + half + " 2>" + said;
  const int status = std::system(limited.c_str());
  CHECK(WEXITSTATUS(status) == 4);
  const std::string text = read_file(said);
  CAPTURE(text);
  CHECK(contains(text, "seidel: (standard output): could not be written after " +
                           std::to_string(read_file(half).size()) + " bytes"));
  CHECK(text.find("seidel: ") == text.rfind("seidel: "));
  CHECK(folder.names().size() == 2);
}

TEST_CASE("a named pipe is read and written like a file, and stays a pipe") {
  const Folder folder;
  const std::string in = folder / "in", out = folder / "out";
  REQUIRE(mkfifo(in.c_str(), 0600) == 0);
  REQUIRE(mkfifo(out.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(in) << small; });
  std::string got;
  std::thread reader([&] { got = read_file(out); });
  const Run run = seidel_program({"convert", in, out, "--quiet"});
  writer.join(), reader.join();
  CHECK(run.exit_code == 0);
  CHECK(got == small);
  struct stat status {};
  REQUIRE(stat(out.c_str(), &status) == 0);
  CHECK(S_ISFIFO(status.st_mode));
}

TEST_CASE("a file beyond ulimit -f exits 4 with a sentence; what stood there stands, and nothing beside it") {
  const Folder folder;
  const auto limited = [&](const Words& words) {
    const Run run = seidel_program(words, {.file_size = 1024});
    CHECK(run.exit_code == 4);
    CHECK(contains(run.err, "File too large"));
    CHECK(contains(run.err, "nothing is left of it"));
  };
  write_file(folder / "old.mtx", small);
  limited({"generate", "poisson2d:40", "-o", folder / "old.mtx"});
  limited({"convert", "poisson2d:40", folder / "old.mtx"});
  limited({"convert", "poisson2d:40", folder / "new.mtx.gz"});
  limited({"solve", "poisson2d:40", "--quiet", "--out", folder / "x.mtx"});
  CHECK(read_file(folder / "old.mtx") == small);
  CHECK(folder.names().size() == 1);
}
