// Whether rows stand in lines and planes, as the points of a lattice do: told by what an inner row adds up.
#pragma once
#include <span>
#include <vector>

#include <seidel/formats/runtime/types.hpp>

namespace seidel::product_detail {

/// Row i + (j + l lines) line is point i of line j of plane l.
struct Lattice {
  Index line;   // points of a line; all rows where no lines are seen
  Index lines;  // of a plane
};

/// The lattice that an inner row suggests, whose columns relative to the row are `offsets`, ascending. It is a guess: let speed
/// alone depend on it.
inline Lattice lattice_of(std::span<const Index> offsets, Index nrows) {
  constexpr Index min_line = 16;
  std::vector<Index> centres;  // of the runs of neighbouring columns behind that of the row itself
  for (std::size_t first = 0, last = 0; first < offsets.size(); first = last) {
    last = first + 1;
    while (last < offsets.size() && offsets[last] == offsets[last - 1] + 1) ++last;
    if (offsets[first] > 1) centres.push_back(offsets[first] + (offsets[last - 1] - offsets[first]) / 2);
  }
  if (centres.empty() || centres[0] < min_line || centres[0] >= nrows) return {.line = nrows, .lines = 1};
  const Index line = centres[0], all_lines = nrows / line + (nrows % line > 0);
  if (centres.size() == 1) return {.line = line, .lines = all_lines};
  const Index plane = centres[1 + (centres.size() - 1) / 2];  // the middle one of those that are left
  return {.line = line, .lines = plane / line + (plane % line > line / 2)};
}

}  // namespace seidel::product_detail
