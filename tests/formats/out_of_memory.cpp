// Whichever allocation fails, reading, converting and writing say so, and nothing is lost.
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/matrix_market/matrix_market.hpp>

#include "../allocations.hpp"

using namespace seidel;
using namespace seidel::tests;

namespace {

/// 600 entries in each of three rows, in an order that `step`, prime to 1800, makes.
std::string text(const std::string& kind, int step) {
  std::string lines = "%%MatrixMarket matrix coordinate real " + kind + "\n600 600 1800\n";
  for (int k = 0, entry = 0; k < 1800; ++k, entry = (entry + step) % 1800) {
    const int row = entry / 3, col = std::max(0, row - 2 * (entry % 3));
    lines += std::to_string(row + 1) + " " + std::to_string(col + 1) + " 1.5\n";
  }
  return lines;
}

}  // namespace

TEST_CASE("files in the cache of a control group are memory that it can have") {
  const std::string group = std::filesystem::temp_directory_path() / ("seidel-group." + std::to_string(::getpid()));
  std::filesystem::create_directory(group);
  const auto write = [&](const char* name, const char* text) { std::ofstream(group + "/" + name) << text; };
  CHECK(free_in_group(group) == INT64_MAX);
  write("memory.current", "900\n");
  write("memory.max", "max\n");
  CHECK(free_in_group(group) == INT64_MAX);
  write("memory.max", "1000\n");
  CHECK(free_in_group(group) == 100);
  write("memory.stat", "anon 200\nfile 700\ninactive_file 500\nactive_file 100\nshmem 100\n");
  CHECK(free_in_group(group) == 700);
  std::filesystem::remove_all(group);
}

TEST_CASE("any allocation may fail while a file is read") {
  for (const char* kind : {"general", "symmetric"})
    for (const int step : {1, 7, 1799})
      for (const int threads : {1, 3}) {
        CAPTURE(kind);
        CAPTURE(step);
        CAPTURE(threads);
        const std::string file = text(kind, step);
        const ReadOptions options{.threads = threads, .chunk_bytes = 4096};
        check_every_allocation(4 * 600, [&] { parse_matrix_market(file, "text", options); });
      }
  check_every_allocation(8 * 600, [&] {
    std::string array = "%%MatrixMarket matrix array real general\n600 1\n";
    for (int row = 0; row < 600; ++row) array += "1\n";
    parse_matrix_market(array, "text");
  });
}

TEST_CASE("a file that cannot be read for want of memory is a ResourceError that says so") {
  const std::string file = text("general", 7);
  for (int n = 1; n < 100; ++n) {
    std::string said;
    fail_allocation(n);
    try {
      parse_matrix_market(file, "text");
      fail_allocation(0);
      said = "out of memory, but not here";
    } catch (const ResourceError& error) {
      said = error.what();
    } catch (const std::bad_alloc&) {
      said = "no message";
    }
    fail_allocation(0);
    CAPTURE(n);
    CAPTURE(said);
    CHECK(said.find("out of memory") != said.npos);
  }
}

TEST_CASE("any allocation may fail while a matrix is made or converted") {
  for (const char* spec : {"poisson2d:24", "random:500x500:3000", "spd:500:5", "rmat:9:8"}) {
    CAPTURE(spec);
    check_every_allocation(4 * 500, [&] { generate(OpenMP{3}, spec); });
    const auto A = generate(OpenMP{3}, spec);
    check_every_allocation(4 * 500, [&] { to_csc(OpenMP{3}, A.view()); });
    check_every_allocation(4 * 500, [&] { to_sell(OpenMP{3}, A.view()); });
    check_every_allocation(4 * 500, [&] { transpose(OpenMP{3}, A.view()); });
  }
}
