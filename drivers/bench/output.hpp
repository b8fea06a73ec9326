// Measurements as people and programs read them: tables, CSV, JSON, a page for a browser.
#pragma once
#include <atomic>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/options.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/solve_on.hpp>

namespace seidel::drivers {

/// What was measured in this run to measure rivals against: for each number of threads, and on the GPU.
struct Roofs {
  std::map<int, Streams> host;
  Streams device;
  /// Where a rival runs; zeros where not measured.
  Streams of(BackendName backend, int threads) const {
    if (backend == BackendName::cuda) return device;
    const auto found = host.find(threads);
    return found == host.end() ? Streams{} : found->second;
  }
};
/// Its name and what it says, one each: "2 threads", "copy 24.1, triad 28.7 GB/s".
std::vector<std::pair<std::string, std::string>> lines_of(const Roofs& roofs);

/// Whether both did the same to the same operand.
bool same_task(const Measurement& a, const Measurement& b);
/// "spmm, k = 8": row-major unless it says otherwise.
std::string name_of_task(const Measurement& m);

/// The measurements of one task, for a page; and for a terminal, under the task's name and costs.
Table table_of(std::span<const Measurement> task, const Roofs& roofs);
std::string text_of(std::span<const Measurement> task, const Roofs& roofs, const Paint& paint);
/// What the columns say.
Table legend();
/// Why some of them are not right, one sentence each.
std::vector<std::string> reasons_of(std::span<const Measurement> task);

/// One row per trial, a header first. Empty cells for the sizes of what is no matrix.
std::string csv_of(const std::vector<Measurement>& measurements, const Roofs& roofs);

/// One object per measurement, with all trials; the fields are described in docs/json-schema.md.
Json to_json(const std::vector<Measurement>& measurements, const Roofs& roofs);
Json to_json(const Roofs& roofs);

/// On standard error: where what was measured before Ctrl-C is to be found.
void say_interrupted(const BenchOptions& options);

/// `text` as one cell of a CSV file: quoted where it must be.
std::string csv_cell(const std::string& text);

double gflop_per_s(const Measurement& m, double seconds);
double gb_per_s(const Measurement& m, double seconds);  // of the compulsory bytes

/// The rivals of a kernel (of all, if that is null) whose names match, as --list prints them.
std::string list_of(std::span<const Rival> rivals, const Kernel* kernel, const std::string& only, const Paint& paint);
/// The fastest right baseline on the same task and kind of processor, with no more threads than m; null if none was
/// timed.
const Measurement* baseline_of(const Measurement& m, std::span<const Measurement> all);

/// What an order of Gauss-Seidel sweeps costs and what it gains: a pair of sweeps beside the solve that it is for.
struct OrderRow {
  Measurement pair;
  Streams roof;             // of the place of the pair
  std::string_view method;  // cg where the matrix is symmetric with a positive diagonal, else bicgstab
  Outcome solve;            // to 1e-8 of b = A * ones

  double seconds() const { return pair.sample.empty() ? 0 : pair.sample.median(); }  ///< of a pair; 0: not timed
  double share_of(double bandwidth) const {
    return bandwidth > 0 && seconds() > 0 ? gb_per_s(pair, seconds()) / bandwidth : 0;
  }
};
/// A row for each of our default sweeps among `pairs`, which are of this matrix (not reordered). Ends at once where
/// `stop` is true, without the row at hand.
std::vector<OrderRow> order_rows(const Matrix& A, std::span<const Measurement> pairs, const Roofs& roofs,
                                 const std::atomic<bool>& stop);
Table table_of(const std::vector<OrderRow>& rows);
Json to_json(const std::vector<OrderRow>& rows);

/// Everything that was measured.
struct Found {
  std::vector<Measurement> all;  // those of the same matrix, kernel, order, k and layout stand side by side
  Roofs roofs;
  std::vector<OrderRow> orders;
  bool interrupted = false;
};
/// A row per task and place (serial, so many threads, GPU) where one of ours was timed.
Table summary_of(std::span<const Measurement> all, const Roofs& roofs);

/// Over all matrices, for each kernel and place: how many times faster than the fastest baseline ours are.
Table gains_of(std::span<const Measurement> all);

/// `machine` is one line on what it ran on.
std::string page_of(const Found& found, const std::string& machine, const CommonOptions& options);

}  // namespace seidel::drivers
