// A preconditioner of A that is made of a matrix in a better shape, A' = P R A C.
#pragma once
#include <optional>

#include <seidel/formats/arrange.hpp>
#include <seidel/kernels/vector.hpp>
#include <seidel/solvers/any.hpp>

namespace seidel {

/// z = C M'^-1 P R r, where M' is like A', and so P R M C like A: a method iterates with A itself, and its residuals are
/// those of the system given. Scales are powers of two, so that nothing else is rounded than in M'.
///
/// Cost  of M', and four passes over vectors at most; holds two vectors and the arrangement.
template <Backend B>
class ArrangedPreconditioner {
  using V = Vector<double, B>;

 public:
  ArrangedPreconditioner(const B& on, AnyPreconditioner<V> M, const Arrangement& by, std::int64_t n)
      : M_(std::move(M)), t_(on, n), u_(on, n) {
    if (!by.row_of.empty()) row_of_ = copied_to<SpaceOf<B>>(on, by.row_of.span());
    if (by.row_scale.empty()) return;
    row_scale_.emplace(on, copied_to<SpaceOf<B>>(on, by.row_scale.span()));
    column_scale_.emplace(on, copied_to<SpaceOf<B>>(on, by.column_scale.span()));
    is_one_scale_ = std::equal(by.row_scale.begin(), by.row_scale.end(), by.column_scale.begin());
  }

  void apply(const V& r, V& z) const {
    const V* from = &r;
    if (row_scale_) multiply(*row_scale_, *from, t_), from = &t_;
    if (!row_of_.empty()) gather<B, double>(r.on(), row_of_.span(), from->span(), u_.span()), from = &u_;
    M_.apply(*from, z);
    if (column_scale_) multiply(*column_scale_, z, z);
  }
  bool is_symmetric() const { return M_.is_symmetric() && row_of_.empty() && is_one_scale_; }
  std::int64_t bytes() const { return M_.bytes(); }  ///< of M'
  std::string describe() const { return M_.describe(); }

 private:
  AnyPreconditioner<V> M_;
  Array<Index, SpaceOf<B>> row_of_;
  std::optional<V> row_scale_, column_scale_;
  bool is_one_scale_ = true;
  mutable V t_, u_;
};

}  // namespace seidel
