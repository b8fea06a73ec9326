// What `seidel bench` can be asked for.
#pragma once
#include <seidel/drivers/options.hpp>

namespace seidel::drivers {

/// Where results go beside standard output, the same for all.
struct BenchOutputs {
  std::string csv, html;
};

/// seidel bench KERNEL MATRIX...
struct BenchKernelOptions : CommonOptions, BenchOutputs {
  std::string kernel;                          // spmv, spmm, symgs
  std::vector<std::string> matrices;
  std::vector<std::int64_t> k;                 // --k 1,2,4
  std::vector<int> thread_counts;              // --threads 1,2,4
  std::vector<std::string> layouts = {"row"};  // --layout row,col
  std::string only = "*";
  int trials = 15;
  bool list = false;                           // --list: the registry, and nothing is run
};

/// seidel bench suite
struct BenchSuiteOptions : CommonOptions, BenchOutputs {
  bool large = false;
  int trials = 15;
};

/// seidel bench machine
struct BenchMachineOptions : CommonOptions {};

/// seidel bench compare OLD NEW
struct BenchCompareOptions : CommonOptions {
  std::string old_file, new_file;
};

int run(const BenchKernelOptions& options);
int run(const BenchSuiteOptions& options);
int run(const BenchMachineOptions& options);
int run(const BenchCompareOptions& options);

}  // namespace seidel::drivers
