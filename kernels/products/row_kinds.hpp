// Rows of a stencil by their kinds: what is read of the matrix is one byte per row.
#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/multivector.hpp>
#include <seidel/kernels/spmv/row.hpp>

namespace seidel::product_detail {

// Whether rows stand in lines and planes, as the points of a lattice do: told by what an inner row adds up.

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

/// An entry of a row, relative to where the row stands.
template <class Real>
struct alignas(2 * sizeof(Real)) KindEntry {
  Real value;
  Index offset;  // column - row
};

/// The kinds of the rows of a matrix. Two rows are of one kind if they have the same values, bit for bit, in the same columns
/// relative to the row: so A is what the kinds say, and nothing is lost. Their numbers mean nothing.
template <class Real, MemorySpace Space = Device>
struct RowKinds {
  static constexpr int max_kinds = 255, max_entries = 1984;  // what fits the shared memory of a block

  Index nrows = 0;
  Index kinds = 0, entry_count = 0;
  Array<std::uint8_t, Space> kind;        // of each row
  Array<Index, Space> first;              // kinds + 1 places in `entries`
  Array<KindEntry<Real>, Space> entries;  // kind by kind, each in the order of the row
  Lattice lattice = {};                   // on a GPU

  std::int64_t bytes() const {
    return nrows + (kinds + 1) * std::int64_t(sizeof(Index)) + entry_count * std::int64_t(sizeof(KindEntry<Real>));
  }
};

/// The kinds of A, or none if there are too many, or a row has more than 64 entries.
/// Cost    reads A once; on a GPU it waits three times. An unfit matrix is left after a few of its rows.
template <class Real, class Offset>
[[gnu::used]] std::optional<RowKinds<Real, Host>> find_row_kinds(const OpenMP& on,
                                                                 const CsrView<Real, Offset, Host>& A);
template <class Real, class Offset>
[[gnu::used]] std::optional<RowKinds<Real>> find_row_kinds(const Cuda& on, const CsrView<Real, Offset, Device>& A);

/// store(row, sum of the row's products with x) for each row.
template <class Real, class Store>
[[gnu::used]] void kinds_product(const OpenMP& on, const RowKinds<Real, Host>& A, const Real* x, const Store& store);
template <class Real, class Store>
[[gnu::used]] void kinds_product(const Cuda& on, const RowKinds<Real>& A, const Real* x, const Store& store);

/// y = A x and *sum = x'y, for a square A: that of dot(), left in the memory of the back end. y must not overlap x.
/// Cost    reads A and x once, writes y. Cuda: two launches; does not wait.
template <class Real>
[[gnu::used]] void kinds_product_dot(const OpenMP& on, const RowKinds<Real, Host>& A, const Real* x, Real* y,
                                     Real* sum);
template <class Real>
[[gnu::used]] void kinds_product_dot(const Cuda& on, const RowKinds<Real>& A, const Real* x, Real* y, Real* sum);

/// Y = A X for k vectors side by side: X and Y are row-major, on the host without gaps.
template <class Real>
[[gnu::used]] void kinds_product(const OpenMP& on, const RowKinds<Real, Host>& A, std::int64_t k, const Real* X,
                                 Real* Y);
template <class Real>
void kinds_product(const Cuda& on, const RowKinds<Real>& A, const MultiVectorView<const Real, Device>& X,
                   const MultiVectorView<Real, Device>& Y);

}  // namespace seidel::product_detail
