// Measurements as people and programs read them: a table, CSV, JSON.
#pragma once
#include <string>
#include <vector>

#include <seidel/drivers/bench/measure.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/drivers/report/text.hpp>

namespace seidel::bench {

/// The copy bandwidth of host and device, measured in this run; 0 where not measured.
struct Copies {
  double host_gb_per_s = 0, device_gb_per_s = 0;
  double of(Runs runs) const { return runs == Runs::cuda ? device_gb_per_s : host_gb_per_s; }
};

/// A table for a terminal, one block for each matrix, k and layout; the last column is the speed over the fastest right
/// baseline (Eigen, cuSPARSE) among the rivals that run on the same kind of processor.
std::string table_of(const std::vector<Measurement>& measurements, const Copies& copies, const drivers::Paint& paint);

/// One row a trial, a header first.
std::string csv_of(const std::vector<Measurement>& measurements, const Copies& copies);

/// One object a measurement, with all trials; the fields are described in docs/json-schema.md.
drivers::Json to_json(const std::vector<Measurement>& measurements, const Copies& copies);

/// The table's columns, and one measurement's cells, for pages that lay them out themselves.
std::vector<std::string> table_header();
std::vector<std::string> table_row(const Measurement& m, const std::vector<Measurement>& all, const Copies& copies);

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
