// seidel solve as a process: what it says, what it exits with, and that the bits are the same everywhere.
#include "../backends.hpp"
#include "solve_json.hpp"

#include <seidel/drivers/report/command_line.hpp>

#include <cmath>
#include <cstdint>
#include <map>
#include <sstream>

#include <seidel/drivers/report/format.hpp>
#include <seidel/solvers/methods.hpp>

using namespace seidel::tests;
using seidel::drivers::formatted;

namespace {

const char* const singular =  // a graph's Laplacian: the constants are its null space
    "%%MatrixMarket matrix coordinate real symmetric\n4 4 8\n1 1 2\n2 2 2\n3 3 2\n4 4 2\n2 1 -1\n3 2 -1\n4 3 -1\n4 1 "
    "-1\n";
const char* const indefinite =
    "%%MatrixMarket matrix coordinate real symmetric\n3 3 5\n1 1 1\n2 2 1\n3 3 1\n2 1 2\n3 2 2\n";

}  // namespace

TEST_CASE("multigrid as a method solves, with amg as its cycle") {
  const Run run = succeeded({"solve", "poisson2d:40", "--method", "multigrid", "--json", "-"});
  CHECK(contains(run.out, "\"method\": \"multigrid\""));
  CHECK(contains(run.out, "\"preconditioner\": \"amg\""));
}

TEST_CASE("where cg with aggregates is slow, as for a plate of varying stiffness, classical coarsening takes over") {
  const Folder folder;
  const int n = 110;  // L D L, L the Laplacian of n x n points
  const auto at = [=](int i, int j) { return i * n + j + 1; };
  std::string entries;
  int count = 0;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      std::map<std::pair<int, int>, double> row;  // of L D L
      const auto around = [&](int i, int j, double by, const auto& then) {
        for (const auto& [di, dj, a] :
             {std::tuple{0, 0, 4.0}, {-1, 0, -1.0}, {1, 0, -1.0}, {0, -1, -1.0}, {0, 1, -1.0}})
          if (i + di >= 0 && i + di < n && j + dj >= 0 && j + dj < n) then(i + di, j + dj, a * by);
      };
      around(i, j, 1, [&](int k, int l, double a) {
        const double stiffness = std::exp2((k * 7919 + l * 104729) % 11 - 5);
        around(k, l, a * stiffness, [&](int p, int q, double b) { row[{p, q}] += b; });
      });
      for (const auto& [to, a] : row)
        if (at(to.first, to.second) <= at(i, j)) {
          entries += formatted("{} {} {}\n", at(i, j), at(to.first, to.second), a);
          ++count;
        }
    }
  write_file(folder / "A.mtx",
             formatted("%%MatrixMarket matrix coordinate real symmetric\n{} {} {}\n", n * n, n * n, count) + entries);
  const auto report = report_of({folder / "A.mtx", "--out", folder / "x.mtx", "--backend", "serial"});
  CHECK(report["converged"] == true);
  CHECK(contains(report["choice"].get<std::string>(),
                 "; classical coarsening, because with aggregates the residual was"));
  REQUIRE(report["attempts"].size() == 2);
  CHECK(report["attempts"][0]["status"] == "stagnated");
  const auto by_aggregates = report_of({folder / "A.mtx", "--method", "cg", "--precond", "amg"});
  CHECK(double(report["iterations"]) < 0.85 * double(by_aggregates["iterations"]));
  CHECK(by_aggregates["attempts"].size() == 1);  // what was asked for by name stays
  succeeded({"solve", folder / "A.mtx", "--out", folder / "y.mtx", "--backend", "openmp", "--threads", "2", "--quiet"});
  CHECK(read_file(folder / "x.mtx") == read_file(folder / "y.mtx"));
}

TEST_CASE("gmg finds the lattice of a file and says so, and names the row that disagrees") {
  const Folder folder;
  const std::string file = folder / "A.mtx";
  succeeded({"generate", "poisson3d:12x10x14", "-o", file});
  const auto with = [&](const std::string& matrix) {
    return seidel_program({"solve", matrix, "--method", "cg", "--precond", "gmg", "--verbose"});
  };
  const Run run = with(file);
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "amg on a lattice of 12 x 10 x 14 points"));
  CHECK(contains(seidel_program({"info", file}).out, "12 x 10 x 14 points"));
  std::string text = read_file(file);  // with one coupling more
  const std::size_t size = text.find("1680 1680 "), end = text.find('\n', size);
  REQUIRE(end != std::string::npos);
  const auto entries = std::stoll(text.substr(size + 10, end - size - 10));
  text.replace(size, end - size, "1680 1680 " + std::to_string(entries + 1));
  const std::string spoilt = folder / "B.mtx";
  write_file(spoilt, text + "700 3 -1e-3\n");
  const Run refused = with(spoilt);
  CHECK(refused.exit_code == 3);
  CHECK(contains(refused.err, "row 3 "));
  CHECK(contains(refused.err, spoilt + ": gmg: found no lattice"));
  CHECK(!contains(seidel_program({"info", spoilt}).out, "12 x 10 x 14"));
}

TEST_CASE("a K cycle takes the flexible form of cg, and bicgstab is refused with it") {
  const auto with = [](const Words& words) {
    return seidel_program(Words{"solve", "poisson2d:40", "--precond", "amg", "--set", "amg.cycle=k", "--json", "-"} +
                          words);
  };
  const Run run = with({});
  CHECK(run.exit_code == 0);
  CHECK(contains(run.out, "\"method\": \"cg\""));
  CHECK(contains(run.out, "\"form\": \"flexible\""));
  CHECK(with({"--method", "gmres", "--verbose"}).exit_code == 0);
  const Run refused = with({"--method", "bicgstab"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "cg or gmres"));
}

TEST_CASE("a solved system exits 0; the report goes to standard output and says so") {
  const Run run = succeeded({"solve", "poisson2d:20"});
  for (const char* part : {"400 x 400", "symmetric", "b = A * ones", "on one core", "cg", "jacobi",
                           "solved:", "next:", "target 1.0e-08"}) {
    CAPTURE(part);
    CHECK(contains(run.out, part));
  }
  CHECK(!contains(run.out, "NOT"));
  CHECK(!contains(run.out, "\033"));  // colours are for terminals
  std::istringstream lines(run.out);
  std::int64_t said = -1;  // beside the title
  for (std::string line; std::getline(lines, line);) said += !line.empty();
  CHECK(said == 9);
  CHECK(run.err.empty());
}

TEST_CASE("sweeps that nobody asked for, and that break the methods down, are left away, and the report says so") {
  std::string entries;  // sweeps multiply what they are given by 3 from row to row
  for (int i = 1; i <= 1001; ++i) {
    const std::string row = std::to_string(i);
    entries += row + ' ' + row + " 1\n";
    if (i < 1001) entries += row + ' ' + std::to_string(i + 1) + " 3\n" + std::to_string(i + 1) + ' ' + row + " -3\n";
  }
  Folder folder;
  write_file(folder / "A.mtx", "%%MatrixMarket matrix coordinate real general\n1001 1001 3001\n" + entries);
  const Run run = succeeded(  // without a limit, factors would come first
      {"solve", folder / "A.mtx", "--max-iterations", "19999", "--json", folder / "report.json"});
  CHECK(contains(run.out, " without preconditioner, residual "));
  const std::string json = read_file(folder / "report.json");
  CHECK(contains(json, "\"method\": \"idr\",\n  \"preconditioner\": \"none\""));
  CHECK(seidel_program({"solve", folder / "A.mtx", "--precond", "symgs"}).exit_code == 1);
}

TEST_CASE("a small residual with a large error is no plain success, and what is proposed gives a good x") {
  const std::string matrix = std::string(SEIDEL_SOURCE_DIR) + "/data/tumorAntiAngiogenesis_2.mtx.gz";
  const Run run = seidel_program({"solve", matrix, "--method", "gmres"});
  CHECK(run.exit_code == 0);  // that is the residual
  CHECK(contains(run.out, "solved to the residual asked for:"));
  CHECK(contains(run.out, "no digit of x can be trusted"));
  CHECK(contains(run.out, "--error-tol 1.0e-03"));
  CHECK(!contains(run.out, "\nsolved:"));
  const Run better = succeeded({"solve", matrix, "--method", "gmres", "--error-tol", "1e-3"});
  CHECK(contains(better.out, "\nsolved:"));
}

TEST_CASE("an x that meets the target is not given up for one that factors refined and that does not") {
  Folder folder;
  constexpr int n = 130;  // its inverse has entries up to 2^128
  std::string entries, b;
  for (int i = 0; i < n; ++i) {
    double sum = std::sin(3.0 * i * i + 1);
    for (int j = i; j < n; ++j) entries += formatted("{} {} {}\n", i + 1, j + 1, i == j ? 1 : -1);
    for (int j = i + 1; j < n; ++j) sum -= std::sin(3.0 * j * j + 1);
    b += formatted("{:.17g}\n", sum);
  }
  write_file(folder / "A.mtx",
             formatted("%%MatrixMarket matrix coordinate real general\n{} {} {}\n", n, n, n * (n + 1) / 2) + entries);
  write_file(folder / "b.txt", b);
  const auto report_of = [&](const Words& more) {
    const auto report = seidel::tests::report_of(Words{folder / "A.mtx", "--rhs", folder / "b.txt"} + more);
    CHECK(report["converged"] == (report["relative_residual"] <= 1e-8));
    if (report["converged"] == true) CHECK(report["verdict"] == "doubtful");
    return report;
  };
  const bool met = report_of({"--method", "gmres"})["converged"];  // by a hair, and not on every machine
  CHECK((report_of({})["converged"] == true || !met));
}

TEST_CASE("an error tolerance that the limit of iterations kept from being met is told as that") {
  Folder folder;
  std::string b;
  for (int i = 0; i < 8000; ++i) b += formatted("{}\n", i * i % 7);
  write_file(folder / "b.txt", b);
  const Run limited = seidel_program({"solve", "poisson3d:20", "--rhs", folder / "b.txt", "--precond", "symgs", "--tol",
                                      "1e-2", "--error-tol", "1e-9", "--max-iterations", "12"});
  CHECK(contains(limited.out, "--max-iterations 120"));
  CHECK(!contains(limited.out, "badly conditioned"));
}

TEST_CASE("a plain column of numbers is a right-hand side") {
  Folder folder;
  write_file(folder / "b.txt", "1\n2\n+3e0\n4\n");
  const Run run = succeeded({"solve", "poisson2d:2", "--rhs", folder / "b.txt"});
  write_file(folder / "b.txt", "1\n2\n3\nfour\n");
  CHECK(seidel_program({"solve", "poisson2d:2", "--rhs", folder / "b.txt"}).exit_code == 3);
}

TEST_CASE("solve notices half of a symmetric matrix, and a matrix whose rows sum to zero") {
  const char* const half = "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n2 1 1\n2 2 2\n";
  CHECK(contains(seidel_program({"solve", "-"}, {.text = half}).out, "half of a symmetric matrix"));
  const Run run = succeeded({"solve", "-"}, {.text = singular});
  CHECK(contains(run.out, "singular: A times a constant is zero"));
  CHECK(contains(run.out, "because A * ones is zero"));
  CHECK(!contains(run.out, "after 0 iterations"));
}

TEST_CASE("--quiet says nothing") {
  const Run run = succeeded({"solve", "poisson2d:20", "--quiet"});
  CHECK(run.out.empty());
  CHECK(run.err.empty());
}

TEST_CASE("x and the residual history have the same bits on every back end and with any number of threads") {
  for (const char* matrix : {"poisson3d:30", "convdiff:60", "elasticity3d:6"}) {
    for (const char* precond : {"jacobi", "symgs"}) {
      CAPTURE(matrix);
      CAPTURE(precond);
      Folder folder;
      std::vector<std::vector<std::string>> places = {{"--backend", "serial"}};
      for (const char* threads : {"1", "2", "3", "7"}) places.push_back({"--backend", "openmp", "--threads", threads});
      if (have_gpu())
        places.push_back({"--backend", "cuda"});
      else
        skipped_cuda();
      std::string x, history;
      for (const auto& place : places) {
        CAPTURE(place);
        succeeded(Words{"solve", matrix, "--precond", precond, "--quiet", "--out", folder / "x.mtx", "--history",
                        folder / "h.csv"} +
                  place);
        if (x.empty()) x = read_file(folder / "x.mtx"), history = read_file(folder / "h.csv");
        CHECK(!x.empty());
        CHECK(read_file(folder / "x.mtx") == x);
        CHECK(read_file(folder / "h.csv") == history);
      }
      CHECK(history.starts_with("iteration,relative_residual\n0,1\n"));
    }
  }
}

TEST_CASE("what is not solved exits 1, is not called solved, and comes with a cause and a command") {
  Folder folder;
  write_file(folder / "singular.mtx", singular);
  write_file(folder / "indefinite.mtx", indefinite);
  write_file(folder / "b.mtx", "%%MatrixMarket matrix array real general\n4 1\n1\n2\n3\n4\n");
  struct Case {
    std::vector<std::string> words;
    std::string said;
  };
  for (const Case& one : std::vector<Case>{
           {{"solve", folder / "singular.mtx", "--rhs", folder / "b.mtx"}, "singular"},
           {{"solve", folder / "indefinite.mtx", "--method", "cg"}, "not positive definite"},
           {{"solve", "poisson2d:50", "--max-iterations", "3"}, "--max-iterations"},
           {{"solve", "poisson2d:50", "--method", "cg", "--tol", "1e-17"}, "NOT solved"},
       }) {
    CAPTURE(one.words);
    const Run run = seidel_program(one.words);
    CHECK(run.exit_code == 1);
    CHECK(contains(run.out, "NOT solved:"));
    CHECK(!contains(run.out, "\nsolved:"));
    CHECK(contains(run.out, one.said));
  }
}

TEST_CASE("an indefinite matrix that cg cannot take is solved by the method after it, and the report says so") {
  Folder folder;
  write_file(folder / "indefinite.mtx", indefinite);
  const Run run = succeeded({"solve", folder / "indefinite.mtx"});
  CHECK(contains(run.out, "solved:"));
}

TEST_CASE("a command to try keeps the options given and replaces the one it changes") {
  const Run run = seidel_program({"solve", "poisson2d:50", "--max-iterations", "3", "--tol", "1e-9"});
  const auto at = run.out.find("try:");
  REQUIRE(at != std::string::npos);
  const std::string line = run.out.substr(at, run.out.find('\n', at) - at);
  CAPTURE(line);
  CHECK(contains(line, "--tol 1e-9"));
  CHECK(line.find("--max-iterations") == line.rfind("--max-iterations"));
  CHECK(!contains(line, "--max-iterations 3 "));
}

TEST_CASE("the next command calls the program as it was called, and quotes what a shell would not take") {
  const Folder folder;
  const Run run = seidel_program({"generate", "poisson2d:3", "-o", folder / "my A.mtx"}, {.called = "../bin/seidel"});
  CHECK(contains(run.out, "next:   ../bin/seidel info '" + (folder / "my A.mtx") + "'\n"));
  const Run info = seidel_program({"info", folder / "my A.mtx"});
  CHECK(contains(info.out, "next:   seidel solve '" + (folder / "my A.mtx") + "'\n"));
  const Run solve = seidel_program({"solve", folder / "my A.mtx", "--tol=1e-9"});
  CHECK(contains(solve.out, "next:   seidel solve '" + (folder / "my A.mtx") +
                                "' --tol=1e-9 --out x.mtx   # your own right-hand side: --rhs b.mtx\n"));
}

TEST_CASE("a changed command keeps names with blanks and quotes, and one --set of each key") {
  using seidel::drivers::command_with;
  CHECK(command_with("seidel solve 'a  b'\\''s.mtx' --x0 'my x.mtx' --quiet", "--x0 y.mtx") ==
        "seidel solve 'a  b'\\''s.mtx' --quiet --x0 y.mtx");
  CHECK(command_with("seidel solve A.mtx --set restart=50 --set=omega=1.2 --tol=1e-9",
                     "--method gmres --set restart=200") ==
        "seidel solve A.mtx --set=omega=1.2 --tol=1e-9 --method gmres --set restart=200");
  // form=eisenstat is refused beside another method than cg, or another preconditioner than symgs
  CHECK(command_with("seidel solve A.mtx --method cg --set form=eisenstat", "--method gmres") ==
        "seidel solve A.mtx --method gmres");
  // what direct, another method or another preconditioner would refuse
  CHECK(command_with("seidel solve A.mtx --precond none --max-iterations 9 --x0 x.mtx --set omega=1.2 --set atol=1",
                     "--method direct") == "seidel solve A.mtx --set atol=1 --method direct");
  CHECK(command_with("seidel solve A.mtx --set restart=9 --order colours --set omega=1.2",
                     "--method bicgstab --precond jacobi") == "seidel solve A.mtx --method bicgstab --precond jacobi");
  CHECK(command_with("seidel solve A.mtx --set omega=1.2", "--method auto --precond auto") ==
        "seidel solve A.mtx --set omega=1.2 --method auto --precond auto");
  CHECK(command_with("seidel solve A.mtx --set form=eisenstat", "--max-iterations 9") ==
        "seidel solve A.mtx --set form=eisenstat --max-iterations 9");
  CHECK(command_with("seidel solve - --tol=1e-9", "--tol 1e-7") == "seidel solve - --tol 1e-7");
}

TEST_CASE("x is never much worse than the first guess") {
  Folder folder;  // all ones, and b not in its range: by colours rounding grew to a residual of 1e21
  std::string A = "%%MatrixMarket matrix array real symmetric\n30 30\n",
              b = "%%MatrixMarket matrix array real general\n30 1\n";
  for (int k = 0; k < 465; ++k) A += "1\n";
  for (int k = 0; k < 30; ++k) b += std::to_string((5 * k * k + k) % 17 - 9) + "\n";
  write_file(folder / "A.mtx", A);
  write_file(folder / "b.mtx", b);
  for (const char* order : {"natural", "colours"}) {
    const Run run = seidel_program(
        {"solve", folder / "A.mtx", "--rhs", folder / "b.mtx", "--precond", "symgs", "--order", order, "--json", "-"});
    CHECK(run.exit_code == 1);
    const std::string key = "\"relative_residual\": ";
    REQUIRE(contains(run.out, key));
    CHECK(std::stod(run.out.substr(run.out.find(key) + key.size())) <= 100);
  }
}

TEST_CASE("Ctrl-C leaves the best x and a report, and exits 1, whatever the method") {
  for (const seidel::Method& method : seidel::methods) {
    CAPTURE(method.name);
    Folder folder;
    const Run run = seidel_program(
        {"solve", "poisson2d:800", "--method", std::string(method.name), "--tol", "1e-15", "--backend", "serial",
         "--verbose", "--out", folder / "x.mtx"},  // serial: a GPU would be done before the signal comes
        {.interrupt_after = 0.01, .interrupt_when = "to solve, "});
    CHECK(run.exit_code == 1);
    CHECK(contains(run.out, "NOT solved:"));
    CHECK(contains(run.out, "interrupted after"));
    CHECK(contains(run.out, "--x0 "));
    CHECK(contains(read_file(folder / "x.mtx"), "640000 1"));
  }
}

TEST_CASE("--x0 at the solution needs no iteration; a zero right-hand side is answered by zero") {
  Folder folder;
  std::string ones = "%%MatrixMarket matrix array real general\n100 1\n", zeros = ones;
  for (int i = 0; i < 100; ++i) ones += "1\n", zeros += "0\n";
  write_file(folder / "ones.mtx", ones);
  write_file(folder / "zeros.mtx", zeros);
  const Run exact = succeeded({"solve", "poisson2d:10", "--x0", folder / "ones.mtx", "--history", "-"});
  CHECK(exact.out == "iteration,relative_residual\n0,0\n");
  CHECK(contains(exact.err, "solved:"));  // standard output is taken
  const Run zero =
      succeeded({"solve", "poisson2d:10", "--rhs", folder / "zeros.mtx", "--out", folder / "x.mtx", "--quiet"});
  CHECK(read_file(folder / "x.mtx").find("1") != std::string::npos);
  std::istringstream x(read_file(folder / "x.mtx"));
  std::string banner, line;
  std::getline(x, banner);
  double sum = 0;
  std::int64_t rows = 0, columns = 0;
  while (x.peek() == '%') std::getline(x, line);
  x >> rows >> columns;
  for (double v; x >> v;) sum += std::abs(v);
  CHECK(rows == 100);
  CHECK(sum == 0);
}

TEST_CASE("a natural order without parallelism is told from one that has some, with what colours would do") {
  const auto report = [](const std::string& matrix, const std::string& backend) {
    return seidel_program({"solve", matrix, "--precond", "symgs", "--order", "natural", "--backend", backend}).out;
  };
  const std::string chain = report("poisson2d:1x3000", "openmp");
  CHECK(contains(chain, "only 1.0 rows per wavefront"));
  CHECK(contains(chain, "depend"));
  CHECK(contains(chain, "seidel solve poisson2d:1x3000 --precond symgs --backend openmp --order colours"));
  CHECK(!contains(report("poisson2d:1x3000", "serial"), "rows per wavefront"));
  CHECK(!contains(report("poisson2d:40", "openmp"), "rows per wavefront"));
}

TEST_CASE("auto takes several threads where the matrix is worth them") {
  const auto backend = [](const std::string& matrix, const std::string& threads) {
    return report_of({matrix, "--threads", threads, "--max-iterations", "1"})["backend"];
  };
  CHECK(backend("poisson3d:40", "2") == "openmp");
  CHECK(backend("poisson3d:40", "1") == "serial");
  CHECK(backend("poisson3d:9", "2") == "serial");
}

TEST_CASE("auto leaves a GPU whose sweeps would go through the rows one by one, with the bits of the GPU") {
  if (!have_gpu()) return skipped("which back end --backend auto takes where a GPU would be slower");
  Folder folder;
  const Words words = {"banded:400000:8", "--precond", "symgs", "--max-iterations", "2", "--out"};
  const auto on_auto = report_of(words + Words{folder / "auto.mtx"});
  CHECK(on_auto["backend"] != "cuda");
  CHECK(contains(on_auto["backend_choice"], "a GPU would be slower"));
  report_of(words + Words{folder / "cuda.mtx", "--backend", "cuda"});
  CHECK(read_file(folder / "auto.mtx") == read_file(folder / "cuda.mtx"));
  CHECK(report_of({"poisson3d:100", "--precond", "symgs", "--max-iterations", "2"})["backend"] == "cuda");
}

TEST_CASE("a diagonal that cannot be divided by is refused with the file and the row") {
  Folder folder;
  const std::string file = folder / "hole.mtx";
  write_file(file, "%%MatrixMarket matrix coordinate real general\n2 2 3\n1 1 2\n1 2 1\n2 1 1\n");
  for (const char* order : {"natural", "colours"}) {
    const Run run = seidel_program({"solve", file, "--precond", "symgs", "--order", order, "--permute", "none"});
    CHECK(run.exit_code == 3);
    CHECK(contains(run.err, file + ": row 2: the diagonal entry is not stored"));
  }
}

TEST_CASE("Eisenstat's form is reported where it is taken, and refused where it cannot be") {
  const Run wide = succeeded({"solve", "elasticity3d:5", "--precond", "symgs"});
  CHECK(contains(wide.out, "cg, in Eisenstat's form: one read of A per iteration"));
  const Run plain = succeeded({"solve", "elasticity3d:5", "--precond", "symgs", "--set", "form=plain"});
  CHECK(!contains(plain.out, "Eisenstat"));
  const Run refused = seidel_program({"solve", "elasticity3d:5", "--order", "colours", "--set", "form=eisenstat"});
  CHECK(refused.exit_code == 2);
  CHECK(contains(refused.err, "natural order"));
}

TEST_CASE("limits of time and of iterations end a solve") {
  for (const seidel::Method& method : seidel::methods) {
    CAPTURE(method.name);
    const Run time = seidel_program({"solve", "poisson2d:500", "--method", std::string(method.name), "--backend",
                                     "serial", "--tol", "1e-15", "--time-limit", "0.01"});
    CHECK(time.exit_code == 1);
    CHECK(time.seconds < 20);
    CHECK(contains(time.out, "the limit of time is reached"));
  }
  for (const Words& preconditioner :
       {Words{"amg"}, {"gmg"}, {"ict"}, {"ilut"}, {"ic0"}, {"ilu0"}, {"symgs", "--order", "colours"}}) {
    CAPTURE(preconditioner[0]);
    const Run setup = seidel_program(
        Words{"solve", "poisson3d:40", "--backend", "serial", "--time-limit", "0.001", "-v", "--precond"} +
        preconditioner);
    CHECK(setup.exit_code == 1);
    CHECK(contains(setup.out, "the limit of time is reached, while the preconditioner was made"));
    CHECK(contains(setup.out, "--time-limit 60"));
    CHECK(contains(setup.out, "unfinished"));
  }
  const Run none = seidel_program({"solve", "poisson2d:10", "--max-iterations", "0"});
  CHECK(none.exit_code == 1);
  CHECK(contains(none.out, "NOT solved:"));
}
