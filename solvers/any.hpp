// One type for all operators, and one for all preconditioners: what a program holds that learns at run time which it
// is.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include <seidel/kernels/vector_block.hpp>
#include <seidel/solvers/concepts.hpp>

namespace seidel {

namespace any_detail {
template <class V>
using Block = decltype(block_like(std::declval<const V&>(), 1));
}

/// Owns any operator on vectors of type V. Copies share it. Cost  one virtual call an application.
template <class V>
class AnyOperator {
  using Block = any_detail::Block<V>;

 public:
  template <LinearOperator<V> A>
    requires(!std::same_as<A, AnyOperator>)
  AnyOperator(A matrix) : held_(std::make_shared<Held<A>>(std::move(matrix))) {}

  std::int64_t nrows() const { return held_->nrows(); }
  std::int64_t ncols() const { return held_->ncols(); }
  void apply(const V& x, V& y) const { held_->apply(x, y); }
  void apply_dot(const V& x, V& y, typename V::Real* sum) const { held_->apply_dot(x, y, sum); }
  void apply_columns(const Block& x, Block& y, std::size_t first, std::size_t count) const {
    held_->apply_columns(x, y, first, count);
  }
  void residual(const V& x, const V& b, V& r) const { held_->residual_of(x, b, r); }

  /// Whether what is held is a TransposableOperator. If not, its operation must not be called.
  bool is_transposable() const { return held_->is_transposable(); }
  void apply_transposed(const V& x, V& y) const { held_->apply_transposed(x, y); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual std::int64_t nrows() const = 0;
    virtual std::int64_t ncols() const = 0;
    virtual void apply(const V& x, V& y) const = 0;
    virtual void apply_dot(const V& x, V& y, typename V::Real* sum) const = 0;
    virtual void apply_columns(const Block& x, Block& y, std::size_t first, std::size_t count) const = 0;
    virtual void residual_of(const V& x, const V& b, V& r) const = 0;
    virtual bool is_transposable() const = 0;
    virtual void apply_transposed(const V& x, V& y) const = 0;
  };
  template <class A>
  struct Held final : Base {
    explicit Held(A a) : matrix(std::move(a)) {}
    std::int64_t nrows() const override { return matrix.nrows(); }
    std::int64_t ncols() const override { return matrix.ncols(); }
    void apply(const V& x, V& y) const override { matrix.apply(x, y); }
    void apply_dot(const V& x, V& y, typename V::Real* sum) const override { seidel::apply_dot(matrix, x, y, sum); }
    void apply_columns(const Block& x, Block& y, std::size_t first, std::size_t count) const override {
      seidel::apply_columns(matrix, x, y, first, count);
    }
    void residual_of(const V& x, const V& b, V& r) const override { seidel::residual(matrix, x, b, r); }
    bool is_transposable() const override { return TransposableOperator<A, V>; }
    void apply_transposed(const V& x, V& y) const override {
      if constexpr (TransposableOperator<A, V>) matrix.apply_transposed(x, y);
    }
    A matrix;
  };
  std::shared_ptr<const Base> held_;
};

/// Owns any preconditioner of vectors of type V. Copies share it. Cost  one virtual call an application.
template <class V>
class AnyPreconditioner {
  using Block = any_detail::Block<V>;

 public:
  template <Preconditioner<V> M>
    requires(!std::same_as<M, AnyPreconditioner>)
  AnyPreconditioner(M m) : held_(std::make_shared<Held<M>>(std::move(m))) {}

  void apply(const V& r, V& z) const { held_->apply(r, z); }
  void apply_columns(const Block& r, Block& z, std::size_t first, std::size_t count) const {
    held_->apply_columns(r, z, first, count);
  }
  bool is_symmetric() const { return held_->is_symmetric(); }
  bool is_linear() const { return held_->is_linear(); }
  const V* diagonal() const { return held_->diagonal(); }
  /// 0 and "" where what is held does not tell.
  std::int64_t bytes() const { return held_->bytes(); }
  std::string describe() const { return held_->describe(); }

  /// Whether what is held is a SplitPreconditioner. If not, its three operations must not be called.
  bool is_split() const { return held_->is_split(); }
  void solve_lower(const V& r, V& y) const { held_->solve_lower(r, y); }
  const V& diagonal_of_A() const { return *held_->diagonal_of_A(); }
  void split_product(const V& u, V& p, V& Ap, V& w) const { held_->split_product(u, p, Ap, w); }

 private:
  struct Base {
    virtual ~Base() = default;
    virtual void apply(const V& r, V& z) const = 0;
    virtual void apply_columns(const Block& r, Block& z, std::size_t first, std::size_t count) const = 0;
    virtual bool is_symmetric() const = 0;
    virtual bool is_linear() const = 0;
    virtual const V* diagonal() const = 0;
    virtual std::int64_t bytes() const = 0;
    virtual std::string describe() const = 0;
    virtual bool is_split() const = 0;
    virtual void solve_lower(const V& r, V& y) const = 0;
    virtual const V* diagonal_of_A() const = 0;
    virtual void split_product(const V& u, V& p, V& Ap, V& w) const = 0;
  };
  template <class M>
  struct Held final : Base {
    explicit Held(M m) : preconditioner(std::move(m)) {}
    void apply(const V& r, V& z) const override { preconditioner.apply(r, z); }
    void apply_columns(const Block& r, Block& z, std::size_t first, std::size_t count) const override {
      seidel::apply_columns(preconditioner, r, z, first, count);
    }
    bool is_symmetric() const override { return preconditioner.is_symmetric(); }
    bool is_linear() const override { return seidel::is_linear(preconditioner); }
    const V* diagonal() const override { return diagonal_of<V>(preconditioner); }
    std::int64_t bytes() const override {
      if constexpr (requires { preconditioner.bytes(); }) return preconditioner.bytes();
      return 0;
    }
    std::string describe() const override {
      if constexpr (requires { preconditioner.describe(); }) return preconditioner.describe();
      return {};
    }
    bool is_split() const override { return SplitPreconditioner<M, V>; }
    void solve_lower(const V& r, V& y) const override {
      if constexpr (SplitPreconditioner<M, V>) preconditioner.solve_lower(r, y);
    }
    const V* diagonal_of_A() const override {
      if constexpr (SplitPreconditioner<M, V>) return &preconditioner.diagonal_of_A();
      return nullptr;
    }
    void split_product(const V& u, V& p, V& Ap, V& w) const override {
      if constexpr (SplitPreconditioner<M, V>) preconditioner.split_product(u, p, Ap, w);
    }
    M preconditioner;
  };
  std::shared_ptr<const Base> held_;
};

}  // namespace seidel
