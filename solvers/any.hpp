// One type for all operators, and one for all preconditioners: what a program holds that learns at run time which it
// is.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include <seidel/kernels/vector_block.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

namespace any_detail {
template <class V>
using Block = decltype(block_like(std::declval<const V&>(), 1));
template <class V>
using Apply = std::function<void(const V& from, V& to)>;
template <class V>
using ApplyColumns = std::function<void(const Block<V>& from, Block<V>& to, std::size_t first, std::size_t count)>;
}  // namespace any_detail

/// Owns any operator on vectors of type V. Copies share it. Cost  one indirect call per application.
template <class V>
class AnyOperator {
  using Block = any_detail::Block<V>;
  using Real = typename V::Real;

 public:
  template <LinearOperator<V> A>
  requires(!std::same_as<A, AnyOperator>) AnyOperator(A matrix) {
    const auto held = std::make_shared<const A>(std::move(matrix));
    nrows_ = held->nrows(), ncols_ = held->ncols();
    apply_ = [held](const V& x, V& y) { held->apply(x, y); };
    apply_dot_ = [held](const V& x, V& y, Real* sum) { seidel::apply_dot(*held, x, y, sum); };
    apply_columns_ = [held](const Block& x, Block& y, std::size_t first, std::size_t count) {
      seidel::apply_columns(*held, x, y, first, count);
    };
    residual_ = [held](const V& x, const V& b, V& r) { seidel::residual(*held, x, b, r); };
    if constexpr (TransposableOperator<A, V>)
      apply_transposed_ = [held](const V& x, V& y) { held->apply_transposed(x, y); };
  }

  std::int64_t nrows() const { return nrows_; }
  std::int64_t ncols() const { return ncols_; }
  void apply(const V& x, V& y) const { apply_(x, y); }
  void apply_dot(const V& x, V& y, Real* sum) const { apply_dot_(x, y, sum); }
  void apply_columns(const Block& x, Block& y, std::size_t first, std::size_t count) const {
    apply_columns_(x, y, first, count);
  }
  void residual(const V& x, const V& b, V& r) const { residual_(x, b, r); }

  /// Whether what is held is a TransposableOperator. If not, its operation must not be called.
  bool is_transposable() const { return bool(apply_transposed_); }
  void apply_transposed(const V& x, V& y) const { apply_transposed_(x, y); }

 private:
  std::int64_t nrows_, ncols_;
  any_detail::Apply<V> apply_, apply_transposed_;
  any_detail::ApplyColumns<V> apply_columns_;
  std::function<void(const V& x, V& y, Real* sum)> apply_dot_;
  std::function<void(const V& x, const V& b, V& r)> residual_;
};

/// Owns any preconditioner of vectors of type V. Copies share it. Cost  one indirect call per application.
template <class V>
class AnyPreconditioner {
  using Block = any_detail::Block<V>;

 public:
  template <Preconditioner<V> M>
  requires(!std::same_as<M, AnyPreconditioner>) AnyPreconditioner(M m) {
    const auto held = std::make_shared<const M>(std::move(m));
    apply_ = [held](const V& r, V& z) { held->apply(r, z); };
    apply_columns_ = [held](const Block& r, Block& z, std::size_t first, std::size_t count) {
      seidel::apply_columns(*held, r, z, first, count);
    };
    is_symmetric_ = [held] { return held->is_symmetric(); };
    is_linear_ = [held] { return seidel::is_linear(*held); };
    diagonal_ = [held] { return diagonal_of<V>(*held); };
    if constexpr (requires { held->bytes(); }) bytes_ = [held] { return held->bytes(); };
    if constexpr (requires { held->describe(); }) describe_ = [held] { return held->describe(); };
    if constexpr (SplitPreconditioner<M, V>) {
      solve_lower_ = [held](const V& r, V& y) { held->solve_lower(r, y); };
      diagonal_of_A_ = [held] { return &held->diagonal_of_A(); };
      split_product_ = [held](const V& u, V& p, V& Ap, V& w) { held->split_product(u, p, Ap, w); };
    }
  }

  void apply(const V& r, V& z) const { apply_(r, z); }
  void apply_columns(const Block& r, Block& z, std::size_t first, std::size_t count) const {
    apply_columns_(r, z, first, count);
  }
  bool is_symmetric() const { return is_symmetric_(); }
  bool is_linear() const { return is_linear_(); }
  const V* diagonal() const { return diagonal_(); }
  /// 0 and "" where what is held does not tell.
  std::int64_t bytes() const { return bytes_ ? bytes_() : 0; }
  std::string describe() const { return describe_ ? describe_() : ""; }

  /// Whether what is held is a SplitPreconditioner. If not, its three operations must not be called.
  bool is_split() const { return bool(split_product_); }
  void solve_lower(const V& r, V& y) const { solve_lower_(r, y); }
  const V& diagonal_of_A() const { return *diagonal_of_A_(); }
  void split_product(const V& u, V& p, V& Ap, V& w) const { split_product_(u, p, Ap, w); }

 private:
  any_detail::Apply<V> apply_, solve_lower_;
  any_detail::ApplyColumns<V> apply_columns_;
  std::function<void(const V& u, V& p, V& Ap, V& w)> split_product_;
  std::function<bool()> is_symmetric_, is_linear_;
  std::function<const V*()> diagonal_, diagonal_of_A_;
  std::function<std::int64_t()> bytes_;
  std::function<std::string()> describe_;
};

}  // namespace seidel
