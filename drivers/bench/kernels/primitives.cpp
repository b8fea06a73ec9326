// Scans, segments, pointers and indices: inputs, costs, judges. Transpositions of the study are made of them.
#include <algorithm>
#include <numeric>
#include <vector>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/bench/kernels/tasks.hpp>
#include <seidel/drivers/option_values.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/kernels/primitives/segments.hpp>

namespace seidel::drivers {

namespace {

constexpr std::int64_t max_entries = 4'000'000'000;

std::unique_ptr<Operand> size_of(const std::string& word, const CommonOptions&) {
  auto operand = std::make_unique<SizeOperand>();
  operand->n = number("N", word, whole<std::int64_t>(0, max_entries));
  operand->name = word;
  operand->description = plural(operand->n, "entry", "entries");
  return operand;
}

const OperandKind array_size = {.placeholder = "N",
                                .help = "numbers of entries (20000000)",
                                .example = "20000000",
                                .for_validation = {"0", "1", "4096", "131073", "1000003"},
                                .make = size_of};

constexpr std::int64_t max_pairs = 1'000'000'000;  // two arrays of so many numbers

/// Segments are half of the array unless their length is given.
std::unique_ptr<Operand> segments_of(const std::string& word, const CommonOptions&) {
  const std::size_t colon = word.find(':');
  auto operand = std::make_unique<SegmentsOperand>();
  operand->name = word;
  operand->n = number("N", word.substr(0, colon), whole<std::int64_t>(0, max_pairs));
  operand->length = colon == word.npos ? std::max<std::int64_t>((operand->n + 1) / 2, 1)
                                       : number("LENGTH", word.substr(colon + 1), whole<std::int64_t>(1, max_pairs));
  operand->description = formatted("{} in segments of {}", plural(operand->n, "pair"), count(operand->length));
  return operand;
}

const OperandKind segments = {.placeholder = "N:LENGTH",
                              .help = "numbers of pairs and the length of their segments (20000000:128)",
                              .example = "20000000:128",
                              .for_validation = {"0", "1:1", "20011:7", "100003:128", "100003:1000"},
                              .make = segments_of};

void require_short_segments(const Operand& operand) {
  if (const auto length = dynamic_cast<const SegmentsOperand&>(operand).length; length > max_sorted_segment)
    throw InputError(
        formatted("LENGTH: found {}, expected at most {}: a segment is sorted in the shared memory of a block", length,
                  max_sorted_segment));
}

/// The pairs sorted in each segment of `length`, stably.
Array<Index> sorted_in_segments(const Array<Index>& pairs, std::int64_t length) {
  const std::int64_t n = pairs.size() / 2;
  std::vector<Index> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (std::int64_t first = 0; first < n; first += length)
    std::stable_sort(order.begin() + first, order.begin() + std::min(first + length, n),
                     [&](Index a, Index b) { return pairs[a] < pairs[b]; });
  Array<Index> sorted(2 * n);
  for (std::int64_t k = 0; k < n; ++k) {
    sorted[k] = pairs[order[std::size_t(k)]];
    sorted[n + k] = pairs[n + order[std::size_t(k)]];
  }
  return sorted;
}

double error_of(HostSpan<const Index> found, const Array<Index>& expected) {
  if (found.size() != expected.size()) return wrong_size;
  return worst_of(found.size(), [&](std::int64_t k) { return found[k] == expected[k] ? 0 : not_equal; });
}

}  // namespace

const Kernel kernels::scan = {.name = "scan",
                              .help = "an exclusive scan of an array: 32-bit counts into 64-bit offsets",
                              .takes = &array_size,
                              .unless_given = {"20000000"},
                              .make = made<ScanTask, SizeOperand>};

const Kernel kernels::sort_segments = {.name = "sort-segments",
                                       .help = "segments of pairs sorted by key, stably, and a copy of them before",
                                       .takes = &segments,
                                       .unless_given = {"20000000:128"},
                                       .require = require_short_segments,
                                       .make = made<SegmentsTask, SegmentsOperand, SegmentsTask::Step::sort>};

const Kernel kernels::merge_segments = {.name = "merge-segments",
                                        .help = "each two neighbouring sorted segments merged into one",
                                        .takes = &segments,
                                        .unless_given = {"20000000:128", "20000000:10000000"},
                                        .make = made<SegmentsTask, SegmentsOperand, SegmentsTask::Step::merge>};

const Kernel kernels::pointers_to_indices = {
    .name = "pointers-to-indices",
    .help = "the row of each entry, from the pointers of the rows",
    .takes = &array_size,
    .unless_given = {"20000000"},
    .make = made<PointersTask, SizeOperand, PointersTask::Direction::to_indices>};

const Kernel kernels::indices_to_pointers = {
    .name = "indices-to-pointers",
    .help = "the pointers of the rows, from the row of each entry",
    .takes = &array_size,
    .unless_given = {"20000000"},
    .make = made<PointersTask, SizeOperand, PointersTask::Direction::to_pointers>};

ScanTask::ScanTask(const SizeOperand& of, const TaskOptions&) : counts(of.n) {
  const std::int64_t n = of.n;
  const generators::Stream bits(1, generators::Draw::lengths, 0);
  parallel_for(OpenMP{}, n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      counts[i] = std::int32_t(generators::below(bits(std::uint64_t(i)), 1 << 16));
  });
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

SegmentsTask::SegmentsTask(const SegmentsOperand& of, const TaskOptions&, Step step)
    : pairs(2 * of.n), length(of.length) {
  const std::int64_t n = of.n;
  const generators::Stream bits(1, generators::Draw::columns, 0);
  for (std::int64_t k = 0; k < n; ++k) {
    pairs[k] = Index(generators::below(bits(std::uint64_t(k)), std::uint64_t(n)));
    pairs[n + k] = Index(k);
  }
  if (step == Step::merge) pairs = sorted_in_segments(pairs, length);
  expected = sorted_in_segments(pairs, step == Step::merge ? 2 * length : length);
  bytes = 16 * double(n);
  bytes_model = "16 n";
}

double SegmentsTask::error(const Answer& answer) const { return error_of(answer.array<Index>(0), expected); }

PointersTask::PointersTask(const SizeOperand& of, const TaskOptions&, Direction direction) {
  const std::int64_t n = of.n, nrows = n / 20 + 1;
  const generators::Stream bits(1, generators::Draw::columns, 0);
  Array<Index> rows(n), pointers(nrows + 1, 0);
  for (std::int64_t k = 0; k < n; ++k) {
    rows[k] = Index(generators::below(bits(std::uint64_t(k)), std::uint64_t(nrows)));
    ++pointers[rows[k] + 1];
  }
  std::partial_sum(pointers.begin(), pointers.end(), pointers.begin());
  std::sort(rows.begin(), rows.end());
  given = std::move(rows), expected = std::move(pointers);
  if (direction == Direction::to_indices) std::swap(given, expected);
  bytes = 4 * double(n + nrows + 1);
  bytes_model = "4 n + 4 rows";
}

double PointersTask::error(const Answer& answer) const { return error_of(answer.array<Index>(0), expected); }

}  // namespace seidel::drivers
