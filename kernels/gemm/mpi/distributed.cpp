// Products on a grid of processes.
#include <seidel/kernels/gemm/mpi/distributed.hpp>

#include <algorithm>

#include <seidel/kernels/gemm/gemm.hpp>
#include <seidel/kernels/gemm/mpi/panels.hpp>

namespace seidel {

namespace {

/// c of the first process of the row = the sum over all of them, as a tree whose shape depends on their number alone.
template <class Real>
void add_along_row(const ProcessGrid& grid, HostSpan<Real> c, DistributedTimes& times) {
  constexpr std::int64_t at_once = 1 << 20;  // a buffer that stays in a cache
  const int me = grid.my_column(), all = grid.columns();
  Array<Real> received(all > 1 ? std::min(at_once, c.size()) : 0);
  for (std::int64_t first = 0; first < c.size(); first += at_once) {
    const auto piece = c.subspan(first, std::min(at_once, c.size() - first));
    for (int step = 1; step < all; step *= 2) {
      if (me % (2 * step) == step) {
        const Timer timer(times.sending);
        mpi_check(MPI_Send(piece.data(), int(piece.size()), mpi_type<Real>(), me - step, 0, grid.row()),
                  "sending sums");
        break;
      }
      if (me + step >= all) continue;
      {
        const Timer timer(times.sending);
        mpi_check(
            MPI_Recv(received.data(), int(piece.size()), mpi_type<Real>(), me + step, 0, grid.row(), MPI_STATUS_IGNORE),
            "receiving sums");
      }
      const Timer timer(times.computing);
      for (std::int64_t i = 0; i < piece.size(); ++i) piece[i] += received[i];
    }
  }
}

void finish(const auto& on, double& seconds) {
  const Timer timer(seconds);
  on.synchronize();
}

/// Adds the seconds of its call to `seconds`; on a GPU it does not wait.
template <class On, class Real, class Space>
void multiply(const On& on, const DenseView<const Real, Space>& A, const DenseView<const Real, Space>& B, Real beta,
              const DenseView<Real, Space>& C, double& seconds) {
  const Timer timer(seconds);
  if constexpr (HostBackend<On> || built_with_cuda)
    gemm(on, Real(1), A, B, beta, C, TermOrder::ascending);  // else there is no product to link with
}

}  // namespace

DistributedParts parts_of(DistributedGemm how, const ProcessGrid& grid, const DistributedShape& s) {
  const auto dealt = [&](std::int64_t n, int nparts) { return BlockCyclic{n, s.block, nparts}; };
  const int r = grid.my_row(), c = grid.my_column();
  const BlockCyclic rows = dealt(s.m, grid.rows()), terms = dealt(s.k, grid.columns());
  if (how == DistributedGemm::summa)
    return {.a = {rows, terms, r, c},
            .b = {dealt(s.k, grid.rows()), dealt(s.n, grid.columns()), r, c},
            .c = {rows, dealt(s.n, grid.columns()), r, c}};
  return {.a = {rows, terms, r, c}, .b = {terms, dealt(s.n, 1), c, 0}, .c = {rows, dealt(s.n, 1), r, 0}};
}

template <Backend On, class Real>
DistributedProduct<On, Real>::DistributedProduct(const On& on, DistributedGemm how, const ProcessGrid& grid,
                                                 const DistributedShape& shape)
    : on_(on), grid_(grid), shape_(shape), parts_(parts_of(how, grid, shape)) {
  if (how == DistributedGemm::summa) panels_ = std::make_unique<Panels<On, Real>>(on, grid, shape, parts_);
}
template <Backend On, class Real>
DistributedProduct<On, Real>::~DistributedProduct() = default;

template <Backend On, class Real>
void DistributedProduct<On, Real>::by_row_sums(Span<const Real, Space> A, Span<const Real, Space> B, Real beta,
                                               Span<Real, Space> C, DistributedTimes& times) {
  const std::int64_t nrows = parts_.a.nrows(), terms = parts_.a.ncols();
  Array<Real, Space> own(on_, grid_.leads() ? 0 : nrows * shape_.n);  // a leader adds to its C
  const Span<Real, Space> c = grid_.leads() ? C : own.span();
  multiply(on_, rows_of(A, nrows, terms), rows_of(B, terms, shape_.n), grid_.leads() ? beta : Real(0),
           rows_of(c, nrows, shape_.n), times.computing);
  finish(on_, times.computing);
  if (grid_.columns() == 1) return;
  if constexpr (HostBackend<On>) {
    add_along_row(grid_, c, times);
  } else {
    Array<Real> on_host(c.size());
    {
      const Timer timer(times.copying);
      copy(on_, Span<const Real, Space>(c), on_host.span());
    }
    add_along_row(grid_, on_host.span(), times);
    const Timer timer(times.copying);
    if (grid_.leads()) copy(on_, HostSpan<const Real>(on_host), c);
  }
}

template <Backend On, class Real>
void DistributedProduct<On, Real>::by_summa(Span<const Real, Space> A, Span<const Real, Space> B, Real beta,
                                            Span<Real, Space> C, DistributedTimes& times) {
  const std::int64_t nblocks = parts_.a.columns.nblocks();
  std::int64_t next = panels_->begin(A, B, 0, times);
  auto panel = panels_->arrived(times);
  for (bool more = true; more; beta = 1) {
    more = next < nblocks;
    if (more) next = panels_->begin(A, B, next, times);
    multiply(on_, panel.a, panel.b, beta, rows_of(C, parts_.c.nrows(), parts_.c.ncols()), times.computing);
    if (more) panel = panels_->arrived(times);
    finish(on_, times.computing);
  }
}

template <Backend On, class Real>
DistributedTimes DistributedProduct<On, Real>::apply(Span<const Real, Space> A, Span<const Real, Space> B, Real beta,
                                                     Span<Real, Space> C) {
  DistributedTimes times;
  panels_ ? by_summa(A, B, beta, C, times) : by_row_sums(A, B, beta, C, times);
  return times;
}

template <Backend On, class Real>
std::string DistributedProduct<On, Real>::describe() const {
  return panels_ ? panels_->describe() : "";
}

template class DistributedProduct<OpenMP, double>;
template class DistributedProduct<OpenMP, float>;
template class DistributedProduct<Cuda, double>;
template class DistributedProduct<Cuda, float>;

}  // namespace seidel
