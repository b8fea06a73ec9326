// The multigrid method of the HPCG benchmark: lattices that halve, injection, and one symmetric Gauss-Seidel sweep before
// and after each correction.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <seidel/formats/convert.hpp>
#include <seidel/formats/generators/generate.hpp>
#include <seidel/solvers/matrix_operator.hpp>
#include <seidel/solvers/preconditioners/symgs.hpp>

namespace seidel {

/// nx x ny x nz points; x runs fastest.
struct Lattice {
  Index nx, ny, nz;

  std::int64_t size() const { return std::int64_t(nx) * ny * nz; }
  Lattice halved() const { return {nx / 2, ny / 2, nz / 2}; }
  /// Whether it can be halved so often.
  bool halves(int times) const {
    const Index step = Index(1) << times;
    return nx % step == 0 && ny % step == 0 && nz % step == 0 && size() > 0;
  }
};

namespace hpcg_detail {

using HostMatrix = Csr<double, std::int32_t>;

/// The matrix of the benchmark on a lattice: 26 on the diagonal, -1 for each of up to 26 neighbours.
/// Errors  ResourceError from 2^31 entries on.
HostMatrix matrix(const OpenMP& on, const Lattice& lattice);
/// The point (2i, 2j, 2k) of `fine` for each point (i, j, k) of its half.
Array<Index> injection(const OpenMP& on, const Lattice& fine);
/// The given rows of A.
HostMatrix rows_of(const OpenMP& on, const CsrView<double, std::int32_t, Host>& A, HostSpan<const Index> rows);

template <Backend B>
OpenMP host_of(const B& on) {
  if constexpr (HostBackend<B>)
    return OpenMP{on.threads};
  else
    return on.host();
}

}  // namespace hpcg_detail

/// One V-cycle of it as preconditioner, on four levels. With S one symmetric Gauss-Seidel sweep, and R the injection, which
/// takes each second point of each direction:
///
///   z = S(0, r);   z_c = M_c^-1 R (r - A z);   z = S(z + R' z_c, r);   on the coarsest level z = S(0, r) alone
///
/// The coarser matrices are those of the benchmark on the smaller lattices. The residual is computed where R takes it.
///
/// Cost    an application: reads A four times in all (from zero once), and the coarser ones a seventh of that; allocates
///         nothing, waits for nothing. The setup generates the coarser matrices on the host.
/// Repeats bit for bit on every back end, for each order of the sweeps.
/// Errors  UsageError for a lattice whose sides cannot be halved three times; as SymgsPreconditioner.
/// Source  Dongarra, Heroux, Luszczek, High-performance conjugate-gradient benchmark, Int. J. High Perform. Comput. Appl.
///         30(1), 2016.
template <Backend B>
class HpcgMultigrid {
 public:
  using V = Vector<double, B>;
  static constexpr int nlevels = 4;

  /// `finest`: A, the benchmark's or one with the same pattern.
  HpcgMultigrid(const B& on, hpcg_detail::HostMatrix finest, Lattice lattice, Order order) {
    if (!lattice.halves(nlevels - 1))
      throw UsageError("hpcg: found a lattice of " + std::to_string(lattice.nx) + " x " + std::to_string(lattice.ny) +
                       " x " + std::to_string(lattice.nz) + " points, expected multiples of " +
                       std::to_string(1 << (nlevels - 1)));
    const OpenMP host = hpcg_detail::host_of(on);
    for (int l = 0; l < nlevels; ++l, lattice = lattice.halved())
      levels_.push_back(std::make_unique<Level>(on, l ? hpcg_detail::matrix(host, lattice) : std::move(finest), lattice,
                                                order, l + 1 == nlevels));
  }

  void apply(const V& r, V& z) const { cycle(0, r, z); }
  bool is_symmetric() const { return true; }

  /// The finest A.
  CsrView<double, std::int32_t, SpaceOf<B>> A() const { return std::as_const(levels_.front()->A).view(); }
  std::int64_t nrows(int level) const { return levels_[std::size_t(level)]->A.nrows; }
  std::int64_t nnz(int level) const { return levels_[std::size_t(level)]->A.nnz(); }

 private:
  using Space = SpaceOf<B>;
  using Matrix = Csr<double, std::int32_t, Space>;

  /// To the next coarser level.
  struct Coarsening {
    Array<Index, Space> points;
    MatrixOperator<Matrix, B> rows;  // of A, at these points
    V right_hand_side, residual, correction;
  };
  struct Level {
    Matrix A;
    SymgsPreconditioner<double, std::int32_t, B> sweeps;
    std::unique_ptr<Coarsening> coarsening;  // none on the coarsest level

    Level(const B& on, hpcg_detail::HostMatrix here, const Lattice& lattice, Order order, bool is_coarsest)
        : A(in_memory_of(on, here)), sweeps(on, on_host(here), std::as_const(A).view(), order) {
      if (is_coarsest) return;
      const OpenMP host = hpcg_detail::host_of(on);
      const Array<Index> points = hpcg_detail::injection(host, lattice);
      hpcg_detail::HostMatrix rows = hpcg_detail::rows_of(host, on_host(here), points.span());
      const std::int64_t n = points.size();
      coarsening = std::make_unique<Coarsening>(
          Coarsening{copied_to<Space>(on, points.span()), {on, in_memory_of(on, rows)}, V(on, n), V(on, n), V(on, n)});
    }

   private:
    static Matrix in_memory_of(const B& on, hpcg_detail::HostMatrix& here) {
      if constexpr (HostBackend<B>)
        return std::move(here);
      else
        return copied_to<Space>(on, std::as_const(here).view());
    }
    CsrView<double, std::int32_t, Host> on_host(const hpcg_detail::HostMatrix& here) const {
      if constexpr (HostBackend<B>)
        return A.view();
      else
        return here.view();
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

}  // namespace seidel
