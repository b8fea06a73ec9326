// Products on a grid of processes.
#include <seidel/kernels/gemm/mpi/distributed.hpp>

#include <algorithm>

#include <seidel/kernels/gemm/gemm.hpp>

namespace seidel {

namespace {

/// Adds the seconds of its scope to a sum.
class Timer {
 public:
  explicit Timer(double& sum) : sum_(sum), begin_(MPI_Wtime()) {}
  ~Timer() { sum_ += MPI_Wtime() - begin_; }
  Timer(const Timer&) = delete;

 private:
  double& sum_;
  double begin_;
};

/// Where a back end needs elements of the host: they themselves, or a copy of them on the device.
template <HostBackend On, class T>
Span<T, Host> there(const On&, HostSpan<T> from, Array<std::remove_const_t<T>>&) {
  return from;
}
template <class T>
Span<T, Device> there(const Cuda& on, HostSpan<T> from, Array<std::remove_const_t<T>, Device>& kept) {
  if (kept.size() != from.size()) kept = Array<std::remove_const_t<T>, Device>(on, from.size());
  copy(on, HostSpan<const std::remove_const_t<T>>(from), kept.span());
  return kept.span();
}
template <HostBackend On>
void back(const On&, HostSpan<double>, const Array<double>&) {}
[[maybe_unused]] void back(const Cuda& on, HostSpan<double> to, const Array<double, Device>& from) {
  copy(on, from.span(), to);
}
template <HostBackend On>
void finish(const On&) {}
[[maybe_unused]] void finish(const Cuda& on) { on.synchronize(); }

template <class T, class Space>
DenseView<T, Space> rows_of(Span<T, Space> elements, std::int64_t nrows, std::int64_t ncols) {
  return {nrows, ncols, ncols, Layout::row_major, elements.data()};
}

/// From `root` to all of `comm`, in pieces whose size fits an int.
void broadcast(MPI_Comm comm, HostSpan<double> elements, int root) {
  constexpr std::int64_t at_once = 1 << 28;
  for (std::int64_t first = 0; first < elements.size(); first += at_once)
    mpi_check(
        MPI_Bcast(elements.data() + first, int(std::min(at_once, elements.size() - first)), MPI_DOUBLE, root, comm),
        "sending a block");
}

/// c of the first process of the row = the sum over all of them, as a tree whose shape depends on their number alone.
void add_along_row(const ProcessGrid& grid, HostSpan<double> c, DistributedTimes& times) {
  constexpr std::int64_t at_once = 1 << 20;  // a buffer that stays in a cache
  const int me = grid.my_column(), all = grid.columns();
  Array<double> received(all > 1 ? std::min(at_once, c.size()) : 0);
  for (std::int64_t first = 0; first < c.size(); first += at_once) {
    const auto piece = c.subspan(first, std::min(at_once, c.size() - first));
    for (int step = 1; step < all; step *= 2) {
      if (me % (2 * step) == step) {
        const Timer timer(times.sending);
        mpi_check(MPI_Send(piece.data(), int(piece.size()), MPI_DOUBLE, me - step, 0, grid.row()), "sending sums");
        break;
      }
      if (me + step >= all) continue;
      {
        const Timer timer(times.sending);
        mpi_check(MPI_Recv(received.data(), int(piece.size()), MPI_DOUBLE, me + step, 0, grid.row(), MPI_STATUS_IGNORE),
                  "receiving sums");
      }
      const Timer timer(times.computing);
      for (std::int64_t i = 0; i < piece.size(); ++i) piece[i] += received[i];
    }
  }
}

template <Backend B>
void by_row_sums(const B& on, const ProcessGrid& grid, const DistributedShape& shape, const DistributedParts& parts,
                 HostSpan<const double> A, HostSpan<const double> B_, double beta, HostSpan<double> C,
                 DistributedTimes& times) {
  const std::int64_t nrows = parts.a.nrows(), terms = parts.a.ncols();
  Array<double> own(grid.leads() ? 0 : nrows * shape.n);  // a leader adds to its C
  const HostSpan<double> c = grid.leads() ? C : own.span();
  if (!grid.leads()) beta = 0;
  {
    using Space = typename B::Space;
    Array<double, Space> a_there, b_there, c_there;
    auto begin = MPI_Wtime();
    const auto a = there(on, A, a_there), b = there(on, B_, b_there);
    const auto c_on = there(on, c, c_there);
    times.copying += MPI_Wtime() - begin;
    begin = MPI_Wtime();
    gemm(on, 1, rows_of(a, nrows, terms), rows_of(b, terms, shape.n), beta, rows_of(c_on, nrows, shape.n));
    finish(on);
    times.computing += MPI_Wtime() - begin;
    const Timer timer(times.copying);
    back(on, c, c_there);
  }
  add_along_row(grid, c, times);
}

/// Blocks of A and B that are at work together.
constexpr std::int64_t panel_terms = 256;

template <Backend B>
void by_summa(const B& on, const ProcessGrid& grid, const DistributedShape& shape, const DistributedParts& parts,
              HostSpan<const double> A, HostSpan<const double> B_, double beta, HostSpan<double> C,
              DistributedTimes& times) {
  using Space = typename B::Space;
  const std::int64_t nrows = parts.c.nrows(), ncols = parts.c.ncols(), terms_of_a = parts.a.ncols();
  const BlockCyclic &of_a = parts.a.columns, &of_b = parts.b.rows;  // the same blocks of k, each with its owners
  const std::int64_t most = std::min(shape.k, std::max(panel_terms, shape.block));
  Array<double> a_panel(nrows * most), b_panel(most * ncols);
  Array<double, Space> a_there, b_there, c_there;
  Span<double, Space> c;
  {
    const Timer timer(times.copying);
    c = there(on, C, c_there);
  }
  std::int64_t q = 0;
  do {
    std::int64_t terms = 0;
    for (; q < of_a.nblocks() && terms + of_a.size(q) <= most; terms += of_a.size(q), ++q) {
      const std::int64_t width = of_a.size(q);
      const auto a = a_panel.span().subspan(terms * nrows, width * nrows);  // by columns: blocks follow each other
      const auto b = b_panel.span().subspan(terms * ncols, width * ncols);
      {
        const Timer timer(times.copying);
        if (of_a.owner(q) == grid.my_column())
          for (std::int64_t i = 0; i < nrows; ++i)
            for (std::int64_t k = 0; k < width; ++k) a[k * nrows + i] = A[i * terms_of_a + of_a.place(q) + k];
        if (of_b.owner(q) == grid.my_row()) std::copy_n(B_.data() + of_b.place(q) * ncols, b.size(), b.data());
      }
      const Timer timer(times.sending);
      broadcast(grid.row(), a, of_a.owner(q));
      broadcast(grid.column(), b, of_b.owner(q));
    }
    auto begin = MPI_Wtime();
    const auto a = there(on, a_panel.span().subspan(0, terms * nrows), a_there);
    const auto b = there(on, b_panel.span().subspan(0, terms * ncols), b_there);
    times.copying += MPI_Wtime() - begin;
    begin = MPI_Wtime();
    gemm(on, 1, DenseView<const double, Space>{nrows, terms, nrows, Layout::column_major, a.data()},
         DenseView<const double, Space>(rows_of(b, terms, ncols)), beta, rows_of(c, nrows, ncols));
    finish(on);
    times.computing += MPI_Wtime() - begin;
    beta = 1;
  } while (q < of_a.nblocks());
  const Timer timer(times.copying);
  back(on, C, c_there);
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

template <Backend B>
void distributed_gemm(const B& on, DistributedGemm how, const ProcessGrid& grid, const DistributedShape& shape,
                      HostSpan<const double> A, HostSpan<const double> B_, double beta, HostSpan<double> C,
                      DistributedTimes& times) {
  if constexpr (HostBackend<B> ||
                built_with_cuda) {  // without CUDA there is no product to link with, nor a Cuda to call this
    const DistributedParts parts = parts_of(how, grid, shape);
    how == DistributedGemm::summa ? by_summa(on, grid, shape, parts, A, B_, beta, C, times)
                                  : by_row_sums(on, grid, shape, parts, A, B_, beta, C, times);
  }
}

template void distributed_gemm(const OpenMP&, DistributedGemm, const ProcessGrid&, const DistributedShape&,
                               HostSpan<const double>, HostSpan<const double>, double, HostSpan<double>,
                               DistributedTimes&);
template void distributed_gemm(const Cuda&, DistributedGemm, const ProcessGrid&, const DistributedShape&,
                               HostSpan<const double>, HostSpan<const double>, double, HostSpan<double>,
                               DistributedTimes&);

}  // namespace seidel
