// Measurements as people and programs read them: a table, CSV, JSON.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <seidel/drivers/bench/machine.hpp>
#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>

namespace seidel::bench {

/// What was measured in this run to measure rivals against: for each number of threads, and on the GPU.
struct Roofs {
  std::map<int, Streams> host;
  Streams device;
  /// Where a rival runs; zeros where not measured.
  Streams of(Runs runs, int threads) const {
    if (runs == Runs::cuda) return device;
    const auto found = host.find(threads);
    return found == host.end() ? Streams{} : found->second;
  }
};
/// Its name and what it says, one each: "2 threads", "copy 24.1, triad 28.7 GB/s".
std::vector<std::pair<std::string, std::string>> lines_of(const Roofs& roofs);

/// A table for a terminal, one block for each matrix, k and layout; the last column is the speed over the fastest right
/// baseline (Eigen, cuSPARSE) among the rivals that run on the same kind of processor.
std::string table_of(const std::vector<Measurement>& measurements, const Roofs& roofs, const drivers::Paint& paint);

/// One row a trial, a header first.
std::string csv_of(const std::vector<Measurement>& measurements, const Roofs& roofs);

/// One object a measurement, with all trials; the fields are described in docs/json-schema.md.
drivers::Json to_json(const std::vector<Measurement>& measurements, const Roofs& roofs);

drivers::Json to_json(const Roofs& roofs);

/// The table's columns, and one measurement's cells, for pages that lay them out themselves.
std::vector<std::string> table_header();
std::vector<std::string> table_row(const Measurement& m, const std::vector<Measurement>& all, const Roofs& roofs);

/// `text` as one cell of a CSV file: quoted where it must be.
std::string csv_cell(const std::string& text);

double gflop_per_s(const Measurement& m, double seconds);
double gb_per_s(const Measurement& m, double seconds);  // of the compulsory bytes
/// The rivals of a kernel (of all, if that is empty) whose names match, as --list prints them.
std::string list_of(std::span<const Rival> rivals, std::string_view kernel, const std::string& only,
                    const drivers::Paint& paint);
/// Whether the rival is somebody else's: its variant names Eigen or a vendor's library.
bool is_baseline(const Rival& rival);
/// Seconds of the fastest right baseline on the same task and kind of processor, with no more threads than m; 0 if none
/// was timed.
double baseline_seconds(const Measurement& m, const std::vector<Measurement>& all);

}  // namespace seidel::bench
