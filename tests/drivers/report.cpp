// info and validate as a reader sees them.
#include "process.hpp"

#include <algorithm>
#include <sstream>

using namespace seidel::tests;

TEST_CASE("info tells what the entries prove, and shows where they are") {
  const Run run = succeeded({"info", "poisson2d:30"}, {.environment = "LC_ALL=C"});
  for (const char* part : {"900 x 900", "symmetric, exactly", "900 positive", "30 below the diagonal, 30 above", "CSR",
                           "ELL", "SELL-32", "next:   seidel solve"}) {
    CAPTURE(part);
    CHECK(contains(run.out, part));
  }
  CHECK(contains(run.out, "+----"));  // without UTF-8 the picture is plain
  CHECK(std::all_of(run.out.begin(), run.out.end(), [](unsigned char c) { return c < 128; }));
}

TEST_CASE("info makes the preconditioner that it is asked for, and shows its levels as solve does") {
  const std::vector<std::string> columns = {"level", "rows", "nonzeros", "per row", "memory", "largest eigenvalue"};
  for (const std::vector<std::string>& words : {std::vector<std::string>{"info", "poisson3d:20", "--precond", "amg"},
                                                {"solve", "poisson3d:20", "--precond", "amg", "--verbose"}}) {
    const std::string out = seidel_program(words).out;
    CAPTURE(out);
    for (const std::string& column : columns) CHECK(contains(out, column));
    CHECK(contains(out, "0  8,000  "));
    CHECK(contains(out, "(operator complexity)"));
    CHECK(contains(out, "(grid complexity)"));
    CHECK(contains(out, ", made in "));
  }
  CHECK(!contains(seidel_program({"info", "poisson3d:20"}).out, "complexity"));
  CHECK(contains(seidel_program({"info", "poisson3d:9", "--precond", "gmg"}).out, "lattice of 9 x 9 x 9 points"));
  CHECK(contains(seidel_program({"info", "poisson3d:9", "--precond", "jacobi"}).out, "preconditioner   jacobi"));
  CHECK(contains(seidel_program({"info", "poisson3d:9", "--precond", "amg", "--set", "amg.coarsening=lattice"}).out,
                 "lattice of 9 x 9 x 9 points"));
  CHECK(contains(seidel_program({"info", "poisson3d:20", "--precond", "amg", "--backend", "serial"}).out,
                 " on 1 thread"));
  check_refused(
      2, {{{"info", "poisson3d:9", "--set", "amg.strength=0.5"}, {"--set amg.strength=0.5", "--precond"}},
          {{"info", "poisson3d:9", "--precond", "amg", "--set", "atol=1"}, {"--set atol=1", "expected a detail"}},
          {{"info", "poisson3d:9", "--precond", "amg", "--set", "omega=1"}, {"amg has no such detail"}},
          {{"info", "poisson3d:9", "--precond", "gmg", "--set", "ilut.fill=3"}, {"gmg has no such detail"}}});
  const Run wrong = seidel_program({"info", "random:30x30:90", "--precond", "amg"});
  CHECK(wrong.exit_code == 3);
  CHECK(contains(wrong.err, "symmetric"));
}

TEST_CASE("info says that empty rows make a matrix singular, symmetric or not") {
  CHECK(contains(seidel_program({"info", "emptyrows:9"}).out, "singular: it has empty rows"));
}

TEST_CASE("info says where solve would take factors instead of the method that it names") {
  for (const char* matrix : {"random:60x60:900", "poisson2d:1x30"}) {
    CAPTURE(matrix);
    CHECK(contains(seidel_program({"info", matrix}).out, "or direct"));
    CHECK(contains(seidel_program({"solve", matrix}).out, "direct, because"));
  }
  for (const char* matrix : {"poisson2d:30", "convdiff:30", "emptyrows:9"}) {
    CAPTURE(matrix);
    CHECK(!contains(seidel_program({"info", matrix}).out, "or direct"));
    CHECK(!contains(seidel_program({"solve", matrix}).out, "method           direct"));
  }
}

TEST_CASE("info names the file whose rows a preconditioner cannot use") {
  const Folder folder;
  write_file(folder / "zero.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 2\n2 1 1\n");
  check_refused(3, {{{"info", folder / "zero.mtx", "--precond", "jacobi"}, {"zero.mtx: row 2", "diagonal"}},
                    {{"info", "random:3x5:9", "--precond", "jacobi"}, {"random:3x5:9: ", "3 x 5"}}});
}

TEST_CASE("info takes every shape") {
  for (const char* matrix :
       {"poisson2d:1", "random:3x50:20", "random:50x3:20", "emptyrows:9", "denserow:100", "densecolumn:100"}) {
    CAPTURE(matrix);
    const Run run = succeeded({"info", matrix});
    CHECK(run.err.empty());
    CHECK(contains(run.out, "bandwidth"));
  }
  for (const char* size : {"0 0 0", "0 5 0", "5 0 0", "3 3 0"}) {
    CAPTURE(size);
    const Run run = succeeded({"info", "-"},
                              {.text = std::string("%%MatrixMarket matrix coordinate real general\n") + size + "\n"});
    CHECK(!contains(run.out, "\n\n\n"));
  }
}

TEST_CASE("a line of a report is no wider than a page") {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"solve", "poisson2d:20"}, {"info", "poisson2d:20"}}) {
    std::istringstream lines(seidel_program(words, {.environment = "LC_ALL=C"}).out);
    for (std::string line; std::getline(lines, line);) {
      CAPTURE(line);
      CHECK(line.size() <= 100);
    }
  }
}

TEST_CASE("validate finds no wrong cell on matrices of awkward shapes") {
  for (const char* matrix : {"poisson2d:1", "random:70x65:900", "densecolumn:200", "emptyrows:50"}) {
    CAPTURE(matrix);
    const Run run = succeeded({"validate", matrix});
    CHECK(contains(run.out, "validated:"));
    CHECK(!contains(run.out, "WRONG"));
  }
}

TEST_CASE("an empty system is solved at once") {
  const Run run = succeeded({"solve", "-"}, {.text = "%%MatrixMarket matrix coordinate real general\n0 0 0\n"});
}
