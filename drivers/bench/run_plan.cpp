// Measures a list of matrices and kernels, and reports as it goes.
#include <seidel/drivers/bench/run_plan.hpp>

#include <exception>
#include <utility>

#include <seidel/drivers/bench/output.hpp>
#include <seidel/drivers/commands.hpp>
#include <seidel/drivers/output_file.hpp>
#include <seidel/drivers/report/progress.hpp>
#include <seidel/drivers/signals.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

Roofs roofs_of(const Plan& plan) {
  Roofs roofs;
  const auto measure = [&](int threads) {
    if (!roofs.host.contains(threads)) roofs.host[threads] = host_streams(OpenMP{threads});
  };
  if (plan.selection.wants(BackendName::serial)) measure(1);
  if (plan.selection.wants(BackendName::openmp))
    for (const int threads : plan.threads) measure(threads);
  if (plan.cuda) roofs.device = device_streams(*plan.cuda);
  return roofs;
}

/// What a kernel costs in all of its ways beside one with one column, roughly: for the time left.
double weight_of(std::int64_t k) { return 1 + double(k - 1) / 8; }
double weight_of(const BenchKernel& kernel) {
  double sum = 0;
  for (const std::int64_t k : kernel.k) sum += double(kernel.layouts.size()) * weight_of(k);
  return kernel.orders.empty() ? sum : sum * 2 * double(kernel.orders.size());  // solves as much again
}

/// Walks the items; keeps what it finds, and prints each table once it is whole.
class Walk {
 public:
  Walk(Plan plan, const BenchTrialOptions& options, std::span<const Rival> rivals)
      : plan_(std::move(plan)), options_(options), rivals_(rivals), line_(!options.quiet) {
    plan_.trials = options.trials, plan_.warm = options.warm;
    plan_.stop = &stop_requested();
    plan_.progress = [this](int done, int jobs, const std::string& what) { show(double(done) / jobs, what); };
  }

  void item(const BenchItem& item, double first, double share) {
    double all = 0, before = 0;
    for (const BenchKernel& kernel : item.kernels) all += weight_of(kernel);
    step_ = 0, done_ = first;
    show(0, item.operand);
    std::unique_ptr<Operand> operand;
    try {
      operand = item.kernels.front().kernel->takes->make(item.operand, options_);
    } catch (const InputError& error) {
      if (!item.only_what_fits) throw;
      return drivers::say(options_, formatted("left out: {}", error.what()));
    }
    if (head_.empty()) measure_roofs();  // not before an operand is there: a misspelt name is then told at once
    for (const BenchKernel& kernel : item.kernels) {
      scale_ = share / all, done_ = first + share * before / all;
      try {
        if (!item.only_what_fits) kernel.kernel->require(*operand);
        if (!item.only_what_fits || fits(*kernel.kernel, *operand)) this->kernel(kernel, *operand);
      } catch (const InputError& error) {
        throw InputError(formatted("{}: {}", operand->name, error.what()));
      }
      before += weight_of(kernel);
    }
  }

  void legend() {
    if (found.all.empty() || plan_.trials == 0) return;
    std::string text = "\n";
    for (const auto& row : drivers::legend().rows) text += paint_.dim(formatted("{:<12} {}", row[0], row[1])) + "\n";
    say(text);
  }
  void summary() {
    const Table summary = summary_of(found.all, found.roofs);
    if (summary.rows.size() < 2) return;
    say("\nours beside the fastest baseline: medians, and how many times faster than theirs\n\n" +
        summary.text(paint_));
    if (const Table gains = gains_of(found.all); !gains.rows.empty())
      say("\nover all matrices, how many times faster than theirs: geometric means\n\n" + gains.text(paint_));
  }

  Found found;

 private:
  void measure_roofs() {
    head_ = machine_text(plan_) + "\n";
    if (plan_.trials > 0 && !plan_.warm) found.roofs = roofs_of(plan_);
    for (const auto& [name, said] : lines_of(found.roofs)) head_ += formatted("bandwidth, {:<12}  {}\n", name, said);
  }

  void kernel(const BenchKernel& kernel, Operand& operand) {
    if (kernel.orders.empty()) return tasks(kernel, operand, "");
    const std::size_t first = found.all.size();
    auto& matrix = dynamic_cast<MatrixOperand&>(operand);
    for (const std::string& order : kernel.orders)
      if (order == "natural") {
        tasks(kernel, matrix, order);
      } else {
        MatrixOperand reordered = by_colours(matrix);
        tasks(kernel, reordered, order);
      }
    if (kernel.kernel->orders != Orders::solves) return;
    show(0, operand.name + ": the solves that the sweeps are for");
    auto rows = order_rows(matrix.A, std::span(found.all).subspan(first), found.roofs, *plan_.stop);
    if (rows.empty()) return;
    say("\nthe solve that a sweep is for: to 1e-8 of b = A * ones, preconditioned by a pair of sweeps; setup finds the "
        "order,\ngathers the rows, analyses and copies\n\n" +
        table_of(rows).text(paint_));
    std::ranges::move(rows, std::back_inserter(found.orders));
  }

  void tasks(const BenchKernel& kernel, Operand& operand, const std::string& order) {
    for (const std::int64_t k : kernel.k)
      for (const Layout layout : kernel.layouts) {
        if (*plan_.stop) return;
        step_ = scale_ * weight_of(k);
        auto measured = measure(*kernel.kernel, operand, {.k = k, .layout = layout}, plan_, rivals_);
        for (Measurement& m : measured) m.order = order;
        if (!measured.empty()) say("\n" + text_of(measured, found.roofs, paint_));
        found.all.insert(found.all.end(), measured.begin(), measured.end());
        done_ += step_;
      }
  }

  void show(double part, const std::string& what) { line_.show_share(done_ + part * step_, what); }
  void say(const std::string& text) {
    line_.wipe();
    print(options_, std::exchange(head_said_, true) ? text : head_ + text, options_.csv == "-" || options_.html == "-");
  }

  Plan plan_;
  const BenchTrialOptions& options_;
  std::span<const Rival> rivals_;
  LiveLine line_;
  Paint paint_{Terminal::of(1).colours};
  std::string head_;  // the machine and its roofs, said before the first table
  bool head_said_ = false;
  double done_ = 0, step_ = 0, scale_ = 0;  // shares of the whole: done, of the task at hand, of a weight of 1
};

Json json_of(const Found& found, const Plan& plan, const CommonOptions& options) {
  Json json = json_document("seidel.bench/1", options.command_line);
  json.set("machine", machine_json(plan)).set("interrupted", found.interrupted);
  const auto& [all, roofs, orders, interrupted] = found;
  const double host = roofs.host.empty() ? 0 : roofs.host.rbegin()->second.copy;
  json.set("copy_gb_per_s", Json().set("host", host).set("device", roofs.device.copy));
  json.set("roofs", to_json(roofs));
  json.set("measurements", to_json(all, roofs));
  if (!orders.empty()) json.set("orders", to_json(orders));
  return json;
}

}  // namespace

int run_items(const std::vector<BenchItem>& items, const BenchTrialOptions& options, const Plan& plan,
              std::span<const Rival> rivals) {
  const StopOnSignal stop;
  Walk walk(plan, options, rivals);
  std::exception_ptr fault;
  try {
    for (std::size_t i = 0; i < items.size() && !stop_requested(); ++i)
      walk.item(items[i], double(i) / double(items.size()), 1 / double(items.size()));
  } catch (...) {
    fault = std::current_exception();
  }
  Found& found = walk.found;
  if (fault && found.all.empty()) std::rethrow_exception(fault);
  found.interrupted = stop_requested();
  walk.legend(), walk.summary();
  if (!options.csv.empty()) write_text(options.csv, csv_of(found.all, found.roofs));
  if (!options.html.empty()) write_text(options.html, page_of(found, machine_text(plan), options));
  if (fault) std::rethrow_exception(fault);  // --json then tells of it
  if (!options.json.empty()) write_text(options.json, json_of(found, plan, options).text());
  if (found.interrupted) say_interrupted(options);
  const bool any_wrong = std::ranges::count(found.all, Verdict::wrong, &Measurement::verdict) > 0;
  return any_wrong || found.interrupted ? 1 : 0;
}

}  // namespace seidel::drivers
