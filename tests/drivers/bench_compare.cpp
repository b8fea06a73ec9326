// seidel bench compare: what it calls faster and slower, what it says of the machines, and what it refuses.
#include "process.hpp"

#include <nlohmann/json.hpp>

using namespace seidel::tests;
using nlohmann::json;

namespace {

json measurement(const std::string& rival, std::vector<double> seconds) {
  return {{"kernel", "spmv"}, {"rival", rival}, {"matrix", "poisson2d:9"}, {"backend", "serial"},
          {"threads", 1},     {"k", 1},         {"layout", "row"},         {"seconds", seconds}};
}
json file_of(const std::vector<json>& measurements, const json& machine) {
  return {{"schema", "seidel.bench/1"}, {"machine", machine}, {"measurements", measurements}};
}

}  // namespace

TEST_CASE("bench compare names what is faster or slower beyond the spread, and how the machines differ") {
  const Folder folder;
  auto by_colours = measurement("symgs.csr.serial", {8, 8, 8, 8});
  by_colours["order"] = "colours";
  auto natural = measurement("symgs.csr.serial", {1, 1, 1, 1});
  natural["order"] = "natural";
  write_file(folder / "old.json",
             file_of({measurement("faster", {4, 4.1, 3.9, 4}), measurement("slower", {2, 2.1, 1.9, 2}),
                      measurement("noisy", {1, 2, 3, 4}), measurement("barely", {1, 1, 1, 1}),
                      measurement("gone", {1, 1, 1, 1}), natural, by_colours},
                     {{"processor", "A"}, {"gpu", nullptr}, {"cores", 2}, {"retired", "yes"}})
                 .dump());
  natural["seconds"] = by_colours["seconds"] = {2, 2, 2, 2};
  write_file(folder / "new.json",
             file_of({measurement("faster", {1, 1.1, 0.9, 1}), measurement("slower", {6, 6.1, 5.9, 6}),
                      measurement("noisy", {2, 3, 4, 5}), measurement("barely", {1.01, 1.01, 1.01, 1.01}),
                      measurement("added", {1, 1, 1, 1}), natural, by_colours},
                     {{"processor", "B"}, {"gpu", "H"}, {"cores", 2}})
                 .dump());
  const Run run =
      succeeded({"bench", "compare", folder / "old.json", folder / "new.json", "--json", folder / "c.json"});
  for (const char* said :
       {"processor: A -> B", "gpu: none -> H", "retired: yes -> not said", "faster: 2", "4.00x", "slower: 2", "3.00x",
        "or less than 2 %: 2", "only in the old file: 1", "gone", "only in the new file: 1", "added"})
    CHECK_MESSAGE(contains(run.out, said), said);
  CHECK(!contains(run.out, "cores"));
  const json found = json::parse(read_file(folder / "c.json"));
  CHECK(found["schema"] == "seidel.bench.compare/1");
  for (const auto& expected :
       std::vector<std::pair<std::string, std::string>>{{"faster, poisson2d:9", "faster"},
                                                        {"slower, poisson2d:9", "slower"},
                                                        {"noisy, poisson2d:9", "same"},
                                                        {"barely, poisson2d:9", "same"},
                                                        {"symgs.csr.serial, poisson2d:9, natural order", "slower"},
                                                        {"symgs.csr.serial, poisson2d:9, colours order", "faster"}}) {
    CAPTURE(expected.first);
    const auto& all = found["compared"];
    const auto one = std::find_if(all.begin(), all.end(), [&](const json& c) { return c["what"] == expected.first; });
    REQUIRE(one != all.end());
    CHECK((*one)["change"] == expected.second);
  }
}

TEST_CASE("bench compare sets one number of threads against another, and says so, and that the bandwidth was another") {
  const Folder folder;
  const auto file = [](int threads, double seconds, double copy) {
    auto m = measurement("spmv.csr.openmp", {seconds, seconds, seconds, seconds});
    m["backend"] = "openmp", m["threads"] = threads;
    auto theirs = measurement("spmv.array.serial.cub", {seconds * 0.6 + 1, seconds * 0.6 + 1});
    theirs["baseline"] = true;
    json document = file_of({m, theirs}, {{"processor", "A"}});
    document["roofs"] = {{{"backend", "host"}, {"threads", 1}, {"copy_gb_per_s", copy}, {"triad_gb_per_s", 1}}};
    return document.dump();
  };
  write_file(folder / "old.json", file(1, 4, 10)), write_file(folder / "new.json", file(2, 2, 8));
  const Run run = seidel_program({"bench", "compare", folder / "old.json", folder / "new.json"});
  for (const char* said : {"threads: 1 -> 2", "bandwidth, 1 thread: 10.0 -> 8.0 GB/s", "faster: 2", "2.00x",
                           "baselines, the same program in both files: 1.55x as fast"})
    CHECK_MESSAGE(contains(run.out, said), said);
  CHECK(!contains(run.out, "only in"));
}

TEST_CASE("bench compare takes what bench writes, and finds every measurement") {
  const Folder folder;
  const std::string file = folder / "a.json";
  succeeded({"bench", "spmv", "poisson2d:9", "--backend", "serial", "--trials", "2", "--warm", "--json", file});
  const Run run = succeeded({"bench", "compare", file, file});
  const json measurements = json::parse(read_file(file))["measurements"];
  const auto measured = std::count_if(measurements.begin(), measurements.end(),
                                      [](const json& m) { return m["verdict"] != "refused"; });  // by BSR
  CHECK(measured > 3);
  CHECK(contains(run.out, "within the spread, or less than 2 %: " + std::to_string(measured) + "\n"));
  CHECK(!contains(run.out, "machines differ"));
  CHECK(!contains(run.out, "only in"));
}

TEST_CASE("bench compare refuses what is not a bench file, naming it and what was found") {
  const Folder folder;
  const json good = file_of({measurement("a", {1})}, json::object());
  write_file(folder / "good.json", good.dump());
  json other = good, nameless = good, wordy = good, untimed = good, threads = good;
  other["schema"] = "seidel.solve/1";
  nameless["measurements"][0].erase("rival");
  wordy["measurements"][0]["seconds"] = "many";
  untimed["measurements"][0]["seconds"] = json::array();
  threads["measurements"][0]["backend"] = "openmp", threads["measurements"][0]["threads"] = "x";
  for (const auto& wrong : std::vector<std::pair<std::string, std::string>>{
           {"{", "what is not JSON"},
           {"", "what is not JSON"},
           {"[1]", "no schema"},
           {R"({"schema": 7})", "no schema"},
           {R"({"schema": "seidel.bench/1"})", "no measurements"},
           {R"({"schema": "seidel.bench/1", "measurements": [3]})", "a measurement"},
           {other.dump(), "schema seidel.solve/1"},
           {nameless.dump(), "rival"},
           {wordy.dump(), "a measurement"},
           {untimed.dump(), "no seconds"},
           {threads.dump(), "x for a number"}}) {
    CAPTURE(wrong.first);
    write_file(folder / "bad.json", wrong.first);
    check_refused(
        3, {{{"bench", "compare", folder / "good.json", folder / "bad.json"}, {"bad.json: found ", wrong.second}}});
  }
  check_refused(3, {{{"bench", "compare", folder / "good.json", folder / "none.json"}, {"none.json: No such file"}},
                    {{"bench", "compare", folder / "good.json", folder / ""}, {"found a folder, expected a file"}}});
}
