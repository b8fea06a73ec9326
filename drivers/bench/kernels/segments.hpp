// The procedures that transpositions of the study are made of: sorted segments, merges, pointers and indices.
#pragma once
#include <seidel/drivers/bench/kernels/scan.hpp>

namespace seidel::drivers {

/// How many pairs there are, and how many of them a segment has.
struct SegmentsOperand : Operand {
  std::int64_t n = 0, length = 1;
};

/// Keys with a number each, in segments of `length`. The answer is one array of Index: all keys, then all numbers.
struct SegmentsTask : Task {
  enum class Step { sort, merge };
  SegmentsTask(const SegmentsOperand& of, const TaskOptions& options, Step step);
  double error(const Answer& answer) const override;

  Array<Index> pairs;  // all keys, then all numbers; sorted in each segment where they are to be merged
  std::int64_t length;
  Array<Index> expected;
};

/// Rows of 20 entries on average. The answer is one array of Index: the pointers of the rows, or the row of each entry.
struct PointersTask : Task {
  enum class Direction { to_indices, to_pointers };
  PointersTask(const SizeOperand& of, const TaskOptions& options, Direction direction);
  double error(const Answer& answer) const override;

  Array<Index> given, expected;
};

}  // namespace seidel::drivers
