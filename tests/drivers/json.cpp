// JSON: valid, of the schemas in docs/json-schema.md, without NaN and Infinity.
#include "solve_json.hpp"

using namespace seidel::tests;
using nlohmann::json;

namespace {

json parsed(const std::string& text) {
  CAPTURE(text);
  json document = json::parse(text, nullptr, false);  // strict: NaN and Infinity are errors
  REQUIRE(!document.is_discarded());
  return document;
}

void has(const json& document, const std::string& path, json::value_t type) {
  CAPTURE(path);
  const json::json_pointer at(path);
  REQUIRE(document.contains(at));
  const auto found = document.at(at).type();
  const bool whole = type == json::value_t::number_integer && found == json::value_t::number_unsigned;
  CHECK((found == type || whole || (type == json::value_t::number_float && document.at(at).is_number())));
}

}  // namespace

TEST_CASE("solve --json - is the report, alone on standard output") {
  const Run run = succeeded({"solve", "poisson2d:12", "--precond", "symgs", "--json", "-"});
  const json document = parsed(run.out);
  CHECK(document["schema"] == "seidel.solve/1");
  CHECK(document["converged"] == true);
  CHECK(document["status"] == "converged");
  CHECK(document["relative_residual"] <= 1e-8);
  CHECK(document["method"] == "cg");
  CHECK(document["preconditioner"] == "symgs");
  CHECK(document["order"] == "natural");
  CHECK(document["rhs"] == "A * ones");
  const std::string products = reported({"solve", "spd:200:5"})["products"];
  CHECK_MESSAGE(products == "CSR, 12.8 bytes per nonzero", products);
  CHECK(document["diagnosis"].empty());
  for (const char* text : {"/backend", "/backend_choice", "/choice", "/reason", "/command", "/version", "/matrix/name",
                           "/machine/processor"})
    has(document, text, json::value_t::string);
  for (const char* number : {"/backward_error", "/seconds/read", "/seconds/setup", "/seconds/solve", "/seconds/certify",
                             "/tolerance", "/error_against_ones"})
    has(document, number, json::value_t::number_float);
  for (const char* whole : {"/iterations", "/threads", "/matrix/rows", "/matrix/columns", "/matrix/nonzeros",
                            "/memory/needed_bytes", "/wavefronts"})
    has(document, whole, json::value_t::number_integer);
}

TEST_CASE("solve says how far x is from the solution, and how it knows") {
  const json exact = reported({"solve", "poisson2d:12"});
  CHECK(exact["verdict"] == "solved");
  CHECK(exact["error_estimate"] == exact["error_against_ones"]);
  CHECK(exact["error_estimate_source"] == "exact");
  Folder folder;
  std::string b = "%%MatrixMarket matrix array real general\n144 1\n";
  for (int i = 0; i < 144; ++i) b += std::to_string(i * i % 17) + "\n";
  write_file(folder / "b.mtx", b);
  const json found = reported({"solve", "poisson2d:12", "--rhs", folder / "b.mtx"});
  CHECK(found["error_estimate"] < 1e-7);
  CHECK(found["error_estimate_source"] == "refinement");  // factors of so small a matrix cost nothing
  CHECK(found["error_estimate_is_lower_bound"] == false);
  has(found, "/seconds/estimate", json::value_t::number_float);
  b = "%%MatrixMarket matrix array real general\n27000 1\n";
  for (int i = 0; i < 27000; ++i) b += std::to_string(i * i % 17) + "\n";
  write_file(folder / "b.mtx", b);
  const json iterated = reported({"solve", "poisson3d:30", "--rhs", folder / "b.mtx"});
  CHECK(iterated["error_estimate"] < 1e-6);
  CHECK(iterated["error_estimate_source"] == "going on");
  CHECK(iterated["error_estimate_iterations"] >= 1);
  const json failed = reported({"solve", "poisson3d:30", "--rhs", folder / "b.mtx", "--max-iterations", "1"});
  CHECK(failed["verdict"] == "not solved");
  CHECK(failed["error_estimate"] == nullptr);
}

TEST_CASE("a solve that fails says so in JSON, with causes") {
  const Run run = seidel_program({"solve", "poisson2d:40", "--max-iterations", "2", "--json", "-"});
  CHECK(run.exit_code == 1);
  const json document = parsed(run.out);
  CHECK(document["converged"] == false);
  CHECK(document["status"] == "iteration_limit");
  CHECK(document["iterations"] == 2);
  REQUIRE(!document["diagnosis"].empty());
  for (const char* key : {"/diagnosis/0/cause", "/diagnosis/0/evidence"}) has(document, key, json::value_t::string);
}

TEST_CASE("numbers that JSON does not have become null") {
  const Run run = succeeded({"info", "-", "--json", "-"},
                            {.text = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1e300\n2 2 inf\n"});
  const json document = parsed(run.out);
  CHECK(document["schema"] == "seidel.info/1");
  CHECK(document["values"]["nonfinite"] == 1);
}

TEST_CASE("info, generate, convert and validate carry their schemas") {
  Folder folder;
  const json info = reported({"info", "poisson3d:5"});
  CHECK(info["schema"] == "seidel.info/1");
  CHECK(info["symmetric"] == true);
  for (const char* whole : {"/matrix/rows", "/diagonal/positive", "/bandwidth/lower", "/nonzeros_per_row/max",
                            "/nonzeros_a_row/max", "/bytes/csr32", "/bytes/ell", "/bytes/sell"})
    has(info, whole, json::value_t::number_integer);
  succeeded({"generate", "poisson2d:5", "-o", folder / "a.mtx", "--json", folder / "g.json"});
  CHECK(parsed(read_file(folder / "g.json"))["schema"] == "seidel.generate/1");
  succeeded({"convert", folder / "a.mtx", folder / "b.mtx", "--json", folder / "c.json"});
  const json convert = parsed(read_file(folder / "c.json"));
  CHECK(convert["schema"] == "seidel.convert/1");
  CHECK(convert["symmetry"] == "symmetric");
  const json validate = reported({"validate", "poisson2d:6"});
  CHECK(validate["schema"] == "seidel.validate/1");
  CHECK(validate["valid"] == true);
  CHECK(validate["cells"].size() > 20);
}

TEST_CASE("info and solve tell the same of the levels of amg, and their memory is that of the whole") {
  const Words amg = {"poisson3d:20", "--precond", "amg", "--threads", "1"};
  const json info = reported(Words{"info"} + amg)["preconditioner"], solve = report_of(amg);
  REQUIRE(info["levels"].size() == 3);
  std::int64_t bytes = 0;
  double rows = 0;
  for (std::size_t l = 0; l < 3; ++l) {
    CHECK(info["levels"][l]["rows"] == solve["levels"][l]["rows"]);
    CHECK(info["levels"][l]["nonzeros"] == solve["levels"][l]["nonzeros"]);
    CHECK(info["levels"][l]["bytes"] > info["levels"][l]["nonzeros"]);
    bytes += info["levels"][l]["bytes"].get<std::int64_t>();
    rows += info["levels"][l]["rows"].get<double>();
  }
  CHECK(info["bytes"] == bytes);
  CHECK(info["grid_complexity"].get<double>() == doctest::Approx(rows / 8000));
  CHECK(info["operator_complexity"] == solve["operator_complexity"]);
  CHECK(solve["seconds"]["preconditioner"] > 0);
  CHECK(solve["seconds"]["preconditioner"] < solve["seconds"]["setup"]);
  const json plain = reported({"info", "poisson3d:5"});
  CHECK(plain["preconditioner"] == nullptr);  // which costs what a setup costs
  CHECK(reported({"solve", "poisson3d:5"})["grid_complexity"] == nullptr);
}

TEST_CASE("an error leaves a JSON document, too") {
  Folder folder;
  CHECK(seidel_program({"solve", folder / "none.mtx", "--json", folder / "r.json"}).exit_code == 3);
  const json document = parsed(read_file(folder / "r.json"));
  CHECK(document["schema"] == "seidel.error/1");
  CHECK(document["exit_code"] == 3);
  has(document, "/message", json::value_t::string);
}

TEST_CASE("the command in a report is one that a shell takes again, whatever the names of files") {
  const Folder folder;
  succeeded({"generate", "poisson2d:3", "-o", folder / "Ada's A.mtx"});
  const Run run = seidel_program({"info", folder / "Ada's A.mtx", "--json", "-"});
  const std::string command = json::parse(run.out)["command"];
  CHECK(command == "seidel info '" + (folder / "Ada") + "'\\''s A.mtx' --json -");
}

TEST_CASE("a name that is not UTF-8 does not break the JSON") {
  Folder folder;
  const std::string path = folder / "A\xff.mtx";
  write_file(path, "%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 2\n");
  const Run run = succeeded({"solve", path, "--json", "-"});
  parsed(run.out);
}
