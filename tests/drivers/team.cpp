// seidel solve under mpirun: processes that solve one system together.
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "../skipped.hpp"
#include "process.hpp"

#include <nlohmann/json.hpp>

using namespace seidel;
using namespace seidel::tests;

namespace {

const std::string program = SEIDEL_PROGRAM " solve ";

Run solved_by(const Folder& folder, int processes, const std::string& words) {
  return launched(folder, "-np " + std::to_string(processes) + " " + program + words + " --threads 1");
}
nlohmann::json report_in(const Folder& folder) { return nlohmann::json::parse(read_file(folder / "r.json")); }

}  // namespace

TEST_CASE("processes of mpirun solve one system together: x and residuals of one process with jacobi or none") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  const Folder folder;
  for (const std::string words :
       {"poisson3d:24 --precond jacobi", "spd:9000:12 --method minres --precond none",
        "convdiff:20x20x24 --method idr --precond jacobi", "rmat:13 --method gmres --max-iterations 60"}) {
    CAPTURE(words);
    const std::string files = " --out x.mtx --history h.csv --json r.json";
    const Run alone = launched(folder, "-np 1 " + program + words + files + " --threads 1");
    const std::string x = read_file(folder / "x.mtx"), history = read_file(folder / "h.csv");
    const auto expected = report_in(folder);
    for (const int processes : {2, 5}) {
      CAPTURE(processes);
      std::filesystem::remove(folder / "x.mtx");
      const Run run = solved_by(folder, processes, words + files);
      CHECK(run.exit_code == alone.exit_code);
      CHECK(read_file(folder / "x.mtx") == x);
      const auto report = report_in(folder);
      CHECK(report["processes"] == processes);
      CHECK(report["verdict"] == expected["verdict"]);
      CHECK(report["iterations"] == expected["iterations"]);
      CHECK(report["relative_residual"] == expected["relative_residual"]);
      CHECK(report["error_estimate"] == expected["error_estimate"]);
    }
  }
}

TEST_CASE("[cuda] processes solve together on GPUs, which they may share, with the x of the host") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  if (contains(seidel_program({"solve", "poisson2d:4", "--backend", "cuda"}).err, "--backend cuda"))
    return skipped_cuda();
  const Folder folder;
  for (const std::string words :
       {"poisson3d:40 --precond jacobi", "elasticity3d:16 --method cg --precond amg",
        "convdiff:30x30x30 --method gmres --precond amg", "rmat:14 --method gmres --max-iterations 40"})
    for (const int processes : {2, 3}) {
      CAPTURE(words);
      CAPTURE(processes);
      const std::string files = " --json r.json --out ";
      const Run host = solved_by(folder, processes, words + " --backend serial" + files + "host.mtx");
      const auto expected = report_in(folder);
      const Run gpu = solved_by(folder, processes, words + " --backend cuda" + files + "gpu.mtx");
      CHECK(gpu.exit_code == host.exit_code);
      CHECK(report_in(folder)["backend"] == "cuda");
      CHECK(report_in(folder)["iterations"] == expected["iterations"]);
      CHECK(read_file(folder / "gpu.mtx") == read_file(folder / "host.mtx"));
    }
}

TEST_CASE("processes solve a file for right-hand sides of the user by amg, and one report tells of all") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  const Folder folder;
  succeeded({"generate", "elasticity3d:14", "--out", folder / "A.mtx", "--coordinates", folder / "c.mtx", "--quiet"});
  const std::int64_t n = 3 * 14 * 14 * 14;
  write_file(folder / "b.mtx", [&] {
    std::string text = "%%MatrixMarket matrix array real general\n" + std::to_string(n) + " 2\n";
    for (std::int64_t i = 0; i < 2 * n; ++i) text += std::to_string((i * 7919) % 1000) + "\n";
    return text;
  }());
  const Run run = solved_by(folder, 3, "A.mtx --rhs b.mtx --out x.mtx --precond amg --json r.json --verbose");
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err + run.out, "3 processes"));
  const auto report = report_in(folder);
  CHECK(report["verdict"] == "solved");
  CHECK(report["command"].get<std::string>().starts_with("mpirun -np 3 "));
  CHECK(report["columns"].size() == 2);
  CHECK(report["levels"].size() >= 2);
  CHECK(report["levels"][0]["rows"] == n);
  CHECK(report["iterations"] <= 60);
  const Run alone = succeeded(
      {"solve", folder / "A.mtx", "--rhs", folder / "b.mtx", "--precond", "amg", "--json", folder / "s.json"});
  const auto by_one = nlohmann::json::parse(read_file(folder / "s.json"));
  CHECK(double(report["iterations"]) <= 1.2 * double(by_one["iterations"]) + 1);
  // with the rotations of the body, whose rows go to their processes
  REQUIRE(solved_by(folder, 3, "A.mtx --rhs b.mtx --precond amg --coordinates c.mtx --json r.json").exit_code == 0);
  CHECK(double(report_in(folder)["iterations"]) <= 0.8 * double(report["iterations"]));
}

TEST_CASE("what is wrong is said once under mpirun, and the exit code is that of one process") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  const Folder folder;
  const auto says = [&](const std::string& words, int exit_code, const std::string& text) {
    CAPTURE(words);
    const Run run = solved_by(folder, 3, words);
    CHECK(run.exit_code == exit_code);
    const std::string said = run.out + run.err;
    const auto first = said.find(text);
    CHECK(first != std::string::npos);
    CHECK(said.find(text, first + 1) == std::string::npos);
    CHECK(run.seconds < 20);
  };
  says("missing.mtx", 3, "missing.mtx: No such file");
  says("poisson2d:9 --precond amg --set amg.cycle=w --method gmres", 2, "W or K cycle");
  says("poisson2d:90 --precond gmg", 2, "gmg: found several processes");
  says("denserow:5000 --precond symgs --method minres --max-iterations 200", 1, "NOT solved");  // as one process, which does not refuse it
  says("emptyrows:5000 --precond jacobi --permute none --method gmres", 3, "row 2: the diagonal entry is not stored");
  says("poisson3d:40 --precond jacobi --max-iterations 3", 1, "the limit of 3 iterations is reached");
  says("poisson3d:60 --precond none --tol 1e-300 --time-limit 0.05", 1, "the limit of time is reached");
  const Run many = launched(folder, "-np 3 " + program + "poisson2d:9 --threads 99");
  const auto first = many.err.find("more threads take turns");
  CHECK(first != std::string::npos);
  CHECK(many.err.find("more threads take turns", first + 1) == std::string::npos);
}

TEST_CASE("where processes cannot share a method, the first one solves alone, and says so") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  const Folder folder;
  const Run run = solved_by(folder, 2, "random:300x100:2000 --least-squares --out x.mtx");
  CHECK(run.exit_code == 0);
  CHECK(contains(run.err, "the first process solves this alone: the others have no part in lsmr"));
  const Run direct = solved_by(folder, 2, "poisson2d:30 --method direct");
  CHECK(direct.exit_code == 0);
}

TEST_CASE("a process of a solve that dies takes the others along, and leaves no result") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  const Folder folder;
  const std::string words =
      "poisson2d:1500 --precond none --tol 1e-13 --max-iterations 1000000 --threads 1 --out x.mtx";
  const auto begin = std::chrono::steady_clock::now();
  const Run run = launched(
      folder, "-np 1 " + program + words + " : -np 1 sh -c '" + program + words + " & sleep 1; kill -9 $!; wait $!'");
  CHECK(run.exit_code != 0);
  CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 60);
  for (const std::string& name : folder.names()) CHECK(name != "x.mtx");
}

TEST_CASE("a solve on several processes that is interrupted reports, and writes the best x") {
  if (!have_mpi()) return skipped("seidel solve on several processes (no MPI in this build)");
  const Folder folder;
  const std::string words =
      "poisson2d:1500 --precond none --tol 1e-13 --max-iterations 1000000 --threads 1 --out x.mtx";
  const Run run = launched(
      folder, "-np 1 sh -c '" + program + words + " & sleep 1; kill -TERM $!; wait $!' : -np 1 " + program + words);
  CHECK(run.exit_code == 1);
  CHECK(contains(run.out, "interrupted after"));
  CHECK(std::filesystem::exists(folder / "x.mtx"));
}
