// The multigrid method of the HPCG benchmark: lattices that halve, injection, and one symmetric Gauss-Seidel sweep before
// and after each correction.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/formats/permute.hpp>
#include <seidel/kernels/aggregation/lattice.hpp>
#include <seidel/kernels/orders/orders.hpp>
#include <seidel/kernels/spgemm/spgemm.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>

namespace seidel::drivers {

/// The matrix of the benchmark on a lattice: 26 on the diagonal, -1 for each of up to 26 neighbours; made in the memory of B.
/// Errors  ResourceError from 2^31 entries on.
template <Backend B>
Csr<double, std::int32_t, SpaceOf<B>> hpcg_matrix(const B& on, const Lattice& lattice) {
  const auto side = [](Index n) { return std::to_string(n); };
  const std::string spec = "hpcg:" + side(lattice.nx) + "x" + side(lattice.ny) + "x" + side(lattice.nz);
  if constexpr (HostBackend<B>)
    return with_offsets<std::int32_t>(OpenMP{on.threads}, generate(OpenMP{on.threads}, spec).view());
  else
    return generate<std::int32_t>(on, spec);
}

/// The turns of the greedy colours in a sweep: 7, 3, 4, 5, 2, 6, 1, 0. Point (x, y, z) has colour x % 2 + 2 (y % 2) + 4 (z % 2),
/// so that each is followed by its opposite, and those that the injection takes come last: where a symmetric sweep ends with
/// them, their residual is 0, and the coarser levels have nothing to correct. Other orders: docs/notes/orders.md.
constexpr Index turn_of_colour[] = {7, 6, 4, 1, 2, 3, 5, 0};

template <Backend B>
Array<Index, SpaceOf<B>> hpcg_order(const B& on, const CsrView<double, std::int32_t, SpaceOf<B>>& A) {
  const Array<Index, SpaceOf<B>> colours = greedy_colours(on, A);
  return colour_order(on, colours.span(), {turn_of_colour, std::ssize(turn_of_colour)});
}

/// One V-cycle of it as preconditioner, on four levels. With S one symmetric Gauss-Seidel sweep, and R the injection, which
/// takes each second point of each direction:
///
///   z = S(0, r);   z_c = M_c^-1 R (r - A z);   z = S(z + R' z_c, r);   on the coarsest level z = S(0, r) alone
///
/// The coarser matrices are those of the benchmark on the smaller lattices. The residual is computed where R takes it. By
/// colours, all matrices and vectors are in the order of the sweeps: new_to_old() says which.
///
/// Cost    an application: reads A four times in all (from zero once), and the coarser ones a seventh of that; allocates
///         nothing, waits for nothing. The setup is done where the matrices are.
/// Repeats bit for bit on every back end, for each order of the sweeps.
/// Errors  UsageError for a lattice whose sides cannot be halved three times; as SymgsPreconditioner.
/// Source  Dongarra, Heroux, Luszczek, High-performance conjugate-gradient benchmark, Int. J. High Perform. Comput. Appl.
///         30(1), 2016.
template <Backend B>
class HpcgMultigrid {
 public:
  using V = Vector<double, B>;
  using Space = SpaceOf<B>;
  using Matrix = Csr<double, std::int32_t, Space>;
  static constexpr int nlevels = 4;

  /// `finest`: A, the benchmark's or one with the same pattern.
  HpcgMultigrid(const B& on, Matrix finest, Lattice lattice, Order order) {
    if (!lattice.halves(nlevels - 1))
      throw UsageError("hpcg: found a lattice of " + std::to_string(lattice.nx) + " x " + std::to_string(lattice.ny) +
                       " x " + std::to_string(lattice.nz) + " points, expected multiples of " +
                       std::to_string(1 << (nlevels - 1)));
    std::vector<Lattice> lattices;
    for (int l = 0; l < nlevels; ++l, lattice = lattice.halved()) {
      lattices.push_back(lattice);
      levels_.push_back(std::make_unique<Level>(on, l ? hpcg_matrix(on, lattice) : std::move(finest), order));
    }
    for (std::size_t l = 0; l + 1 < nlevels; ++l) {
      Level& level = *levels_[l];
      Matrix R = injection<B, std::int32_t>(on, lattices[l], std::as_const(level.new_to_old).span(),
                                            std::as_const(levels_[l + 1]->new_to_old).span());
      const std::int64_t n = R.nrows;
      MatrixOperator<Matrix, B> rows(on, spgemm(on, R.view(), level.A.view()));
      level.coarsening =
          std::make_unique<Coarsening>(Coarsening{std::move(R.col_idx), std::move(rows), V(on, n), V(on, n), V(on, n)});
    }
  }

  void apply(const V& r, V& z) const { cycle(0, r, z); }
  bool is_symmetric() const { return true; }

  /// The finest A, in the order of the sweeps.
  CsrView<double, std::int32_t, Space> A() const { return std::as_const(levels_.front()->A).view(); }
  /// Which row of the benchmark's matrix each row of A() is; empty where they are the same.
  Span<const Index, Space> new_to_old() const { return levels_.front()->new_to_old.span(); }
  std::int64_t nrows(int level) const { return levels_[std::size_t(level)]->A.nrows; }
  std::int64_t nnz(int level) const { return levels_[std::size_t(level)]->A.nnz(); }

 private:
  /// To the next coarser level.
  struct Coarsening {
    Array<Index, Space> points;
    MatrixOperator<Matrix, B> rows;  // R A
    V right_hand_side, residual, correction;
  };
  struct Level {
    Array<Index, Space> new_to_old;  // of the sweeps; empty for natural order
    Matrix A;                        // in that order
    SymgsPreconditioner<double, std::int32_t, B> sweeps;
    std::unique_ptr<Coarsening> coarsening = {};  // none on the coarsest level

    Level(const B& on, Matrix there, Order order)
        : new_to_old(order == Order::natural ? Array<Index, Space>() : hpcg_order(on, there.view())),
          A(in_order(on, std::move(there), new_to_old)),
          sweeps(on, A.view()) {}

   private:
    static Matrix in_order(const B& on, Matrix A, const Array<Index, Space>& order) {
      if (order.empty()) return A;
      return permuted(on, A.view(), order.span());
    }
  };

  void cycle(std::size_t l, const V& r, V& z) const {
    const Level& level = *levels_[l];
    level.sweeps.smooth_from_zero(r, z);
    if (!level.coarsening) return;
    Coarsening& next = *level.coarsening;
    gather<B, double>(r.on(), next.points, r.span(), next.right_hand_side.span());
    next.rows.residual(z, next.right_hand_side, next.residual);
    cycle(l + 1, next.residual, next.correction);
    add_to<B, double>(r.on(), next.points, std::as_const(next.correction).span(), z.span());
    level.sweeps.smooth(r, z);
  }

  std::vector<std::unique_ptr<Level>> levels_;
};

}  // namespace seidel::drivers
