// Finds the lattice of a matrix, and the row that disagrees.
#include <seidel/formats/lattice.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <span>
#include <vector>

#include <seidel/formats/runtime/shares.hpp>
#include <seidel/formats/statistics.hpp>

namespace seidel {

namespace {

/// Coordinates of a point.
struct Point {
  Index x, y, z;
};
Point point_of(const Lattice& lattice, std::int64_t i) {
  const Index line = Index(i) / lattice.nx, z = line / lattice.ny;
  return {Index(i) - line * lattice.nx, line - z * lattice.ny, z};
}
bool neighbours(const Point& p, const Point& q) {
  return std::abs(q.x - p.x) <= 1 && std::abs(q.y - p.y) <= 1 && std::abs(q.z - p.z) <= 1;
}
/// Whether all its neighbours are points of the lattice, as far as there is more than one point along a direction.
bool is_inner(const Lattice& lattice, const Point& p) {
  const auto inner = [](Index at, Index n) { return n == 1 || (at > 0 && at < n - 1); };
  return inner(p.x, lattice.nx) && inner(p.y, lattice.ny) && inner(p.z, lattice.nz);
}
std::string to_string(const Point& p) {
  std::string text;
  for (const Index at : {p.x, p.y, p.z}) text += (text.empty() ? "(" : ", ") + std::to_string(at + 1);
  return text + ")";
}

/// That of n points of which one has neighbours so far behind it, ascending.
std::optional<Lattice> shown_by(const std::vector<std::int64_t>& distances, std::int64_t n) {
  if (distances.empty() || distances[0] != 1) return {};
  if (distances.size() == 1) return Lattice{.nx = Index(n)};
  // Behind the next point lies the next line: one point of it, or three, of which the one in the middle is nx away.
  const std::int64_t line = distances[1];
  const std::size_t of_line = distances.size() >= 4 && distances[3] == line + 2 ? 3 : 1, planes = 1 + of_line;
  const std::int64_t nx = line + std::int64_t(of_line / 2);
  if (distances.size() == planes) {
    if (n % nx != 0) return {};
    return Lattice{.nx = Index(nx), .ny = Index(n / nx)};
  }
  // Then the next plane, 1, 5 or 9 points of it, of which again the one in the middle is nx ny away.
  if ((distances.size() - planes) % 2 == 0) return {};
  const std::int64_t plane = distances[planes + (distances.size() - planes) / 2];
  if (plane % nx != 0 || n % plane != 0) return {};
  return Lattice{.nx = Index(nx), .ny = Index(plane / nx), .nz = Index(n / plane)};
}

}  // namespace

std::string to_string(const Lattice& lattice) {
  std::string text = std::to_string(lattice.nx);
  if (lattice.ny > 1 || lattice.nz > 1) text += " x " + std::to_string(lattice.ny);
  if (lattice.nz > 1) text += " x " + std::to_string(lattice.nz);
  return text;
}

template <class Offset>
FoundLattice find_lattice(const OpenMP& on, const CsrView<double, Offset, Host>& A) {
  if (A.nrows != A.ncols || A.nrows == 0)
    return {.lattice = {}, .otherwise = "the matrix is not square, or has no rows"};
  const std::int64_t widest = row_statistics(on, A).longest_row;
  std::vector<std::int64_t> distances;
  for (Offset k = A.row_ptr[widest]; k < A.row_ptr[widest + 1]; ++k)
    if (A.col_idx[k] > widest) distances.push_back(A.col_idx[k] - widest);
  const std::string name_of_widest = "row " + std::to_string(widest + 1);
  const std::optional<Lattice> lattice = shown_by(distances, A.nrows);
  if (!lattice)
    return {.lattice = {},
            .otherwise = A.nrows == 1 ? "one row is one point, which has no neighbours"
                                      : name_of_widest + ", the first with the most entries, is coupled to " +
                                            (distances.empty()
                                                 ? "no row behind it"
                                                 : "rows that are not the neighbours of a point, counted line by line "
                                                   "and plane by plane")};
  const auto neighbour = [&](std::int64_t i, Index column) {
    return neighbours(point_of(*lattice, i), point_of(*lattice, column));
  };
  // Most rows are at the same distances as the widest one, and inner points: no entry needs a division then.
  const std::span<const Index> stencil{A.col_idx.data() + A.row_ptr[widest], A.col_idx.data() + A.row_ptr[widest + 1]};
  const bool of_neighbours =
      std::all_of(stencil.begin(), stencil.end(), [&](Index column) { return neighbour(widest, column); });
  const auto like_widest = [&](std::int64_t i) {
    const Index* const columns = A.col_idx.data() + A.row_ptr[i];
    bool like = A.row_ptr[i + 1] - A.row_ptr[i] == Offset(stencil.size());
    for (std::size_t k = 0; like && k < stencil.size(); ++k) like = columns[k] - i == stencil[k] - widest;
    return like;
  };
  const auto stranger = [&](std::int64_t i) {  // the first column of a row that is no neighbour, or -1
    if (of_neighbours && is_inner(*lattice, point_of(*lattice, i)) && like_widest(i)) return Index(-1);
    for (Offset k = A.row_ptr[i]; k < A.row_ptr[i + 1]; ++k)
      if (!neighbour(i, A.col_idx[k])) return A.col_idx[k];
    return Index(-1);
  };
  const std::int64_t row = first_row_where(on, A.row_ptr, [&](std::int64_t i) { return stranger(i) >= 0; });
  if (row == A.nrows) return {.lattice = *lattice, .otherwise = {}};
  const Index column = stranger(row);
  return {.lattice = {},
          .otherwise = "row " + std::to_string(row + 1) + " is coupled to row " + std::to_string(column + 1) +
                       ", but the points " + to_string(point_of(*lattice, row)) + " and " +
                       to_string(point_of(*lattice, column)) + " are no neighbours on the lattice of " +
                       to_string(*lattice) + " points that " + name_of_widest + " shows"};
}

template FoundLattice find_lattice(const OpenMP&, const CsrView<double, std::int32_t, Host>&);
template FoundLattice find_lattice(const OpenMP&, const CsrView<double, std::int64_t, Host>&);

}  // namespace seidel
