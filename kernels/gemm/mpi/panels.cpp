// Panels: which blocks they have, who sends them, how.
#include <seidel/kernels/gemm/mpi/panels.hpp>

#include <algorithm>

#include <seidel/kernels/gemm/gemm.hpp>

namespace seidel {

namespace {

// Terms that are at work together. A GPU reads and writes C once for each panel, which must not take long beside it.
template <class Space>
constexpr std::int64_t panel_terms = std::is_same_v<Space, Host> ? 256 : 1024;

// Elements in 16 bytes, to which gemm likes columns aligned.
template <class Real>
constexpr std::int64_t aligned = 16 / sizeof(Real);

OpenMP beside(const OpenMP& on) { return on; }
[[maybe_unused]] Cuda beside(const Cuda& on) { return Cuda(CudaSettings{.device = on.device(), .host = on.host()}); }

std::unique_ptr<GpuNetwork> network_of(const OpenMP&, const ProcessGrid&) { return nullptr; }
[[maybe_unused]] std::unique_ptr<GpuNetwork> network_of(const Cuda& on, const ProcessGrid& grid) {
  return gpu_network(on, grid);
}

/// to[k * leading + i] = from(i, k).
template <class Real>
void by_columns(const OpenMP&, const DenseView<const Real, Host>& from, Real* to, std::int64_t leading) {
  for (std::int64_t i = 0; i < from.nrows; ++i)
    for (std::int64_t k = 0; k < from.ncols; ++k) to[k * leading + i] = from(i, k);
}
template <class Real>
[[maybe_unused]] void by_columns(const Cuda& on, const DenseView<const Real, Device>& from, Real* to,
                                 std::int64_t leading) {
  if constexpr (built_with_cuda) gemm_detail::copy_by_columns(on, Real(1), from, to, leading);
}

/// From `root` to all of `line`, in pieces whose size fits an int.
void broadcast(MPI_Comm line, HostSpan<std::byte> bytes, int root) {
  constexpr std::int64_t at_once = 1 << 30;
  for (std::int64_t first = 0; first < bytes.size(); first += at_once)
    mpi_check(MPI_Bcast(bytes.data() + first, int(std::min(at_once, bytes.size() - first)), MPI_BYTE, root, line),
              "sending a block");
}

void broadcast(const OpenMP&, MPI_Comm line, HostSpan<std::byte> bytes, int root, DistributedTimes& times) {
  const Timer timer(times.sending);
  broadcast(line, bytes, root);
}
/// Through the host.
[[maybe_unused]] void broadcast(const Cuda& on, MPI_Comm line, Span<std::byte, Device> bytes, int root,
                                DistributedTimes& times) {
  int rank = 0;
  MPI_Comm_rank(line, &rank);
  Array<std::byte> on_host(bytes.size());
  if (rank == root) {
    const Timer timer(times.copying);
    copy(on, Span<const std::byte, Device>(bytes), on_host.span());
  }
  broadcast(OpenMP{1}, line, on_host.span(), root, times);
  if (rank != root) {
    const Timer timer(times.copying);
    copy(on, HostSpan<const std::byte>(on_host), bytes);
  }
}

template <class Real, class Space>
Span<std::byte, Space> bytes_of(Span<Real, Space> elements) {
  return {reinterpret_cast<std::byte*>(elements.data()), elements.size() * std::int64_t(sizeof(Real))};
}

}  // namespace

template <Backend On, class Real>
Panels<On, Real>::Panels(const On& on, const ProcessGrid& grid, const DistributedShape& shape,
                         const DistributedParts& parts)
    : aside_(beside(on)),
      grid_(grid),
      parts_(parts),
      network_(network_of(on, grid)),
      max_terms_(grid.rows() * grid.columns() == 1 ? shape.k
                                                   : std::min(shape.k, std::max(panel_terms<Space>, shape.block))),
      leading_((parts.c.nrows() + aligned<Real> - 1) / aligned<Real> * aligned<Real>) {
  for (Memory& memory : memory_) {
    if (grid.columns() > 1) memory.a = Array<Real, Space>(aside_, leading_ * max_terms_);
    if (grid.rows() > 1) memory.b = Array<Real, Space>(aside_, max_terms_ * parts.c.ncols());
  }
}

template <Backend On, class Real>
std::int64_t Panels<On, Real>::begin(Span<const Real, Space> A, Span<const Real, Space> B, std::int64_t first,
                                     DistributedTimes& times) {
  const BlockCyclic &of_a = parts_.a.columns, &of_b = parts_.b.rows;  // the same blocks of k, each with its owners
  const std::int64_t nrows = parts_.c.nrows(), ncols = parts_.c.ncols();
  const auto own_a = rows_of(A, nrows, parts_.a.ncols());
  const bool a_comes = grid_.columns() > 1, b_comes = grid_.rows() > 1;
  turn_ = 1 - turn_;
  Memory& memory = memory_[turn_];
  coming_.clear();
  std::int64_t q = first, terms = 0;
  const Timer timer(times.copying);
  for (; q < of_a.nblocks() && terms + of_a.size(q) <= max_terms_; terms += of_a.size(q), ++q) {
    const std::int64_t width = of_a.size(q);
    if (a_comes) {
      const auto to = memory.a.span().subspan(terms * leading_, width * leading_);
      if (of_a.owner(q) == grid_.my_column())
        by_columns(aside_, block(own_a, 0, of_a.place(q), nrows, width), to.data(), leading_);
      coming_.push_back({Along::row, of_a.owner(q), bytes_of(to)});
    }
    if (b_comes) {
      const auto to = memory.b.span().subspan(terms * ncols, width * ncols);
      if (of_b.owner(q) == grid_.my_row())
        copy_bytes(aside_, Space{}, to.data(), Space{}, B.data() + of_b.place(q) * ncols,
                   to.size() * std::int64_t(sizeof(Real)));
      coming_.push_back({Along::column, of_b.owner(q), bytes_of(to)});
    }
  }
  panel_.a = a_comes ? DenseView<const Real, Space>{nrows, terms, leading_, Layout::column_major, memory.a.data()}
                     : block(own_a, 0, first * of_a.block, nrows, terms);
  panel_.b = {terms, ncols, ncols, Layout::row_major,
              b_comes ? memory.b.data() : B.data() + first * of_b.block * ncols};
  if constexpr (!HostBackend<On>)
    if (network_) network_->send(aside_, coming_);
  return q;
}

template <Backend On, class Real>
typename Panels<On, Real>::Panel Panels<On, Real>::arrived(DistributedTimes& times) {
  if (!network_)
    for (const auto& [along, root, bytes] : coming_)
      broadcast(aside_, along == Along::row ? grid_.row() : grid_.column(), bytes, root, times);
  const Timer timer(times.sending);
  aside_.synchronize();
  return panel_;
}

template <Backend On, class Real>
std::string Panels<On, Real>::describe() const {
  if (HostBackend<On> || grid_.rows() * grid_.columns() == 1) return "";
  return network_ ? "panels sent by NCCL" : "panels sent through the host";
}

template class Panels<OpenMP, double>;
template class Panels<OpenMP, float>;
template class Panels<Cuda, double>;
template class Panels<Cuda, float>;

}  // namespace seidel
