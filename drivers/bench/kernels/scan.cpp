// Scans: inputs, costs, judge.
#include <seidel/drivers/bench/kernels/scan.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/option_values.hpp>
#include <seidel/drivers/report/text.hpp>

namespace seidel::drivers {

namespace {

constexpr std::int64_t max_size = 4'000'000'000;

std::unique_ptr<Operand> size_of(const std::string& word, const CommonOptions&) {
  auto operand = std::make_unique<SizeOperand>();
  operand->n = number("N", word, whole<std::int64_t>(0, max_size));
  operand->name = word;
  operand->description = plural(operand->n, "entry", "entries");
  return operand;
}

}  // namespace

const OperandKind array_size = {.placeholder = "N",
                                .help = "numbers of entries (20000000)",
                                .example = "20000000",
                                .for_validation = {"0", "1", "4096", "131073", "1000003"},
                                .make = size_of};

const Kernel kernels::scan = {.name = "scan",
                              .help = "an exclusive scan of an array: 32-bit counts into 64-bit offsets",
                              .takes = &array_size,
                              .unless_given = {"20000000"},
                              .make = made<ScanTask, SizeOperand>};

ScanTask::ScanTask(const SizeOperand& of, const TaskOptions&) : counts(of.n) {
  const std::int64_t n = of.n;
  const generators::Stream bits(1, generators::Draw::lengths, 0);
  parallel_for(OpenMP{}, n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      counts[i] = std::int32_t(generators::below(bits(std::uint64_t(i)), 1 << 16));
  });
  flops = double(n);
  bytes = 12 * double(n);
  bytes_model = "12 n";
}

/// Begins at 0, and each step is the count.
double ScanTask::error(const Answer& answer) const {
  const auto offsets = answer.array<std::int64_t>(0);
  if (offsets.size() != counts.size()) return wrong_size;
  return worst_of(offsets.size(), [&](std::int64_t i) {
    return offsets[i] == (i == 0 ? 0 : offsets[i - 1] + counts[i - 1]) ? 0 : not_equal;
  });
}

}  // namespace seidel::drivers
