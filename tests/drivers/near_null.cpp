// What is told of the smooth error on the command line: coordinates, near-null vectors.
#include "../backends.hpp"
#include "process.hpp"

#include <cstdio>
#include <sstream>

using namespace seidel::tests;

namespace {

std::int64_t iterations(const Run& run) {
  const auto at = run.out.find("after ");
  return at == run.out.npos ? -1 : std::stoll(run.out.substr(at + 6));
}

const Words amg = {"--method", "cg", "--precond", "amg"};

}  // namespace

TEST_CASE("coordinates of the points of an elastic body save iterations, from a file or a generator alike") {
  Folder folder;
  const std::string A = folder / "A.mtx", xyz = folder / "xyz.mtx";
  succeeded({"generate", "elasticity3d:10", "--out", A, "--coordinates", xyz});
  const Run without = seidel_program(Words{"solve", A} + amg),
            from_file = seidel_program(Words{"solve", A, "--coordinates", xyz, "--verbose"} + amg),
            generated = seidel_program(Words{"solve", "elasticity3d:10", "--coordinates", "elasticity3d:10"} + amg);
  CHECK(from_file.exit_code == 0);
  CHECK(iterations(without) > 18);
  CHECK(iterations(from_file) > 0);
  CHECK(iterations(from_file) <= 16);
  CHECK(iterations(generated) == iterations(from_file));
  CHECK(contains(from_file.out, "6 near-null vectors"));
  CHECK(contains(from_file.out, "3 rows per node"));
  CHECK(contains(from_file.out, "6 rows per node"));
}

TEST_CASE("near-null vectors of a file have the bits of those made of coordinates, on every back end") {
  Folder folder;
  std::string rigid = "%%MatrixMarket matrix array real general\n1536 6\n";  // of elasticity3d:8, by columns
  for (int c = 0; c < 6; ++c)
    for (int i = 0; i < 1536; ++i) {
      const double at[3] = {i / 3 % 8 - 3.5, i / 24 % 8 - 3.5, i / 192 - 3.5};  // from the middle
      const int d = i % 3, a = c - 3, b = (c - 2) % 3;
      rigid += std::to_string(c < 3 ? double(c == d) : d == a ? -at[b] : d == b ? at[a] : 0.0) + "\n";
    }
  write_file(folder / "rigid.mtx", rigid);
  const auto history = [&](std::vector<std::string> how) {
    how.insert(how.begin(), {"solve", "elasticity3d:8", "--set", "amg.coarsest=100", "--history", "-", "--quiet"});
    const Run run = succeeded(how + amg);
    return run.out;
  };
  const std::string expected = history({"--coordinates", "elasticity3d:8", "--backend", "serial"});
  CHECK(history({"--near-null", folder / "rigid.mtx", "--backend", "serial"}) == expected);
  CHECK(history({"--near-null", folder / "rigid.mtx", "--backend", "openmp", "--threads", "3"}) == expected);
  if (have_gpu())
    CHECK(history({"--near-null", folder / "rigid.mtx", "--backend", "cuda"}) == expected);
  else
    seidel::tests::skipped_cuda();
}

TEST_CASE("near-null vectors and coordinates of any size have the same bits") {
  Folder folder;
  const auto history = [&](const char* matrix, const std::string& option, const std::string& text) {
    write_file(folder / "it.mtx", "%%MatrixMarket matrix array real general\n" + text);
    const Run run = succeeded(Words{"solve", matrix, option, folder / "it.mtx", "--history", "-", "--quiet"} + amg);
    return run.out;
  };
  const auto vectors = [](double first, double second) {
    std::ostringstream text;
    text.precision(17);
    text << "400 2\n";
    for (int i = 0; i < 400; ++i) text << (1 + i % 3) * first << "\n";
    for (int i = 0; i < 400; ++i) text << (i % 20) * second << "\n";
    return text.str();
  };
  const std::string plain = history("poisson2d:20", "--near-null", vectors(1, 1));
  CHECK(history("poisson2d:20", "--near-null", vectors(0x1p1000, 1)) == plain);
  CHECK(history("poisson2d:20", "--near-null", vectors(0x1p-1000, 0x1p1000)) == plain);
  CHECK(history("poisson2d:20", "--near-null", vectors(1, 0x1p-1060)) == plain);
  const auto points = [](double unit) {
    std::ostringstream text;
    text.precision(17);
    text << "512 3\n";
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < 512; ++i) text << (c == 0 ? i % 8 : c == 1 ? i / 8 % 8 : i / 64) * unit << "\n";
    return text.str();
  };
  const std::string body = history("elasticity3d:8", "--coordinates", points(1));
  CHECK(history("elasticity3d:8", "--coordinates", points(0x1p1000)) == body);
  CHECK(history("elasticity3d:8", "--coordinates", points(0x1p-1000)) == body);
}

TEST_CASE(
    "files of coordinates and near-null vectors that cannot be are refused, and the message says what is expected") {
  Folder folder;
  const std::string head = "%%MatrixMarket matrix array real general\n";
  const auto message = [&](const std::string& option, const std::string& text, int exit_code = 3) {
    write_file(folder / "it.mtx", head + text);
    const Run run = seidel_program(Words{"solve", "poisson2d:2", option, folder / "it.mtx"} + amg);
    CHECK(run.exit_code == exit_code);
    return run.err;
  };
  const auto says = [&](const std::string& err, std::vector<std::string> parts) {
    CAPTURE(err);
    for (const auto& part : parts) CHECK(contains(err, part));
  };
  says(message("--coordinates", "3 2\n1\n2\n3\n4\n5\n6\n"), {"it.mtx", "3 x 2", "expected 2 x 2", "4 rows"});
  says(message("--coordinates", "4 1\n1\n2\n3\n4\n"), {"4 x 1", "expected 2 x 2"});
  says(message("--coordinates", "2 2\n1\n2\nnan\n4\n"), {"it.mtx:5", "NaN"});
  says(message("--near-null", "3 1\n1\n1\n1\n"), {"3 entries", "expected 4", "row of poisson2d:2"});
  says(message("--near-null", "4 1\n1\n1\ninf\n1\n"), {"it.mtx:5", "infinite"});
  says(message("--near-null", "4 3\n1\n1\n1\n1\n1\n2\n3\n4\n3\n5\n7\n9\n"), {"column 3", "independent"});
  says(message("--near-null", "4 1\n0\n0\n0\n0\n"), {"column 1", "zero"});
  says(message("--near-null", "4 1\n1\n1\n1\n"), {"it.mtx"});  // one entry is missing
  for (const std::string option : {"--coordinates", "--near-null"})
    check_refused(3, {{Words{"solve", "poisson2d:2", option, folder / "no.mtx"} + amg, {option, "No such file"}}});
}

TEST_CASE("near-null vectors may be plain numbers, a line per row") {
  Folder folder;
  std::string plain = "# constant, and one that grows\n", banner = "%%MatrixMarket matrix array real general\n64 2\n";
  for (int i = 0; i < 64; ++i) banner += "1\n", plain += "1 " + std::to_string(i) + "\n";
  for (int i = 0; i < 64; ++i) banner += std::to_string(i) + "\n";
  write_file(folder / "plain.txt", plain);
  write_file(folder / "banner.mtx", banner);
  const auto solved = [&](const std::string& name) {
    return succeeded(Words{"solve", "poisson2d:8", "--near-null", folder / name, "--history", "-", "--quiet"} + amg)
        .out;
  };
  CHECK(solved("plain.txt") == solved("banner.mtx"));
}

TEST_CASE("what amg is told needs amg, and is told once") {
  const auto refused = [](const Words& words, const char* part) {
    check_refused(2, {{Words{"solve", "elasticity3d:4"} + words, {part}}});
  };
  refused({"--coordinates", "elasticity3d:4"}, "--precond amg");
  refused({"--near-null", "x.mtx", "--precond", "symgs"}, "--precond amg");
  refused({"--near-null", "x.mtx", "--coordinates", "y.mtx", "--precond", "amg"}, "give one of them");
  refused({"--coordinates", "poisson3d:4", "--precond", "amg"}, "elasticity3d");
  const Run run = seidel_program({"generate", "poisson3d:4", "--out", "-", "--coordinates", "x.mtx"});
  CHECK(run.exit_code == 2);
  CHECK(run.out.empty());
  CHECK(seidel_program({"generate", "elasticity3d:4", "--out", "x.mtx", "--coordinates", "-"}).exit_code == 2);
  CHECK(seidel_program(Words{"solve", "elasticity3d:4", "--set", "amg.block=5", "--quiet"} + amg).exit_code != 0);
}
