// Panels: which blocks they have, who sends them, how.
#include <seidel/kernels/gemm/mpi/panels.hpp>

#include <algorithm>

#include <seidel/kernels/gemm/gemm.hpp>

namespace seidel {

namespace {

// Terms that are at work together. A GPU reads and writes C once for each panel, which must not take long beside it.
template <class Space>
constexpr std::int64_t panel_terms = std::is_same_v<Space, Host> ? 256 : 1024;

OpenMP beside(const OpenMP& on) { return on; }
[[maybe_unused]] Cuda beside(const Cuda& on) { return Cuda(CudaSettings{.device = on.device(), .host = on.host()}); }

std::unique_ptr<GpuNetwork> network_of(const OpenMP&, const ProcessGrid&) { return nullptr; }
[[maybe_unused]] std::unique_ptr<GpuNetwork> network_of(const Cuda& on, const ProcessGrid& grid) {
  return gpu_network(on, grid);
}

void finish(const OpenMP&) {}
[[maybe_unused]] void finish(const Cuda& on) { on.synchronize(); }

/// to[k * leading + i] = from(i, k).
void by_columns(const OpenMP&, const DenseView<const double, Host>& from, double* to, std::int64_t leading) {
  for (std::int64_t i = 0; i < from.nrows; ++i)
    for (std::int64_t k = 0; k < from.ncols; ++k) to[k * leading + i] = from(i, k);
}
[[maybe_unused]] void by_columns(const Cuda& on, const DenseView<const double, Device>& from, double* to,
                                 std::int64_t leading) {
  if constexpr (built_with_cuda) gemm_detail::copy_by_columns(on, 1.0, from, to, leading);
}

/// From `root` to all of `line`, in pieces whose size fits an int.
void broadcast(MPI_Comm line, HostSpan<double> elements, int root) {
  constexpr std::int64_t at_once = 1 << 28;
  for (std::int64_t first = 0; first < elements.size(); first += at_once)
    mpi_check(
        MPI_Bcast(elements.data() + first, int(std::min(at_once, elements.size() - first)), MPI_DOUBLE, root, line),
        "sending a block");
}

void broadcast(const OpenMP&, MPI_Comm line, HostSpan<double> elements, int root, DistributedTimes& times) {
  const Timer timer(times.sending);
  broadcast(line, elements, root);
}
/// Through the host.
[[maybe_unused]] void broadcast(const Cuda& on, MPI_Comm line, Span<double, Device> elements, int root,
                                DistributedTimes& times) {
  int rank = 0;
  MPI_Comm_rank(line, &rank);
  Array<double> on_host(elements.size());
  if (rank == root) {
    const Timer timer(times.copying);
    copy(on, Span<const double, Device>(elements), on_host.span());
  }
  broadcast(OpenMP{1}, line, on_host.span(), root, times);
  if (rank != root) {
    const Timer timer(times.copying);
    copy(on, HostSpan<const double>(on_host), elements);
  }
}

}  // namespace

template <Backend On>
Panels<On>::Panels(const On& on, const ProcessGrid& grid, const DistributedShape& shape, const DistributedParts& parts)
    : aside_(beside(on)),
      grid_(grid),
      parts_(parts),
      network_(network_of(on, grid)),
      max_terms_(grid.rows() * grid.columns() == 1 ? shape.k
                                                   : std::min(shape.k, std::max(panel_terms<Space>, shape.block))),
      leading_((parts.c.nrows() + 1) / 2 * 2) {  // 16 bytes, as gemm likes them
  for (Memory& memory : memory_) {
    if (grid.columns() > 1) memory.a = Array<double, Space>(aside_, leading_ * max_terms_);
    if (grid.rows() > 1) memory.b = Array<double, Space>(aside_, max_terms_ * parts.c.ncols());
  }
}

template <Backend On>
std::int64_t Panels<On>::begin(Span<const double, Space> A, Span<const double, Space> B, std::int64_t first,
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
      coming_.push_back({Along::row, of_a.owner(q), to});
    }
    if (b_comes) {
      const auto to = memory.b.span().subspan(terms * ncols, width * ncols);
      if (of_b.owner(q) == grid_.my_row())
        copy_bytes(aside_, Space{}, to.data(), Space{}, B.data() + of_b.place(q) * ncols, to.size() * 8);
      coming_.push_back({Along::column, of_b.owner(q), to});
    }
  }
  panel_.a = a_comes ? DenseView<const double, Space>{nrows, terms, leading_, Layout::column_major, memory.a.data()}
                     : block(own_a, 0, first * of_a.block, nrows, terms);
  panel_.b = {terms, ncols, ncols, Layout::row_major,
              b_comes ? memory.b.data() : B.data() + first * of_b.block * ncols};
  if constexpr (!HostBackend<On>)
    if (network_) network_->send(aside_, coming_);
  return q;
}

template <Backend On>
typename Panels<On>::Panel Panels<On>::arrived(DistributedTimes& times) {
  if (!network_)
    for (const auto& [along, root, elements] : coming_)
      broadcast(aside_, along == Along::row ? grid_.row() : grid_.column(), elements, root, times);
  const Timer timer(times.sending);
  finish(aside_);
  return panel_;
}

template <Backend On>
std::string Panels<On>::describe() const {
  if (HostBackend<On> || grid_.rows() * grid_.columns() == 1) return "";
  return network_ ? "panels sent by NCCL" : "panels sent through the host";
}

template class Panels<OpenMP>;
template class Panels<Cuda>;

}  // namespace seidel
