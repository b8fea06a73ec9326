// Preconditioned conjugate gradients for several right-hand sides, which share the products.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <seidel/kernels/vector_block.hpp>
#include <seidel/solvers/cg.hpp>

namespace seidel {

/// Whether so many columns take less time in step than one after the other. On a host only where rows are long, and not told by kinds
/// (nnz = 0): else the vectors of all columns are more to read than A, and those of one column stay in the cache. Measured:
/// docs/multigrid.md.
template <Backend B>
constexpr bool pays_in_step(std::int64_t columns, std::int64_t nrows, std::int64_t nnz) {
  constexpr std::int64_t least_columns = 4, least_per_row = 32;
  return columns > 1 && (!HostBackend<B> || (columns >= least_columns && nnz >= least_per_row * nrows));
}

namespace cg_detail {

/// cg() for all columns in step. Each column is in a stage of its own: a round of cg() ends when its residual is to be looked at.
template <class V, class Matrix, class Precond>
class InStep {
  using Real = typename V::Real;
  enum class Stage { between_rounds, begins, iterates, ended };
  struct Column {
    Iterate<V, Matrix> iterate;
    Stage stage = Stage::between_rounds;
    bool spared = false;  // its residual is small enough: M^-1 r is not needed
    Progress& progress() { return iterate.progress(); }
  };
  using Which = std::vector<int>;

 public:
  InStep(const Matrix& A, const Precond& M, const std::vector<V>& b, std::vector<V>& x, const Criteria& criteria)
      : A_(A), M_(M), estimates_(criteria.error_tolerance.has_value()) {
    for (std::size_t j = 0; j < b.size(); ++j)
      columns_.emplace_back(new Column{.iterate = {"cg", A, b[j], x[j], criteria, 100}});
    for (Which* some : {&iterating_, &begins_, &applied_, &near_end_}) some->reserve(b.size());
    for (auto* numbers : {&rz_, &beta_, &alpha_, &minus_alpha_, &norm_r_, &new_rz_, &change_})
      numbers->resize(b.size());
  }

  std::vector<Summary> run(const V& model) {
    auto r = block_like(model, columns_.size()), z = block_like(model, columns_.size()),
         p = block_like(model, columns_.size()), Ap = block_like(model, columns_.size()),
         s = block_like(model, columns_.size());
    while (look_at_rounds(r, z)) {
      for (const int j : iterating_) columns_[j]->iterate.turn(z[j], beta_[j], p[j]);  // p = z + beta p
      apply(A_, iterating_, p, Ap);
      find_steps(p, Ap);
      descend(Ap, r, z);
      for (const int j : begins_) begin(j, p[j]);
      for (const int j : iterating_) go_on(j, p[j], r[j], s[j]);
    }
    std::vector<Summary> summaries;
    for (auto& column : columns_) summaries.push_back(column->iterate.summary());
    return summaries;
  }

 private:
  /// Those columns for which `belongs` says so.
  void find(Which& which, const auto& belongs) const {
    which.clear();
    for (std::size_t j = 0; j < columns_.size(); ++j)
      if (belongs(*columns_[j])) which.push_back(int(j));
  }
  void find(Which& which, Stage stage) const {
    find(which, [stage](const Column& column) { return column.stage == stage; });
  }

  /// From the first to the last of `which`: what lies between is not needed by any other column.
  template <class Applied, class Block>
  static void apply(const Applied& with, const Which& which, const Block& from, Block& to) {
    if (!which.empty())
      apply_columns(with, from, to, std::size_t(which.front()), std::size_t(which.back() - which.front() + 1));
  }

  /// Whether there are columns that iterate or begin to.
  bool look_at_rounds(auto& r, const auto& z) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      auto& [iterate, stage, spared] = *columns_[j];
      if (stage == Stage::iterates &&
          !(iterate.running() && iterate.progress().positive(rz_[j], r[j], z[j], Breakdown::indefinite_preconditioner)))
        stage = Stage::between_rounds;
      if (stage == Stage::between_rounds) stage = iterate.unsolved(r[j]) ? Stage::begins : Stage::ended;  // r = b - A x
    }
    find(iterating_, Stage::iterates);
    find(begins_, Stage::begins);
    return !iterating_.empty() || !begins_.empty();
  }

  /// alpha = r'z / p'Ap.
  void find_steps(const auto& p, const auto& Ap) {
    dots(p, Ap, iterating_, alpha_.data());
    for (const int j : iterating_) {
      const Real pAp = alpha_[j];
      if (columns_[j]->progress().positive(pAp, p[j], Ap[j], Breakdown::indefinite_matrix)) {
        alpha_[j] = rz_[j] / pAp;
        minus_alpha_[j] = -alpha_[j];
      } else {
        columns_[j]->stage = Stage::between_rounds;
      }
    }
    find(iterating_, Stage::iterates);
  }

  /// r -= alpha A p, z = M^-1 r, where a column begins the latter alone; ||r||, r'z and (r - r_before)'z, as CgIterate::step().
  void descend(const auto& Ap, auto& r, auto& z) {
    if (const V* const D = diagonal_of<V>(M_)) {
      axpy_multiply_norms2_and_dots(minus_alpha_.data(), Ap, r, *D, z, iterating_, norm_r_.data(), new_rz_.data());
      for (const int j : begins_) M_.apply(r[j], z[j]);
      dots(r, z, begins_, new_rz_.data());
      for (const int j : iterating_) change_[j] = new_rz_[j];
      return;
    }
    for (const int j : iterating_) axpy(minus_alpha_[j], Ap[j], r[j]);
    find(near_end_, [this](Column& column) {
      column.spared = false;
      return column.stage == Stage::iterates && !estimates_ && column.progress().near_end();
    });
    dots(r, r, near_end_, norm_r_.data());
    for (const int j : near_end_) {
      norm_r_[j] = norm2_of(r[j]).finished(norm_r_[j]);
      columns_[j]->spared = columns_[j]->progress().small_enough(norm_r_[j]);
    }
    find(applied_, [](const Column& column) {
      return column.stage == Stage::begins || (column.stage == Stage::iterates && !column.spared);
    });
    apply(M_, applied_, r, z);
    norms2_and_dots(r, z, applied_, norm_r_.data(), new_rz_.data());
    if (!is_linear(M_)) dots(Ap, z, applied_, change_.data());
    for (const int j : iterating_) {
      if (columns_[j]->spared)
        new_rz_[j] = change_[j] = 0;
      else
        change_[j] = is_linear(M_) ? new_rz_[j] : minus_alpha_[j] * change_[j];
    }
  }

  void begin(int j, V& p) {
    fill(p, 0);
    rz_[j] = new_rz_[j];
    beta_[j] = 0;
    columns_[j]->stage = Stage::iterates;
  }

  /// The end of an iteration: x += alpha p.
  void go_on(int j, const V& p, const V& r, V& s) {
    auto& [iterate, stage, spared] = *columns_[j];
    if (!iterate.progress().record(norm_r_[j])) {
      stage = Stage::between_rounds;
      return;
    }
    iterate.move_later(alpha_[j], p);
    iterate.smooth(r, s);
    beta_[j] = change_[j] / std::exchange(rz_[j], new_rz_[j]);
  }

  const Matrix& A_;
  const Precond& M_;
  bool estimates_;
  std::vector<std::unique_ptr<Column>> columns_;
  Which iterating_, begins_, applied_, near_end_;  // places of these columns
  std::vector<Real> rz_, beta_, alpha_, minus_alpha_, norm_r_, new_rz_, change_;
};

}  // namespace cg_detail

/// Solves A x_j = b_j for several right-hand sides: each x_j and its Summary are what cg() gives for this column alone, bit for
/// bit and with as many iterations. The columns iterate in step, so that A and M are read once for all of them; each has an
/// alpha, a beta and a residual of its own. A column that has ended stays as it is.
///
/// Shapes  A is n x n; as many x as b, each of n entries.
/// In/out  each x as in cg().
/// Cost    per step one product with A and one with M^-1 for the columns from the first to the last that iterates
///         (apply_columns() of concepts.hpp: together for a Product, and for multigrid in single precision; one by one for
///         others), and for each column that iterates the passes over vectors of cg(); on a GPU two waits for 16 columns, or
///         three. Vectors as cg() for each column, all taken before the loop, and what M needs for several columns in the
///         first step.
/// Errors  as cg(); ShapeError where there are not as many x as b. criteria.on_iteration is told of each column's iterations.
template <class V, LinearOperator<V> Matrix, Preconditioner<V> Precond>
std::vector<Summary> cg(const Matrix& A, const Precond& M, const std::vector<V>& b, std::vector<V>& x,
                        const Criteria& criteria = {}) {
  if (!M.is_symmetric()) refuse_unsymmetric_preconditioner("cg");
  if (b.size() != x.size())
    throw ShapeError("cg: found " + std::to_string(b.size()) + " right-hand sides and room for " +
                     std::to_string(x.size()) + " solutions, expected as many");
  if (b.empty()) return {};
  return cg_detail::InStep<V, Matrix, Precond>(A, M, b, x, criteria).run(b[0]);
}

}  // namespace seidel
