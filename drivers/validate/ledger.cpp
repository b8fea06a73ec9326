// What validate saw.
#include <algorithm>
#include <cstring>

#include <seidel/drivers/report/text.hpp>
#include <seidel/drivers/validate/checks.hpp>

namespace seidel::drivers {

Cell& Ledger::cell(const std::string& kernel, const std::string& format) {
  auto row =
      std::find_if(rows_.begin(), rows_.end(), [&](const auto& r) { return r.kernel == kernel && r.format == format; });
  if (row == rows_.end()) {  // beside the other rows of its kernel
    const auto last = std::find_if(rows_.rbegin(), rows_.rend(), [&](const auto& r) { return r.kernel == kernel; });
    row = rows_.insert(last == rows_.rend() ? rows_.end() : last.base(),
                       {kernel, format, std::vector<Cell>(backends_.size())});
  }
  return row->cells[backend_];
}

void Ledger::fault(const std::string& kernel, const std::string& format, const std::string& what) {
  ++cell(kernel, format).wrong;
  faults_.push_back(formatted("{} of {} in {} on {}: {}", kernel, matrix_, format, backends_[backend_], what));
}

void Ledger::within(const std::string& kernel, const std::string& format, double error) {
  Cell& at = cell(kernel, format);
  ++at.checks;
  at.measured = true;
  if (!(error <= at.worst)) at.worst = error;
  if (!(error <= 1)) fault(kernel, format, formatted("the error is {:.3g} times its bound", error));
}

void Ledger::holds(const std::string& kernel, const std::string& format, bool yes, const std::string& unless) {
  ++cell(kernel, format).checks;
  if (!yes) fault(kernel, format, unless);
}

void Ledger::same(const std::string& kernel, const std::string& format, const std::string& what,
                  std::span<const double> values) {
  ++cell(kernel, format).checks;
  const auto [first, is_new] = first_.try_emplace(what, values.begin(), values.end());
  if (is_new) return;
  const auto& expected = first->second;
  if (values.size() == expected.size() &&
      (values.empty() || std::memcmp(values.data(), expected.data(), values.size() * sizeof(double)) == 0))
    return;
  std::size_t i = 0;
  while (i < std::min(values.size(), expected.size()) && values[i] == expected[i]) ++i;
  fault(kernel, format,
        i < std::min(values.size(), expected.size())
            ? formatted("{}, entry {}: found {}, expected the bits of {}", what, i + 1, values[i], expected[i])
            : formatted("{}: found {}, expected {}, to the bit", what,
                        plural(std::int64_t(values.size()), "entry", "entries"), expected.size()));
}

void Ledger::ran(const std::string& kernel, const std::string& format, bool reached) {
  Cell& at = cell(kernel, format);
  ++at.runs;
  at.reached += reached;
}

std::int64_t Ledger::checks() const {
  std::int64_t all = 0;
  for (const auto& row : rows_)
    for (const auto& cell : row.cells) all += cell.checks;
  return all;
}

}  // namespace seidel::drivers
