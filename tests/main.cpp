// The main function of all tests: doctest's, and a closing count of what could not be tested here.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "backends.hpp"
#include "matrices.hpp"

namespace {

const doctest::TestCaseData* running = nullptr;
std::vector<unsigned> seeds;                    // that the running test drew
std::string last_run;                           // of a program that it started: its words and what it said
std::set<const doctest::TestCaseData*> halved;  // ran, but not on the GPU
int tagged = 0;                                 // "[cuda]" in the name: not run at all without a GPU
std::set<std::string> others;                   // skipped by their own decorator
std::map<std::string, std::string> here;        // began, could not run here, and why
int passed = 0, failed = 0;

/// Counts beside doctest's own report.
struct Tally : doctest::IReporter {
  explicit Tally(const doctest::ContextOptions&) {}
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats& all) override {
    failed = int(all.numTestCasesFailed);
    passed = int(all.numTestCasesPassingFilters) - failed - int(here.size());
  }
  void test_case_start(const doctest::TestCaseData& test) override { running = &test, seeds.clear(), last_run.clear(); }
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats& test) override {
    if (!test.testCaseSuccess && !seeds.empty()) {
      std::printf("%s: drew the seeds", running->m_name);
      for (const unsigned seed : seeds) std::printf(" %u", seed);
      std::printf("\n");
    }
    running = nullptr;
  }
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData& assert) override {
    if (assert.m_failed && !last_run.empty()) std::printf("after %s\n", std::exchange(last_run, {}).c_str());
  }
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData& test) override {
    if (std::strstr(test.m_name, "in the child:")) return;  // another test runs it in a process of its own
    if (std::strstr(test.m_name, "[cuda]"))
      ++tagged;
    else
      others.insert(test.m_name);
  }
};
REGISTER_LISTENER("tally", 1, Tally);

bool filtered(int argc, char** argv) {
  return std::any_of(argv + 1, argv + argc, [](const char* argument) { return argument[0] == '-'; });
}

}  // namespace

unsigned seidel::tests::fresh_seed() {
  seeds.push_back(std::random_device{}());
  return seeds.back();
}

void seidel::tests::ran(const std::string& run) { last_run = run; }

void seidel::tests::skipped_cuda() {
  if (running) halved.insert(running);
}

void seidel::tests::skipped(const std::string& because) {
  if (running) here[running->m_name] = because;
}

int main(int argc, char** argv) {
  doctest::Context context(argc, argv);
  if (!seidel::tests::have_gpu()) context.addFilter("test-case-exclude", "*[cuda]*");
  const int status = context.run();
  if (filtered(argc, argv)) return status;  // a chosen few tests, or only a listing
  const int without_gpu = tagged + int(halved.size());
  if (without_gpu > 0) {
    const std::string reason = seidel::cuda_unavailable_because();
    std::printf("%d CUDA tests skipped: no GPU (%s)\n", without_gpu, reason.substr(0, reason.find('\n')).c_str());
  }
  for (const auto& name : others) std::printf("skipped in this build: %s\n", name.c_str());
  for (const auto& [name, because] : here) std::printf("skipped here: %s (%s)\n", name.c_str(), because.c_str());
  const int skipped = without_gpu + int(others.size()) + int(here.size());
  std::printf("seidel_tests: %d passed, %d failed, %d skipped\n", passed, failed, skipped);
  return status;
}
