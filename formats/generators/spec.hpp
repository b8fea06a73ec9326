// Shared by all generators: description, arguments, memory for the result.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::generators {

using Matrix = Csr<double, std::int64_t>;
using Sized = std::function<void(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz)>;

class Spec;
struct Stencil;  // lattice.hpp

struct Generator {
  std::string_view name, grammar, example, meaning;
  Matrix (*make)(const OpenMP& on, const Spec& spec, std::uint64_t seed) = nullptr;
  Matrix (*coordinates)(const Spec& spec) = nullptr;  // of its points, a row each, every entry stored
  Stencil (*stencil)(const Spec& spec) = nullptr;  // in place of make, where the matrix is that of a stencil on a box
};

/// Sizes of a lattice; the last ones are 1 below three dimensions.
struct Box {
  int dimensions;
  std::int64_t nx, ny, nz;

  std::int64_t size() const { return nx * ny * nz; }
};

/// name:first:second..., the arguments between colons. Every function that reads an argument throws UsageError if it is
/// not what it should be.
class Spec {
 public:
  Spec(std::string_view text, const Generator& generator, const Sized& sized);

  const std::string& text() const { return text_; }
  int arguments() const { return int(arguments_.size()); }
  void require_arguments(int least, int most) const;
  /// Argument `number` (from 0), an integer low ... high.
  std::int64_t integer(int number, std::int64_t low, std::int64_t high) const;
  /// Integers separated by x.
  std::vector<std::int64_t> product(int number) const;
  /// N (all sides alike) or NXxNY or NXxNYxNZ: `least` to `most` sides, and N means `least` sides. With `unknowns`
  /// per node, all of them together stay within the range of an index.
  Box box(int number, int least, int most, std::int64_t unknowns = 1) const;
  /// Numbers of at most 1e100, separated by commas.
  std::vector<double> reals(int number) const;
  std::string_view word(int number) const { return arguments_[number]; }
  /// To whom the matrix is for: so large will it be.
  void tell_size(std::int64_t nrows, std::int64_t ncols, std::int64_t nnz) const {
    if (sized_) sized_(nrows, ncols, nnz);
  }
  [[noreturn]] void refuse(std::string_view found, const std::string& expected) const;

 private:
  std::string text_;
  const Generator* generator_;
  const Sized& sized_;
  std::vector<std::string_view> arguments_;
};

/// Allocates the result if there is memory for it and `temporary_bytes` more. row_ptr[0] is set.
Matrix room_for(const Spec& spec, std::int64_t nrows, std::int64_t ncols, std::int64_t nnz,
                std::int64_t temporary_bytes = 0);
/// Tells the size to whom it was asked for, and refuses if the memory is not there.
void require_room(const Spec& spec, std::int64_t nrows, std::int64_t ncols, std::int64_t nnz,
                  std::int64_t temporary_bytes = 0);

/// Calls fill(row, columns, values) for every row, in parallel; row_ptr is set.
void fill_rows(const OpenMP& on, Matrix& A, const auto& fill) {
  for_row_shares(on, HostSpan<const std::int64_t>(A.row_ptr), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t i = first; i < last; ++i)
      fill(i, A.col_idx.data() + A.row_ptr[i], A.values.data() + A.row_ptr[i]);
  });
}

/// The matrix whose row i has length(i) entries, which fill(i, columns, values) writes in ascending order.
Matrix by_rows(const OpenMP& on, const Spec& spec, std::int64_t nrows, std::int64_t ncols, const auto& length,
               const auto& fill) {
  require_room(spec, nrows, ncols, 0);
  Array<std::int64_t> row_ptr(nrows + 1);
  for_each_index(on, nrows, 1, [&](std::int64_t i) { row_ptr[i + 1] = length(i); });
  offsets_from_lengths(on, row_ptr);
  require_room(spec, 0, ncols, row_ptr[nrows]);
  Matrix A{Index(nrows), Index(ncols), std::move(row_ptr), {}, {}};
  A.take_entries(on, A.row_ptr[nrows]);
  fill_rows(on, A, fill);
  return A;
}

/// The matrix whose row i has the entries that each(i, visit) visits by visit(column, value), in ascending order; once
/// to count them, and once to write them.
Matrix by_entries(const OpenMP& on, const Spec& spec, std::int64_t nrows, std::int64_t ncols, const auto& each) {
  return by_rows(
      on, spec, nrows, ncols,
      [&](std::int64_t i) {
        std::int64_t length = 0;
        each(i, [&](std::int64_t, double) { ++length; });
        return length;
      },
      [&](std::int64_t i, Index* columns, double* values) {
        each(i, [&](std::int64_t j, double value) { *columns++ = Index(j), *values++ = value; });
      });
}

}  // namespace seidel::generators
