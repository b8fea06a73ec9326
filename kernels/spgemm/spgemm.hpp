// Products of sparse matrices, C = A B: once, or again and again with new values in the same patterns.
#pragma once
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

namespace spgemm_detail {

/// What is kept of an analysis: who computes which rows of C, and with what.
template <MemorySpace Space>
struct Plan;

template <>
struct Plan<Host> {
  std::vector<std::int64_t> first_row;  // of each thread, then nrows
  std::int64_t products = 0;
  // What spares the next values the search for columns, by thread; empty where only the result was wanted:
  std::vector<Array<std::uint8_t>> bits;  // which entries of C's row each entry of A contributes to (host_values.hpp)
  std::vector<Array<Index>> place_of;     // of each column in the long row that is computed; empty if none is long

  std::int64_t bytes() const;
};

template <>
struct Plan<Device> {
  static constexpr int nclasses = 9;      // of rows, by their length and how they are computed
  Array<Index, Device> rows;              // those of each class, one class after another; empty if there is only one
  std::int64_t begin[nclasses + 1] = {};  // of each class in `rows`
  // What spares the next values the search for columns; empty where only the result was wanted:
  Array<std::uint8_t, Device>
      contributors;                    // to each entry of C, of rows that are merged: a bit for each entry of A's row
  Array<std::uint8_t, Device> places;  // in C's row of each product, of rows that are hashed: one or two bytes
  Array<std::int64_t, Device> first_place;  // of each row, in bytes
  std::int64_t products = 0;
  double nonzeros_per_row_of_B = 0;

  std::int64_t bytes() const {
    return rows.size() * std::int64_t(sizeof(Index)) + contributors.size() + places.size() +
           first_place.size() * std::int64_t(sizeof(std::int64_t));
  }
};

enum class Wanted { result, result_and_plan };
/// Finds C, whose memory is taken here, and what find_values needs if that is wanted.
template <class Real, class Offset>
[[gnu::used]] Plan<Host> multiply(const OpenMP& on, const CsrView<Real, Offset, Host>& A,
                                  const CsrView<Real, Offset, Host>& B, Csr<Real, Offset, Host>& C, Wanted wanted);
template <class Real, class Offset>
[[gnu::used]] Plan<Device> multiply(const Cuda& on, const CsrView<Real, Offset, Device>& A,
                                    const CsrView<Real, Offset, Device>& B, Csr<Real, Offset, Device>& C,
                                    Wanted wanted);
/// Finds the values of C again.
template <class Real, class Offset>
[[gnu::used]] void find_values(const OpenMP& on, Plan<Host>& plan, const CsrView<Real, Offset, Host>& A,
                               const CsrView<Real, Offset, Host>& B, Csr<Real, Offset, Host>& C);
template <class Real, class Offset>
[[gnu::used]] void find_values(const Cuda& on, Plan<Device>& plan, const CsrView<Real, Offset, Device>& A,
                               const CsrView<Real, Offset, Device>& B, Csr<Real, Offset, Device>& C);

/// Errors  ResourceError if Offset cannot count nnz entries.
template <class Offset>
void require_countable(std::int64_t nnz) {
  if (nnz > std::numeric_limits<Offset>::max())
    throw ResourceError("spgemm: found " + std::to_string(nnz) + " entries of the product, expected at most " +
                        std::to_string(std::numeric_limits<Offset>::max()) + "\n  take 64-bit row pointers");
}

/// Errors  ShapeError unless A B exists.
void require_product(std::int64_t nrows_A, std::int64_t ncols_A, std::int64_t nrows_B, std::int64_t ncols_B);
struct Extent {
  std::int64_t nrows, ncols, nnz;
  friend bool operator==(const Extent&, const Extent&) = default;
};
Extent extent_of(const auto& A) { return {A.nrows, A.ncols, A.nnz()}; }
/// Errors  ShapeError unless `name` still has this shape and as many entries.
void require_same_pattern(const char* name, const Extent& found, const Extent& expected);

}  // namespace spgemm_detail

/// C = A B with what it takes to compute it again when the values of A or B, but not their patterns, have changed:
/// c_ij = sum over k of a_ik b_kj.
///
///   SparseProduct AP(on, A, P);   // finds the pattern, and the values of the first time
///   AP.update_values(A, P);       // A or P has other values
///   spmv(on, AP.C(), x, y);
///
/// Shapes  A is m x l, B is l x n, in CSR with ascending distinct columns; C is m x n, and its columns are ascending and
///         distinct too. A and B may be the same matrix; neither is kept. An entry is stored in C if any a_ik b_kj of it
///         are stored, even if they cancel or are zero.
/// Cost    the pattern once, the values each time: both read the entries of A, and for each the row of B that it meets.
///         New values allocate nothing, and on a GPU wait for nothing and search for no column. bytes() are held.
///         Memory beside C and what is held, on the host: 8 bytes per row of A, 4 per column of B and thread, and C once
///         more where there are less than a million products, or more entries than some of the rows let expect; held is a
///         byte per entry of A and 8 entries of C's row, where that has up to 64; for longer ones 4 per column of B and
///         thread. On a GPU: 8 to 16 bytes per row of A; nothing is guessed or taken per product. Held are, for the next
///         values, a byte per entry of C if any row of A is merged (up to 8 entries and 64 products), and one or two bytes
///         per product of the rows that are hashed (up to 1024 entries of C), with 8 bytes per row.
///         A GPU is waited for three times: products, entries, bytes to hold.
/// Repeats bit for bit on every back end and with any number of threads: s = fma(a_ik, b_kj, s) from s = 0, in the order
///         of the entries k of row i of A, from left to right, however many there are.
/// Errors  ShapeError; ResourceError if C has more entries than Offset can count, before memory is taken for them.
/// Source  Gustavson, Two fast algorithms for sparse matrices, ACM Transactions on Mathematical Software 4, 1978.
template <class Real, class Offset, Backend On>
class SparseProduct {
 public:
  using Space = typename On::Space;
  using View = CsrView<Real, Offset, Space>;

  SparseProduct(const On& on, const View& A, const View& B)
      : on_(on), A_(spgemm_detail::extent_of(A)), B_(spgemm_detail::extent_of(B)) {
    spgemm_detail::require_product(A.nrows, A.ncols, B.nrows, B.ncols);
    plan_ = spgemm_detail::multiply(on_, A, B, C_, spgemm_detail::Wanted::result_and_plan);
  }

  View C() const { return C_.view(); }
  /// Those of C, which a caller may change until the next update_values().
  Span<Real, Space> values() { return C_.values; }

  /// C = A B for matrices of the same patterns as before, which is not checked beyond their shapes and numbers of
  /// entries. Does not allocate. Errors  ShapeError.
  void update_values(const View& A, const View& B) {
    spgemm_detail::require_same_pattern("A", spgemm_detail::extent_of(A), A_);
    spgemm_detail::require_same_pattern("B", spgemm_detail::extent_of(B), B_);
    spgemm_detail::find_values(on_, plan_, A, B, C_);
  }

  /// Terms a_ik b_kj of all sums.
  std::int64_t products() const { return plan_.products; }
  /// Memory held beside A and B: C, and what the next values need.
  std::int64_t bytes() const {
    return plan_.bytes() + C_.row_ptr.size() * std::int64_t(sizeof(Offset)) +
           C_.nnz() * std::int64_t(sizeof(Index) + sizeof(Real));
  }
  /// One phrase for a report.
  std::string describe() const {
    return std::to_string(products()) + " products for " + std::to_string(C_.nnz()) + " entries";
  }

 private:
  On on_;
  spgemm_detail::Extent A_, B_;
  Csr<Real, Offset, Space> C_;
  spgemm_detail::Plan<Space> plan_;
};

/// C = A B, once; as SparseProduct, but for what is held: on a GPU with two waits.
template <Backend On, class Real, class Offset>
Csr<Real, Offset, typename On::Space> spgemm(const On& on, const CsrView<Real, Offset, typename On::Space>& A,
                                             const CsrView<Real, Offset, typename On::Space>& B) {
  spgemm_detail::require_product(A.nrows, A.ncols, B.nrows, B.ncols);
  Csr<Real, Offset, typename On::Space> C;
  spgemm_detail::multiply(on, A, B, C, spgemm_detail::Wanted::result);
  return C;
}

}  // namespace seidel
