// seidel bench as a process: its lists, files and exit codes.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "solve_json.hpp"

using namespace seidel::tests;
using nlohmann::json;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

/// Cells of one line; the matrices here have no commas.
std::vector<std::string> cells_of(const std::string& line) {
  std::istringstream stream(line);
  std::vector<std::string> cells;
  for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
  return cells;
}

}  // namespace

TEST_CASE("bench KERNEL --list and validate --list print the same registry, and run nothing") {
  const Run all = succeeded({"validate", "--list"});
  const Run bench = succeeded({"bench", "--list"});
  CHECK(bench.out == all.out);
  for (const char* kernel : {"spmv", "spmm", "symgs", "symgs-guess", "transpose", "transpose-values"}) {
    const Run run = succeeded({"bench", kernel, "--list"});
    CHECK(contains(run.out, std::string(kernel) + ".csr.serial"));
    if (std::string(kernel) != "symgs-guess" && std::string(kernel) != "transpose-values")
      CHECK(contains(run.out, std::string(kernel) + ".csr.serial.eigen"));
    CHECK(contains(all.out, std::string(kernel) + ".csr.serial"));
  }
  const Run scan = seidel_program({"bench", "scan", "--list"});
  CHECK(contains(scan.out, "scan.array.serial"));
  CHECK(contains(scan.out, "scan.array.serial.std"));
  for (const char* kernel : {"sort-segments", "merge-segments", "pointers-to-indices", "indices-to-pointers"})
    CHECK(contains(all.out, std::string(kernel) + ".array.openmp"));
  CHECK(seidel_program({"bench", "sort-segments", "2000:1025"}).exit_code ==
        3);  // too long for the shared memory of a block
  const Run some = seidel_program({"validate", "--list", "--only", "spmm.ell.*"});
  CHECK(contains(some.out, "spmm.ell.openmp"));
  CHECK(!contains(some.out, "spmv"));
  const Run several = seidel_program({"bench", "symgs", "--list", "--only", "symgs.csr.openmp,*.eigen"});
  CHECK(contains(several.out, "symgs.csr.openmp"));
  CHECK(contains(several.out, "symgs.csr.serial.eigen"));
  CHECK(!contains(several.out, "symgs.csr.serial "));
}

TEST_CASE("bench writes a row per trial, and says the same in JSON") {
  const Folder folder;
  const json document = reported({"bench", "spmm", "poisson2d:12", "--k", "1,3", "--layout", "row,col", "--threads",
                                  "1,2", "--trials", "2", "--warm", "--only", "*.csr.*", "--csv", folder / "b.csv"},
                                 0);
  const auto lines = lines_of(read_file(folder / "b.csv"));
  CHECK(document["schema"] == "seidel.bench/1");
  const std::size_t measured = document["measurements"].size();
  CHECK(measured >= 2 * 2 * 6);  // k, layouts; ours and Eigen's, serial and with 1 and 2 threads
  CHECK(lines.size() == 1 + 2 * measured);
  const auto header = cells_of(lines.at(0));
  for (const std::string& column :
       cells_of("kernel,matrix,nrows,ncols,nnz,row_mean,row_variance,row_max,padding_indicator,format,rival,backend,"
                "threads,k,trial,seconds,gflop_per_s,gb_per_s,share_of_copy,share_of_roof,speedup_over_serial,"
                "speedup_over_baseline,flushed,verdict,setup_seconds,workspace_bytes"))
    CHECK(std::find(header.begin(), header.end(), column) != header.end());
  for (const auto& m : document["measurements"]) {
    CHECK(m["verdict"] == "right");
    CHECK(m["seconds"].size() == 2);
    CHECK(m["nnz"] == 672);
    CHECK(m["flops"] == 2.0 * 672 * m["k"].get<double>());
    CHECK(m["error_over_bound"].get<double>() <= 1);
  }
}

TEST_CASE("each measurement is cold, and compared with the roof of as many threads; with --warm neither") {
  const Words bench = {"bench", "spmv", "poisson2d:12", "--threads", "1,2", "--trials", "1", "--only", "spmv.csr.*"};
  const json cold = reported(bench, 0), warm = reported(bench + Words{"--warm"}, 0);
  for (const auto& m : cold["measurements"]) {
    CHECK(m["cache"] == "cold");
    const bool on_gpu = m["backend"] == "cuda";
    const auto is_its_own = [&](const json& roof) {
      return on_gpu ? roof["backend"] == "cuda" : roof["backend"] == "host" && roof["threads"] == m["threads"];
    };
    REQUIRE(std::ranges::count_if(cold["roofs"], is_its_own) == 1);
    const json& roof = *std::ranges::find_if(cold["roofs"], is_its_own);
    const double best = std::max(roof["copy_gb_per_s"].get<double>(), roof["triad_gb_per_s"].get<double>());
    CHECK(m["share_of_roof"].get<double>() == doctest::Approx(m["gb_per_s"].get<double>() / best));
  }
  CHECK(warm["roofs"].empty());
  CHECK(warm["measurements"].size() == cold["measurements"].size());
  for (const auto& m : warm["measurements"]) {
    CHECK(m["cache"] == "warm");
    CHECK(!m.contains("share_of_roof"));
  }
}

TEST_CASE("a reason for which several rivals are refused is said once") {
  const Run run = succeeded({"bench", "spmv", "poisson2d:11", "--threads", "1,2", "--trials", "0", "--only", "*bsr*"});
  CHECK(contains(run.out, "spmv.bsr2.serial, spmv.bsr2.openmp"));  // and spmv.bsr2.cuda on a GPU
  const std::size_t first = run.out.find("expected multiples of 2");
  CHECK(first != std::string::npos);
  CHECK(run.out.find("expected multiples of 2", first + 1) == std::string::npos);
}

TEST_CASE("a kernel whose operand is no matrix is measured like any other, and reported without the sizes of one") {
  const Folder folder;
  const Run run = succeeded({"bench", "scan", "1000", "20011", "--threads", "2", "--trials", "2", "--warm", "--csv",
                             folder / "s.csv", "--json", folder / "s.json"});
  CHECK(contains(run.out, "scan of 20011: 20,011 entries"));
  const json document = json::parse(read_file(folder / "s.json"));
  for (const auto& m : document["measurements"]) {
    CHECK(m["kernel"] == "scan");
    CHECK(m["verdict"] == "right");
    CHECK(!m.contains("nnz"));
    CHECK(m["bytes"] == 12.0 * std::stod(m["matrix"].get<std::string>()));
    CHECK(m["flops"] == 0);  // whole numbers
  }
  CHECK(document["measurements"].size() >= 2 * 3);  // serial, openmp and the standard library
  const auto lines = lines_of(read_file(folder / "s.csv"));
  CHECK(lines.size() == 1 + 2 * document["measurements"].size());
  const auto header = cells_of(lines.at(0)), row = cells_of(lines.at(1));
  const auto at = [&](const char* column) { return std::find(header.begin(), header.end(), column) - header.begin(); };
  CHECK(row.at(std::size_t(at("matrix"))) == "1000");
  CHECK(row.at(std::size_t(at("nnz"))).empty());
  CHECK(row.at(std::size_t(at("rival"))) == "scan.array.serial");
}

TEST_CASE("dense products are measured by their three sizes, in FP64 and FP32") {
  for (const char* kernel : {"gemm", "gemm-fp32"}) {
    const Run run =
        succeeded({"bench", kernel, "33x20x47", "0x3x2", "--threads", "2", "--trials", "1", "--warm", "--json", "-"});
    CHECK(contains(run.err, "33 x 47 times 47 x 20"));
    const json document = json::parse(run.out);
    CHECK(document["measurements"].size() >= 2 * 5);  // ours twice, the loops, two with columns
    for (const auto& m : document["measurements"]) CHECK(m["verdict"] == "right");
  }
  for (const char* word : {"33x20", "33x20x", "axbxc", "-1x2x3", "3x3x3x3"})
    check_refused(2, {{{"bench", "gemm", word}, {"expected three whole numbers"}}});
}

TEST_CASE("bench symgs --order shows each order's pair beside the solve that it is for") {
  const json orders =
      reported({"bench", "symgs", "poisson2d:20", "--order", "natural,colours", "--backend", "serial", "--trials", "1"},
               0)["orders"];
  REQUIRE(orders.size() == 2);
  CHECK(orders[0]["order"] == "natural");
  CHECK(orders[1]["order"] == "colours");
  CHECK(orders[1]["wavefronts"] == 2);
  for (const auto& row : orders) {
    CHECK(row["solved"] == true);
    CHECK(row["iterations"].get<int>() > 3);
    CHECK(row["pair_seconds"].get<double>() > 0);
    CHECK(row["share_of_roof"].get<double>() > 0);
    CHECK(row["solution_seconds"].get<double>() >= row["setup_seconds"].get<double>());
  }
}

TEST_CASE("bench symgs-guess --order measures the sweeps in each, without a solve: those begin at zero") {
  const json document = reported({"bench", "symgs-guess", "poisson2d:20", "--order", "natural,colours", "--backend",
                                  "serial", "--trials", "1", "--warm"},
                                 0);
  std::vector<std::string> orders;
  for (const auto& m : document["measurements"]) {
    orders.push_back(m["order"]);
    CHECK(m["verdict"] == "right");
  }
  CHECK(orders == std::vector<std::string>{"natural", "colours"});
  CHECK(!document.contains("orders"));
}

TEST_CASE("bench solve puts Eigen beside ours, all by the same certificate") {
  const Folder folder;
  const Words bench = {"bench", "solve", "poisson2d:20", "--backend", "serial"};
  const json document = reported(bench + Words{"--only", "cg.*", "--csv", folder / "s.csv"}, 0);
  CHECK(document["schema"] == "seidel.bench.solve/1");
  std::vector<std::string> names;
  for (const auto& solve : document["solves"]) {
    names.push_back(solve["contestant"]);
    CHECK(solve["verdict"] == "solved");
    CHECK(solve["true_residual"].get<double>() <= 1e-8);
    CHECK(solve["iterations"].get<int>() > 3);
  }
  for (const char* name :
       {"cg.none.serial", "cg.jacobi.serial", "cg.symgs-natural.serial", "cg.symgs-colours.serial",
        "cg.symgs-eisenstat.serial", "cg.diagonal.serial.eigen", "cg.incomplete-cholesky.serial.eigen"})
    CHECK(std::find(names.begin(), names.end(), name) != names.end());
  CHECK(lines_of(read_file(folder / "s.csv")).size() == 1 + names.size());
  const Run factors = succeeded(bench + Words{"--only", "direct.*"});
  CHECK(contains(factors.out, "direct.serial"));
  CHECK(contains(factors.out, "solved"));
  // Without an answer nobody is right: two iterations are not enough.
  const Run few = succeeded(bench + Words{"--only", "cg.jacobi.*", "--max-iterations", "2"});
  CHECK(contains(few.out, "iteration_limit"));
}

TEST_CASE("what bench measured is printed and written, also where a later matrix cannot be read") {
  const Folder folder;
  for (const std::string kernel : {"spmv", "solve"}) {
    CAPTURE(kernel);
    const std::string file = folder / (kernel + ".csv");
    const Run run = seidel_program(Words{"bench", kernel, "poisson2d:9", folder / "none.mtx", "--backend", "serial",
                                         "--trials", "1", "--csv", file, "--html", folder / (kernel + ".html")} +
                                   (kernel == "spmv" ? Words{"--warm"} : Words{}));
    CHECK(run.exit_code == 3);
    CHECK(contains(run.err, "none.mtx"));
    CHECK(contains(run.out, "poisson2d:9"));
    CHECK(lines_of(read_file(file)).size() > 3);
    CHECK(contains(read_file(folder / (kernel + ".html")), "poisson2d:9"));
  }
}

TEST_CASE("Ctrl-C ends a bench with what it had measured, and exit code 1") {
  const Folder folder;
  // The table goes to standard error, where the test can see that it comes before the end.
  const auto interrupted = [&](const std::string& kernel, const char* when, const Words& more) {
    const Run run = seidel_program(Words{"bench", kernel, "poisson2d:9", "poisson3d:30", "--backend", "serial",
                                         "--trials", "10000", "--csv", "-", "--json", folder / kernel} +
                                       more,
                                   {.interrupt_after = 0.01, .interrupt_when = when});
    CHECK(run.exit_code == 1);
    CHECK(contains(run.err, "interrupted; what was measured before is printed above, and written to standard output"));
    CHECK(contains(run.out, "poisson2d:9"));
    const json document = json::parse(read_file(folder / kernel));
    CHECK(document["interrupted"] == true);
    CHECK(run.seconds < 30);
  };
  interrupted("spmv", "spmv of poisson2d:9", {"--warm"});
  interrupted("solve", "poisson2d:9: 81 rows", {"--only", "cg.*", "--tol", "1e-15"});
}

TEST_CASE("bench suite --files takes the matrices of a folder, and says what it leaves out") {
  const Folder folder;
  for (const auto& [name, file] :
       {std::pair{"poisson2d:9", "a.mtx"}, {"poisson3d:4", "b.mtx"}, {"spd:50:5", "c.mtx.gz"}})
    succeeded({"generate", name, "--out", folder / file});
  std::ofstream(folder / "bad.mtx") << "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 1\n";
  std::ofstream(folder / "notes.txt") << "no matrix";
  const Run run = succeeded(
      {"bench", "suite", "--files", folder.path(), "--trials", "2", "--warm", "--threads", "1", "--backend", "serial"});
  CHECK(contains(run.out, "over all matrices"));
  CHECK(contains(run.err, "left out: "));
  CHECK(contains(run.err, "bad.mtx:3"));
  check_refused(3, {{{"bench", "suite", "--files", folder / "none"}, {"expected a folder"}}});
  check_refused(2, {{{"bench", "suite", "--files", folder.path(), "--small"}, {"--files"}}});
}

TEST_CASE("bench hpcg passes its tests and reaches the goal of the reference") {
  const json report = reported({"bench", "hpcg", "--n", "16", "--seconds", "0.01", "--threads", "2"}, 0);
  CHECK(report["tests_passed"] == true);
  CHECK(report["iterations_scaled_diagonal"] <= 12);
  CHECK(report["iterations_scaled_diagonal_multigrid"] <= 2);
  CHECK(report["reduction"] <= 1e-12);
  CHECK(report["error"] <= 1e-10);  // A's condition is 57
  CHECK(report["gflops_with_setup"] > 0);
  CHECK(report["gflops_with_setup"] < report["gflops"]);
  check_refused(2, {{{"bench", "hpcg", "--n", "20"}, {"--n: found 20", "multiple of 8"}}});
}

TEST_CASE("what multigrid is not for, indefinite or empty, is validated by all other kernels, and not measured") {
  const Folder folder;
  const std::string banner = "%%MatrixMarket matrix coordinate real symmetric\n";
  write_file(folder / "indefinite.mtx", banner + "2 2 3\n1 1 1\n2 1 -50\n2 2 1\n");
  write_file(folder / "opposite.mtx", banner + "2 2 3\n1 1 1\n2 1 50\n2 2 1\n");
  write_file(folder / "empty.mtx", banner + "0 0 0\n");
  for (const char* name : {"indefinite.mtx", "opposite.mtx"}) {
    succeeded({"validate", folder / name});
    check_refused(3, {{{"bench", "amg", folder / name, "--trials", "1"}, {"x'A x <= 0"}}});
  }
  succeeded({"validate", folder / "empty.mtx"});
  check_refused(3, {{{"bench", "solve", folder / "empty.mtx"}, {"empty.mtx: found no rows"}}});
}

TEST_CASE("bench refuses what it cannot measure") {
  check_refused(2, {{{"bench", "spmv"}, {"MATRIX"}},
                    {{"bench", "--list", "spvm"}, {"spvm", "did you mean spmv"}},
                    {{"bench", "solve"}, {"MATRIX"}},
                    {{"bench", "spmv", "poisson2d:4", "--only", "spvm*"}, {"--list"}},
                    {{"bench", "solve", "poisson2d:4", "--only", "gc.*"}, {"--list"}},
                    {{"validate", "poisson2d:4", "--only", "nothing"}, {"--list"}},
                    {{"bench", "symgs", "poisson2d:4", "--order", "random"}, {"natural, colours"}},
                    {{"bench", "spmm", "poisson2d:4", "--layout", "rows"}, {"row, col"}},
                    {{"bench", "spmm", "poisson2d:4", "--k", "0"}, {"--k"}},
                    {{"bench", "spmv", "poisson2d:4", "--threads", "0,1"}, {"--threads"}},
                    {{"bench", "spmv", "poisson2d:4", "--k", "2"}, {"unknown option --k"}},
                    {{"bench", "scan", "many"}, {"N: found 'many'", "whole number"}},
                    {{"bench", "merge-segments", "20:0"}, {"LENGTH: found '0'", "from 1"}},
                    {{"bench", "spmv", "poisson2d:4", "--trials", "-1"}, {"--trials"}},
                    {{"bench", "solve", "poisson2d:4", "--trials", "0"}, {"from 1"}},
                    {{"bench", "spmv", "poisson2d:4", "--csv", "/no/such/folder/x.csv"}, {"--csv"}},
                    {{"bench", "spmv", "poisson2d:4", "--csv", "-", "--html", "-"}, {"both want standard output"}}});
  check_refused(3, {{{"bench", "symgs", "random:20x30:100", "--warm"}, {"random:20x30:100: symgs: found", "square"}}});
}
