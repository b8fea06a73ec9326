// The procedures that transpositions of the study are made of: sorted segments, merges, pointers and indices.
#pragma once
#include <seidel/drivers/bench/kernels/list.hpp>

namespace seidel::drivers {

/// Keys with a number each, in segments of `length`. The answer is one array of Index: all keys, then all numbers.
struct SegmentsTask : Task {
  enum class Step { sort, merge };
  SegmentsTask(Step step, std::int64_t n, std::int64_t length, std::uint64_t seed);
  double error(const Answer& answer) const override;

  Array<Index> pairs;  // all keys, then all numbers; sorted in each segment where they are to be merged
  std::int64_t length;
  Array<Index> expected;
};

/// Rows of 20 entries on average. The answer is one array of Index: the pointers of the rows, or the row of each entry.
struct PointersTask : Task {
  enum class Direction { to_indices, to_pointers };
  PointersTask(Direction direction, std::int64_t n, std::uint64_t seed);
  double error(const Answer& answer) const override;

  Array<Index> given, expected;
};

}  // namespace seidel::drivers
