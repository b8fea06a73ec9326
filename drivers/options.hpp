// The command line as values: what each command was asked for.
#pragma once
#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/solvers/choose_method.hpp>

namespace seidel::drivers {

struct Kernel;  // bench/kernel.hpp

inline constexpr const char* matrix_help =
    "a .mtx or .mtx.gz file, - for standard input, or a generator such as poisson3d:64";

enum class BackendName { automatic, serial, openmp, cuda };
/// In the order of their values.
inline constexpr std::array<std::string_view, 4> backend_names = {"auto", "serial", "openmp", "cuda"};
inline std::string_view to_string(BackendName backend) { return backend_names[std::size_t(backend)]; }

/// What every command takes.
struct CommonOptions {
  std::string command_line;                      // as it was typed, for reports
  BackendName backend = BackendName::automatic;  // --backend
  int threads = 0;                               // --threads; 0 takes what there is
  std::string json;                              // --json: a file, "-", or empty
  bool quiet = false, verbose = false;
};

struct SolveOptions : CommonOptions {
  std::string matrix, rhs, x0, out, history, html;
  std::string near_null, coordinates;               // for amg
  std::string null_space;                           // --null-space: "constant" or a file
  MethodRequest request;                            // --method, --precond, --order, --set
  bool permute = true, scale = true;                // --permute, --scale: auto
  bool order_by_time = false;                       // --order auto; natural order otherwise, unless one is named
  double tolerance = 1e-8, absolute_tolerance = 0;  // --tol, --set atol
  std::optional<double> error_tolerance;            // --error-tol
  std::int64_t max_iterations = 20000;
  double time_limit = std::numeric_limits<double>::infinity();
  bool repair = false;
};

struct InfoOptions : CommonOptions {
  std::string matrix;
  std::optional<MethodRequest> made;  // --precond: with the preconditioner that is made as well
  bool repair = false;
};

struct GenerateOptions : CommonOptions {
  std::string spec, out, coordinates;
  std::uint64_t seed = 1;
  bool fp32 = false;  // of dense:MxN
};

/// seidel gemm A B [C]
struct GemmOptions : CommonOptions {
  std::string a, b, c, out;
  std::string grid;              // "2x3"; empty: as square as can be
  std::string method = "summa";  // or "row-sums"
  std::int64_t block = 32;
};

struct ConvertOptions : CommonOptions {
  std::string in, out;
  bool transpose = false, repair = false, real_form = false, permute_diagonal = false;
  std::string form = "coordinate";
};

struct ValidateOptions : CommonOptions {
  std::vector<std::string> matrices;
  std::string only = "*", html;
  bool list = false;  // --list: the rivals, and nothing is run
};

struct BenchReadOptions : CommonOptions {
  std::string file, html;
  int repetitions = 5;
};

/// Where results go beside standard output.
struct BenchOptions : CommonOptions {
  std::string csv, html;
};

/// Of commands that time rivals.
struct BenchTrialOptions : BenchOptions {
  int trials = 15;    // 0: check only
  bool warm = false;  // --warm: caches are left as they are, and there is no roof to compare with
};

/// seidel bench KERNEL OPERAND...
struct BenchKernelOptions : BenchTrialOptions {
  const Kernel* kernel = nullptr;              // for --list null: all
  std::vector<std::string> operands;           // MATRIX..., or what else the kernel takes
  std::vector<std::int64_t> k;                 // --k 1,2,4
  std::vector<int> thread_counts;              // --threads 1,2,4
  std::vector<std::string> layouts = {"row"};  // --layout row,col
  std::vector<std::string> orders;             // --order natural,colours
  std::string only = "*";
  bool list = false;  // --list: the registry, and nothing is run
};

/// seidel bench solve MATRIX...
struct BenchSolveOptions : BenchOptions {
  std::vector<std::string> matrices;
  std::vector<int> thread_counts;
  std::string only = "*";
  double tolerance = 1e-8;
  std::int64_t max_iterations = 2000;
  int trials = 1;
  bool list = false;
};

/// seidel bench suite
struct BenchSuiteOptions : BenchTrialOptions {
  bool large = false;
  std::string files;  // --files: a folder of matrices in place of the list
};

/// seidel bench machine
struct BenchMachineOptions : BenchOptions {};

/// seidel bench hpcg
struct BenchHpcgOptions : CommonOptions {
  Index n = 104;               // points along each side
  double seconds = 60;         // of timed runs
  std::optional<Order> order;  // of the sweeps; colours unless one core works alone
};

/// seidel bench gemm-mpi MxNxK...
struct BenchGemmMpiOptions : CommonOptions {
  std::vector<std::string> sizes, methods = {"summa", "row-sums"};
  std::vector<std::string> grids;  // of so many of the processes each; empty: of 1, 2, 3 ... of them
  std::int64_t block = 32;
  bool fp32 = false;
  int trials = 3;
};

/// seidel bench compare OLD NEW
struct BenchCompareOptions : CommonOptions {
  std::string old_file, new_file, html;
};

/// What a command line asks for.
struct Request {
  std::string text = {};  // of --help or --version, for standard output; then there is nothing to run
  CommonOptions common = {};
  bool shares_work = false;       // among the processes of mpirun
  std::function<int()> run = {};  // the command
};

/// Reads the command line. Errors  UsageError that names the option and the allowed values.
Request parse(int argc, char** argv);

/// Of `names`, the one most like `word`, or an empty string when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& names);

/// Values of options are taken in any case.
std::string lower_case(std::string word);

}  // namespace seidel::drivers
