// Products with one matrix, prepared: what depends on A alone is found once.
#pragma once
#include <algorithm>
#include <optional>
#include <string>

#include <seidel/formats/csr.hpp>
#include <seidel/kernels/blas1/blas1.hpp>
#include <seidel/kernels/blas1/lanczos.hpp>
#include <seidel/kernels/products/row_kinds.hpp>
#include <seidel/kernels/spmm/cuda_csr.hpp>
#include <seidel/kernels/spmm/spmm.hpp>
#include <seidel/kernels/spmv/cuda_csr.hpp>
#include <seidel/kernels/spmv/hubs.hpp>
#include <seidel/kernels/spmv/nodes.hpp>
#include <seidel/kernels/spmv/shares.hpp>
#include <seidel/kernels/spmv/spmv.hpp>
#include <seidel/kernels/spmv/tiles.hpp>

namespace seidel {

/// What the arrays of a matrix in CSR take.
template <class Real, class Offset>
constexpr std::int64_t csr_bytes(std::int64_t nrows, std::int64_t nnz) {
  return nnz * std::int64_t(sizeof(Real) + sizeof(Index)) + (nrows + 1) * std::int64_t(sizeof(Offset));
}
template <class Real, class Offset, class Space>
std::int64_t csr_bytes(const CsrView<Real, Offset, Space>& A) {
  return csr_bytes<Real, Offset>(A.nrows, A.nnz());
}

/// y = A x, r = b - A x and Y = A X for a CSR matrix that stays where it is, in the form that reads the fewest bytes:
/// - kinds of rows, as in stencils: one byte per row and a dictionary (row_kinds.hpp); for one vector, for several in
///   column-major layout, which are taken one by one, and for several in row-major layout, on the host without gaps
/// - on a GPU, columns of nodes: a matrix of full blocks keeps its values and has one column per block (spmv/nodes.hpp); for one
///   vector, and where most rows have more than 64 entries for several
/// - CSR; on a GPU rows of more than 64 entries are listed, so that warps take them in pieces (kernels/spmv/cuda_csr.cu);
///   uneven rows are shared out in tiles, so that warps have about the same to do (kernels/spmv/tiles.hpp), or those of small
///   matrices as if nothing were known of them (kernels/spmv/shares.hpp). In large ones where a few columns have many of the
///   entries, their elements of x are kept in shared memory, and the columns of A once more (kernels/spmv/hubs.hpp)
///
/// Shapes  as spmv and spmm. The arrays of A must outlive this.
/// Cost    preparation reads A, on a GPU twice, where it has kinds, else a few rows; on a GPU the row pointers twice as well, the
///         pattern up to three times where A consists of blocks, and it waits. A product allocates nothing but scratch memory and waits for
///         nothing. Without kinds, on the host, X in column-major layout is brought into row-major first, 2.5 times as fast as
///         reading it as it lies, in memory that is taken the first time and kept: one product at a time then. On a GPU,
///         column-major X or Y without kinds takes scratch memory of up to 32 of their columns.
/// Repeats bit for bit what spmv and spmm give, in every form.
/// Errors  ShapeError; ResourceError where memory is short.
template <class Real_, class Offset, Backend B>
class Product {
 public:
  using Real = Real_;
  using Space = typename B::Space;

  Product(B on, const CsrView<Real, Offset, Space>& A) : on_(std::move(on)), A_(A) {
    if (A.nrows == 0) return;
    if constexpr (!HostBackend<B>) {
      survey_ = spmv_detail::survey_rows(on_, A.row_ptr);
      long_rows_ = spmv_detail::LongRows::of(on_, A.row_ptr, survey_.long_rows);
      spmm_detail::join_rows(on_, A, long_rows_.view());
      if (long_rows_.exact.moderate_pieces > 0)
        long_rows_.exact.joined_rows = copied_to<Host>(on_, long_rows_.counts)[0].joined_rows;
    }
    find_form();
  }
  /// What a Product of such a matrix holds at most; `uneven`: its rows may differ in length (spmv_detail::Hubs::rows_allow).
  static std::int64_t max_bytes(std::int64_t nrows, std::int64_t nnz, bool uneven) {
    const std::int64_t kinds = nrows + RowKinds::max_entries * std::int64_t(sizeof(product_detail::KindEntry<Real>)) +
                               (RowKinds::max_kinds + 1) * std::int64_t(sizeof(Index));
    if constexpr (HostBackend<B>) return kinds;
    return std::max(kinds, spmv_detail::max_long_rows(nrows, nnz, short_sum).bytes() +
                               std::max(spmv_detail::Tiles::bytes_of(nrows, nnz) +
                                            (uneven ? spmv_detail::Hubs::max_bytes<Real>(nnz) : 0),
                                        spmv_detail::Nodes::max_bytes(nrows, nnz)));
  }

  CsrView<Real, Offset, Space> view() const { return A_; }

  /// y = A x.
  void apply(Span<const Real, Space> x, Span<Real, Space> y) const {
    spmv_detail::require_size(x.size(), A_.ncols, "spmv", "x");
    spmv_detail::require_size(y.size(), A_.nrows, "spmv", "y");
    product(x.data(), StoreProduct<Real>{y.data()});
  }
  /// y = A x and *sum = x'y for square A, with the bits of dot(); *sum lies in memory of the back end, or page-locked memory.
  /// Cost  with kinds of rows, that of apply(): x and y are not read again.
  void apply_dot(Span<const Real, Space> x, Span<Real, Space> y, Real* sum) const {
    spmv_detail::require_size(x.size(), y.size(), "apply_dot", "x");
    if (!kinds_) {
      apply(x, y);
      return blas1::leave_sums(on_, x.size(), blas1::Dots<Real, 1>{{x.data()}, {y.data()}}, sum);
    }
    spmv_detail::require_size(y.size(), A_.nrows, "apply_dot", "y");
    product_detail::kinds_product_dot(on_, *kinds_, x.data(), y.data(), sum);
  }
  /// r = b - A x; r may be b.
  void residual(Span<const Real, Space> x, Span<const Real, Space> b, Span<Real, Space> r) const {
    spmv_detail::require_size(x.size(), A_.ncols, "residual", "x");
    spmv_detail::require_size(b.size(), A_.nrows, "residual", "b");
    spmv_detail::require_size(r.size(), A_.nrows, "residual", "r");
    product(x.data(), StoreResidual<Real>{b.data(), r.data()});
  }
  /// Y = A X.
  void apply(MultiVectorView<const Real, Space> X, MultiVectorView<Real, Space> Y) const {
    require_shape(X, A_.ncols, Y.ncols, "spmm", "X");
    require_shape(Y, A_.nrows, X.ncols, "spmm", "Y");
    const bool by_rows = X.layout == Layout::row_major && Y.layout == Layout::row_major;
    const bool by_columns = X.layout == Layout::column_major && Y.layout == Layout::column_major;
    if (by_columns && (kinds_ || X.ncols == 1)) {
      for (std::int64_t j = 0; j < X.ncols; ++j) product(&X(0, j), StoreProduct<Real>{&Y(0, j)});
    } else if constexpr (!HostBackend<B>) {
      by_rows&& kinds_ ? product_detail::kinds_product(on_, *kinds_, X, Y)
                       : spmm_detail::csr_product(on_, A_, long_rows_.view(), X, Y,
                                                  {.is_counted = true,
                                                   .is_uneven = 2 * survey_.variation > std::uint64_t(A_.nnz()),
                                                   .nodes = nodes_ ? &*nodes_ : nullptr});
    } else if (kinds_ && by_rows && X.leading_dimension == X.ncols && Y.leading_dimension == Y.ncols) {
      product_detail::kinds_product(on_, *kinds_, X.ncols, X.data, Y.data);
    } else {
      spmm(on_, A_, X.layout == Layout::column_major && X.ncols > 1 ? side_by_side(X) : X, Y);
    }
  }

  /// New values in the same pattern, which must outlive this too. Kinds of rows are found anew, or given up for the next form if
  /// there are too many now; all else stays as it is. Cost  with kinds reads A and allocates as the constructor, else nothing.
  /// Errors  ShapeError.
  void update_values(Span<const Real, Space> values) {
    spmv_detail::require_size(values.size(), A_.nnz(), "update_values", "the array of values");
    A_.values = values;
    if (kinds_) find_form();
  }
  /// What this holds beside A.
  std::int64_t bytes() const {
    return (kinds_ ? kinds_->bytes()
                   : long_rows_.exact.bytes() + tiles_.bytes() + (nodes_ ? nodes_->bytes() : 0) +
                         (hubs_ ? hubs_->bytes() : 0)) +
           side_by_side_.size() * std::int64_t(sizeof(Real));
  }
  /// What a product with one vector reads of A.
  double bytes_per_nonzero() const {
    const std::int64_t bytes = kinds_   ? kinds_->bytes()
                               : nodes_ ? A_.nnz() * std::int64_t(sizeof(Real)) + nodes_->bytes()
                                        : csr_bytes(A_);
    return A_.nnz() > 0 ? double(bytes) / double(A_.nnz()) : 0;
  }
  bool has_kinds() const { return kinds_.has_value(); }
  std::string describe() const {
    if (kinds_) return plural(kinds_->kinds, "kind") + " of rows";
    if (nodes_) {
      const std::string b = std::to_string(nodes_->rows);
      return plural(nodes_->count(), "node") + " in blocks of " + b + " x " + b;
    }
    const std::int64_t long_rows = long_rows_.exact.rows();
    return (long_rows == 0 ? "CSR" : "CSR, " + plural(long_rows, "row") + " of more than 64 entries listed") +
           (in_shares_       ? ", in equal shares"
            : tiles_.empty() ? ""
                             : ", " + plural(tiles_.view.count, "tile")) +
           (hubs_ ? ", " + plural(hubs_->hubs.size(), "column") + " with many entries in shared memory" : "");
  }

 private:
  using RowKinds = product_detail::RowKinds<Real, Space>;

  void find_form() {
    const bool has_long_rows = long_rows_.exact.pieces() > 0;
    kinds_ = has_long_rows ? std::nullopt : product_detail::find_row_kinds(on_, A_);
    if (kinds_ && kinds_->bytes() > csr_bytes(A_)) kinds_.reset();  // a few rows, most of a kind of their own
    if constexpr (!HostBackend<B>) {
      if (kinds_) return;
      if (!spmv_detail::is_uneven(survey_, A_.nrows, A_.nnz()))
        nodes_ = spmv_detail::find_nodes(on_, A_.row_ptr, A_.col_idx);
      if (nodes_ || !spmv_detail::tiles_pay(survey_, A_.nrows, A_.nnz())) return;
      in_shares_ = spmv_detail::SmallShares::fit(on_, A_.nrows, A_.nnz());
      if (in_shares_)
        spmv_detail::reserve_shares(on_, A_.nnz());
      else
        tiles_ = spmv_detail::Tiles::of(on_, A_.row_ptr, A_.nnz());
      if (!in_shares_ && spmv_detail::Hubs::may_pay(A_.ncols, A_.nnz(), survey_.variation))
        hubs_ = spmv_detail::find_hubs<Real>(on_, A_.ncols, A_.col_idx);
    }
  }
  MultiVectorView<const Real, Space> side_by_side(const MultiVectorView<const Real, Space>& X) const {
    if (side_by_side_.size() < X.nrows * X.ncols) side_by_side_ = Array<Real, Space>(on_, X.nrows * X.ncols);
    blas1::for_each_element(on_, X.nrows,
                            blas1::SideBySide<Real>{X.data, X.leading_dimension, X.ncols, side_by_side_.data()});
    return {X.nrows, X.ncols, X.ncols, Layout::row_major, side_by_side_.data()};
  }
  void product(const Real* x, const auto& store) const {
    if (kinds_)
      product_detail::kinds_product(on_, *kinds_, x, store);
    else if constexpr (HostBackend<B>)
      spmv_detail::product(on_, A_, x, store);
    else if (nodes_)
      spmv_detail::nodes_product(on_, *nodes_, A_.values.data(), x, store);
    else if (in_shares_)
      spmv_detail::shares_product(on_, A_, x, store);
    else if (hubs_)
      spmv_detail::hubs_product(on_, A_, *hubs_, tiles_.view, x, store);
    else if (!tiles_.empty())
      spmv_detail::tiles_product(on_, A_, tiles_.view, x, store);
    else
      spmv_detail::csr_product(on_, A_, long_rows_.view(), spmv_detail::Listing::done, x, store);
  }

  B on_;
  CsrView<Real, Offset, Space> A_;
  spmv_detail::RowSurvey survey_;          // on a GPU
  spmv_detail::LongRows long_rows_;        // empty on the host
  spmv_detail::Tiles tiles_;               // if rows are uneven
  bool in_shares_ = false;                 // instead, in a small matrix
  std::optional<spmv_detail::Hubs> hubs_;  // with tiles, in a large one
  std::optional<spmv_detail::Nodes> nodes_;
  std::optional<RowKinds> kinds_;
  mutable Array<Real, Space> side_by_side_;  // of the columns of the last product
};

template <Backend B, class Real, class Offset>
Product(B, const CsrView<Real, Offset, typename B::Space>&) -> Product<Real, Offset, B>;

}  // namespace seidel
