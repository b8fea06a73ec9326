// Greedy colours on a GPU, the same as on the host.
//
// A thread takes a row, in natural order by tickets, and waits for the colours of the rows before it; a colour is its
// own flag. Couplings within a warp are settled by shuffles: natural order is mostly chains of neighbours.
#include <seidel/kernels/orders/orders.hpp>

#include <seidel/formats/runtime/cuda_warp.cuh>
#include <seidel/kernels/cuda_waiting.cuh>
#include <seidel/kernels/orders/cuda_couplings.cuh>

namespace seidel::orders_detail {

using cuda::launch, cuda::launch_over, cuda::Patience, cuda::peek, cuda::set_bytes, cuda::Unset, cuda::warp_size,
    cuda::whole_warp;

namespace {

constexpr Index later = std::numeric_limits<Index>::max();  // the colour of a row that found all 64 of this pass taken
constexpr int colours_per_pass = 64;
constexpr int colour_threads = 128;

struct Found {
  unsigned hung;      // a wait was given up
  unsigned left;      // some row must wait for the next pass
  unsigned disorder;  // two rows of one colour are coupled by A'
};

/// The colours first_colour ... first_colour + 63, as bits, of the rows among `columns` that come before `begin`. Those
/// from `begin` up to `row` are left to the caller, as bits of `inside`. In groups, so that their loads are under way
/// together.
__device__ std::uint64_t taken_by(const Index* columns, std::int64_t length, Index row, Index begin,
                                  const Index* colour, Index first_colour, unsigned& inside, Patience& patience) {
  constexpr int group = 8;
  std::uint64_t taken = 0;
  bool more = true;
  for (std::int64_t at = 0; more && at < length; at += group) {
    Index c[group], theirs[group];
#pragma unroll
    for (int k = 0; k < group; ++k) c[k] = at + k < length ? columns[at + k] : row;
    more = c[group - 1] < row;
#pragma unroll
    for (int k = 0; k < group; ++k) {
      theirs[k] = c[k] < begin ? peek(colour + c[k]) : later;
      if (c[k] >= begin && c[k] < row) inside |= 1u << (c[k] - begin);
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      while (Unset<Index>::is(theirs[k]) && !patience.ends()) theirs[k] = peek(colour + c[k]);
      const auto bit = unsigned(theirs[k] - first_colour);  // of an earlier pass: wraps around
      if (bit < colours_per_pass) taken |= 1ull << bit;
    }
  }
  return taken;
}

__device__ Index min_free(std::uint64_t taken, Index first_colour) {
  return ~taken == 0 ? later : first_colour + Index(__ffsll(static_cast<long long>(~taken))) - 1;
}

/// One pass: gives the colours first_colour ... first_colour + 63. Rows with a colour keep it. A warp takes a piece of a
/// chain and waits for all that 32 rows of it need.
template <class Offset>
__global__ void __launch_bounds__(colour_threads)
    give_colours(const Couplings<Offset> of, const Index* pieces, std::int64_t npieces, Index* colour,
                 Index first_colour, unsigned* ticket, Found* found) {
  const std::int64_t warp =
      std::int64_t(cuda::draw_ticket(ticket)) * (colour_threads / warp_size) + threadIdx.x / warp_size;
  if (warp >= npieces) return;
  const int lane = threadIdx.x % warp_size;
  Patience patience(&found->hung);
  const Index end = pieces[warp + 1];
  for (std::int64_t begin = pieces[warp]; begin < end; begin += warp_size) {
    const std::int64_t row = begin + lane;
    Index mine = row < end ? colour[row] : 0;
    const bool open = Unset<Index>::is(mine);
    std::uint64_t taken = 0;
    unsigned inside = 0;
    if (open) {
      const Offset first = of.A.row_ptr[row];
      taken = taken_by(of.A.col_idx + first, of.A.row_ptr[row + 1] - first, Index(row), Index(begin), colour,
                       first_colour, inside, patience);
      if (of.list_end)
        taken |= taken_by(of.lists + of.list_begin(row), of.list_length(row), Index(row), Index(begin), colour,
                          first_colour, inside, patience);
    }
    __syncwarp();
    if (__any_sync(whole_warp, inside != 0))
      for (int l = 0; l < warp_size - 1; ++l) {  // what lane l needs of warp_size before it, it has by now
        const Index theirs = __shfl_sync(whole_warp, open ? min_free(taken, first_colour) : mine, l);
        const auto bit = unsigned(theirs - first_colour);
        if ((inside >> l & 1) && bit < colours_per_pass) taken |= 1ull << bit;
      }
    if (open) {
      mine = min_free(taken, first_colour);
      cuda::put(colour + row, mine);
      if (mine == later) *(volatile unsigned*)&found->left = 1;
    }
    __syncwarp();
  }
}

__global__ void reopen(Index* colour, Index nrows) {
  const Index row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < nrows && colour[row] == later) colour[row] = -1;
}

/// Whether A' couples rows of one colour. If not, the colours from A alone are those of the union: each is the least
/// that rows before it in A leave, and no other row has it.
template <class Offset>
__global__ void look_for_disorder(const Couplings<Offset> of, const Index* colour, Found* found) {
  const Index row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= of.A.nrows) return;
  bool good = true;
  for (Offset k = of.A.row_ptr[row]; k < of.A.row_ptr[row + 1]; ++k)
    good &= of.A.col_idx[k] <= row || colour[of.A.col_idx[k]] != colour[row];
  if (!good) *(volatile unsigned*)&found->disorder = 1;
}

}  // namespace

template <class Offset>
Array<Index, Device> greedy_colours_of(const Cuda& on, Span<const Offset, Device> row_ptr,
                                       Span<const Index, Device> col_idx) {
  const Index n = Index(std::max<std::int64_t>(row_ptr.size() - 1, 0));
  Array<Index, Device> colour(on, n);
  if (n == 0) return colour;
  Array<unsigned, Device> ticket(on, 1);
  Array<Found, Device> state(on, 1);
  set_bytes(on, ticket.span(), 0);
  set_bytes(on, state.span(), 0);
  Couplings<Offset> of{.A = {n, row_ptr.data(), col_idx.data()}};
  const Array<Index, Device> pieces = find_pieces(on, of, n);
  const std::int64_t npieces = pieces.size() - 1;
  const auto give_all = [&] {
    set_bytes(on, colour.span(), 0xff);
    for (Index first_colour = 0;; first_colour += colours_per_pass) {
      launch(on, give_colours<Offset>, blocks_for(npieces, colour_threads / warp_size), colour_threads, "colouring", of,
             pieces.data(), npieces, colour.data(), first_colour, ticket.data(), state.data());
      const Found found = value_of(on, state.data());
      if (found.hung)
        throw BackendError(
            "colouring on the GPU: a row waited for another for seconds\n"
            "  the GPU may be suspended or the pattern may have changed meanwhile; colour on the host instead");
      if (!found.left) return;
      set_bytes(on, state.span(), 0);
      launch_over(on, n, reopen, "colouring", colour.data(), n);
    }
  };
  give_all();
  launch_over(on, n, look_for_disorder<Offset>, "looking over colours", of, colour.data(), state.data());
  if (!value_of(on, state.data()).disorder) return colour;

  set_bytes(on, state.span(), 0);
  const Lists lists = transpose_upper(on, of);
  give_all();
  return colour;
}

template Array<Index, Device> greedy_colours_of(const Cuda&, Span<const std::int32_t, Device>,
                                                Span<const Index, Device>);
template Array<Index, Device> greedy_colours_of(const Cuda&, Span<const std::int64_t, Device>,
                                                Span<const Index, Device>);

}  // namespace seidel::orders_detail

namespace seidel {

Array<Index, Device> colour_order(const Cuda& on, Span<const Index, Device> colours, HostSpan<const Index> turn) {
  const std::int64_t n = colours.size();
  cuda::Pairs<Index> rows(on, n);
  const auto turns = copied_to<Device>(on, turn);
  cuda::for_each(
      on, n, "numbering rows",
      [=, turn = turns.span(), key = rows.key[0].data(), row = rows.payload[0].data()] __device__(std::int64_t i) {
        key[i] = turn.empty() ? colours[i] : turn[colours[i]];
        row[i] = Index(i);
      });
  cuda::sort_pairs(on, rows, n, n);
  return std::move(rows.payload[0]);
}

}  // namespace seidel
