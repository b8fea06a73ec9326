// Kinds of rows on the host: found by comparing each row with the kind that is likely; products of many rows at once.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/shares.hpp>
#include <seidel/kernels/blas1/host_sums.hpp>
#include <seidel/kernels/products/host_kinds.hpp>

namespace seidel::product_detail {

namespace {

/// The kinds of some rows of a matrix, in the order in which they appear.
template <class Real, class Offset>
class KindFinder {
 public:
  explicit KindFinder(const CsrView<Real, Offset, Host>& A) : A_(A), follows_(Kinds::max_kinds + 1, 0) {}

  /// The kind of a row, or none if there are too many or the search for them takes too long. What came after the kind of
  /// the row before is tried first.
  int kind_of(std::int64_t row) {
    int& likely = follows_[std::size_t(before_)];
    if (likely == kinds() || !is_of_kind(row, likely)) {
      for (likely = 0; likely < kinds() && !is_of_kind(row, likely);) ++likely;
      searched_ += likely;
      if (likely == kinds() && !add(row)) return none;
    }
    constexpr std::int64_t max_searched = 1 << 16, max_searched_per_row = 8;
    return searched_ > max_searched + max_searched_per_row * ++rows_ ? none : before_ = likely;
  }
  int kinds() const { return int(first_rows_.size()); }
  /// The first row of each.
  const std::vector<std::int64_t>& first_rows() const { return first_rows_; }
  Index entry_count() const { return entry_count_; }

  static constexpr int none = -1;

 private:
  using Kinds = RowKinds<Real, Host>;

  bool is_of_kind(std::int64_t row, int kind) const {
    const std::int64_t other = first_rows_[std::size_t(kind)], first = A_.row_ptr[row], at = A_.row_ptr[other];
    const std::int64_t length = A_.row_ptr[row + 1] - first;
    if (A_.row_ptr[other + 1] - at != length) return false;
    const Index apart = Index(row - other);
    const Index *const columns = A_.col_idx.data() + first, *const others = A_.col_idx.data() + at;
    Index differing = 0;
    for (std::int64_t k = 0; k < length; ++k) differing |= (columns[k] - apart) ^ others[k];
    return differing == 0 && (length == 0 || std::memcmp(A_.values.data() + first, A_.values.data() + at,
                                                         std::size_t(length) * sizeof(Real)) == 0);
  }
  bool add(std::int64_t row) {
    const std::int64_t length = A_.row_ptr[row + 1] - A_.row_ptr[row];
    if (kinds() == Kinds::max_kinds || length > short_sum || entry_count_ + length > Kinds::max_entries) return false;
    entry_count_ += Index(length);
    first_rows_.push_back(row);
    return true;
  }

  const CsrView<Real, Offset, Host> A_;
  std::vector<std::int64_t> first_rows_;
  std::vector<int> follows_;  // by kind: the one that came after it the last time
  int before_ = 0;
  Index entry_count_ = 0;
  std::int64_t searched_ = 0, rows_ = 0;
};

}  // namespace

template <class Real, class Offset>
std::optional<RowKinds<Real, Host>> find_row_kinds(const OpenMP& on, const CsrView<Real, Offset, Host>& A) {
  using Finder = KindFinder<Real, Offset>;
  struct Share {
    Range rows;
    std::vector<std::int64_t> first_rows;
  };
  std::vector<Share> shares(std::size_t(std::max(1, on.threads)));
  std::atomic<bool> fit = true;
  RowKinds<Real, Host> found{.nrows = A.nrows, .kind = Array<std::uint8_t>(A.nrows), .first = {}, .entries = {}};
  for_each_in_turn(on, std::int64_t(shares.size()), [&](std::int64_t share, int) {
    const Range rows = share_by_nonzeros(A.row_ptr, int(share), int(shares.size()));
    Finder finder(A);
    for (std::int64_t row = rows.first; row < rows.last && fit.load(std::memory_order_relaxed); ++row) {
      const int kind = finder.kind_of(row);
      if (kind == Finder::none) fit = false;
      found.kind[row] = std::uint8_t(kind);
    }
    shares[std::size_t(share)] = {rows, finder.first_rows()};
  });
  if (!fit) return {};

  Finder all(A);  // the kinds of the shares, in the order of their rows
  for (const Share& share : shares) {
    std::vector<std::uint8_t> number;
    for (const std::int64_t row : share.first_rows) {
      const int kind = all.kind_of(row);
      if (kind == Finder::none) return {};
      number.push_back(std::uint8_t(kind));
    }
    for (std::int64_t row = share.rows.first; &share != &shares.front() && row < share.rows.last; ++row)
      found.kind[row] = number[found.kind[row]];
  }
  found.kinds = all.kinds();
  found.entry_count = all.entry_count();
  found.first = Array<Index>(found.kinds + std::int64_t(1));
  found.entries = Array<KindEntry<Real>>(found.entry_count);
  Index at = 0;
  for (int kind = 0; kind < found.kinds; ++kind) {
    const std::int64_t row = all.first_rows()[std::size_t(kind)];
    found.first[kind] = at;
    for (Offset k = A.row_ptr[row]; k < A.row_ptr[row + 1]; ++k)
      found.entries[at++] = {A.values[k], Index(A.col_idx[k] - row)};
  }
  found.first[found.kinds] = at;
  return found;
}

namespace {

/// y = A x, the sum x'y: a pass of blas1/host_sums.hpp.
template <class Real>
struct ProductAndDot {
  static constexpr int nsums = 1;
  const RowKinds<Real, Host>& A;
  const Real* x;
  Real* y;
  void update_all(std::int64_t first, std::int64_t last) const {
    rows_of_kinds(A, first, last, 1, x, [y = y](std::int64_t row, Real s) { y[row] = s; });
  }
  std::int64_t load(std::int64_t i) const { return i; }
  template <int>
  Real term(std::int64_t i, Real s) const {
    return std::fma(x[i], y[i], s);
  }
};

}  // namespace

template <class Real, class Store>
void kinds_product(const OpenMP& on, const RowKinds<Real, Host>& A, const Real* x, const Store& store) {
  each_element(on, A, 1, x, [&](std::int64_t row, Real s) { store(Index(row), s); });
}
template <class Real>
void kinds_product(const OpenMP& on, const RowKinds<Real, Host>& A, std::int64_t k, const Real* X, Real* Y) {
  each_element(on, A, k, X, [&](std::int64_t element, Real s) { Y[element] = s; });
}

template <class Real>
void kinds_product_dot(const OpenMP& on, const RowKinds<Real, Host>& A, const Real* x, Real* y, Real* sum) {
  blas1::sum_over(on, A.nrows, ProductAndDot<Real>{A, x, y}, sum);
}

/// Never called: names every function, so that its code is emitted here.
void instances(const OpenMP& on) {
  with_each_real([&]<class Real>(Real* x) {
    const RowKinds<Real, Host> A;
    kinds_product(on, A, x, StoreProduct<Real>{x});
    kinds_product(on, A, x, StoreResidual<Real>{x, x});
    kinds_product(on, A, 1, x, x);
    kinds_product_dot(on, A, x, x, x);
  });
  with_each_csr<Host>([&](const auto& A, auto*) { find_row_kinds(on, A); });
}

}  // namespace seidel::product_detail
