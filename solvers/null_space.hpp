// Singular systems: a known null space, and what it leaves of b and of x.
#pragma once
#include <vector>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/array.hpp>

namespace seidel {

/// The connected parts of a square matrix: two rows are connected by an entry between them that is not 0, in either direction.
struct ConnectedParts {
  Array<Index> part_of = {};  // of each row, numbered by their first rows
  Index count = 0;
};
/// Cost  4 bytes per row; a look at the first entries of each row, and if these do not connect all, up to one pass over A on one core
///       (Tarjan, Efficiency of a good but not linear set union algorithm, JACM 22(2), 1975).
template <class Offset>
ConnectedParts connected_parts(const OpenMP& on, const CsrView<double, Offset, Host>& A);

/// An orthonormal basis Z of vectors with A Z = 0, or some of them.
///
/// Projections run on one core of the host, in one order: the same bits for every back end that solves.
class NullSpace {
 public:
  NullSpace() = default;

  /// Of each connected part of A whose rows all sum to zero (|sum a_ij| <= 64 eps sum |a_ij|), the constants on it. A row
  /// and column without entries are such a part.
  template <class Offset>
  static NullSpace constants(const CsrView<double, Offset, Host>& A);
  /// The span of the columns of Z, n x k, entry (i, j) at Z[j * n + i]. Errors  ShapeError unless its size is n k.
  static NullSpace spanned_by(std::vector<double> Z, Index n);

  /// How many vectors are in the basis; 0 for a matrix that is not known to be singular.
  std::int64_t dimension() const { return dimension_; }
  bool is_constants() const { return !part_of_.empty(); }
  bool is_one_constant() const { return rows_of_.size() == 1 && rows_of_[0] == part_of_.size(); }  // for all rows

  /// v -= Z Z'v, and ||Z Z'v||: the part of least norm.
  double project(HostSpan<double> v) const;
  /// max_j ||A z_j||_inf / ||A||_inf: of rounding size where A Z = 0. With A' in place of A on the left side.
  enum class Side { right, left };
  template <class Offset>
  double defect(const CsrView<double, Offset, Host>& A, double norm_inf_of_A, Side side) const;

 private:
  Array<Index> part_of_ = {};                    // constants: of each row; -1 where its part is not singular
  std::vector<std::int64_t> rows_of_ = {};       // of each part
  std::vector<std::vector<double>> basis_ = {};  // otherwise
  std::int64_t dimension_ = 0;
};

/// v times the power of two that makes its largest entry 1 to 2, so that squares stay within the range of double; nothing for zeros.
void scale_to_size_1(HostSpan<double> v);

}  // namespace seidel
