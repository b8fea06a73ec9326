// What there is to tell of the levels of a hierarchy.
#pragma once
#include <cstdint>
#include <vector>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// What a report tells of a level.
struct LevelFacts {
  std::int64_t rows = 0, nnz = 0;
  std::int64_t prolongation_nnz = 0;   // 0 on the coarsest
  std::int64_t unknowns_per_node = 1;  // rows that aggregates took together; 1 on the coarsest
  double largest_eigenvalue = 0;       // of D^-1 A, as it was estimated
  double strength = 0;                 // the theta that was taken
  std::int64_t lone = 0;               // rows that no coarse row stands for, and that their diagonal does not dominate
  std::int64_t bytes = 0;              // held for it beside A: matrices and vectors
};

namespace facts_detail {
inline double sum_over_finest(const std::vector<LevelFacts>& levels, std::int64_t LevelFacts::*of) {
  double sum = 0;
  for (const LevelFacts& level : levels) sum += double(level.*of);
  return levels.empty() || levels.front().*of == 0 ? 1 : sum / double(levels.front().*of);
}
}  // namespace facts_detail

/// Stored entries of all levels over those of the finest: what a cycle costs in sweeps of the finest.
inline double operator_complexity(const std::vector<LevelFacts>& levels) {
  return facts_detail::sum_over_finest(levels, &LevelFacts::nnz);
}

/// Rows of all levels over those of the finest: what a cycle costs in vectors.
inline double grid_complexity(const std::vector<LevelFacts>& levels) {
  return facts_detail::sum_over_finest(levels, &LevelFacts::rows);
}

}  // namespace seidel
