// Analysis, second step: the wavefront of each node.
//
// A thread takes a node, in natural order by tickets, and waits for the wavefronts of the nodes before it. Dependences
// within a warp are settled by shuffles: a hop through L2 takes 0.3 us, and natural order is mostly chains of
// neighbours.
#include <seidel/kernels/orders/cuda_couplings.cuh>
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/device.cuh>

namespace seidel::symgs_detail::device {

using orders_detail::Couplings;

namespace {

/// Wavefronts of 32 nodes in a row: `mine`, or one more than the largest of the lanes that this one's bits `inside`
/// name.
__device__ Index settle_within(Index mine, unsigned inside, int lane) {
  const unsigned chained = __ballot_sync(whole_warp, lane > 0 && (inside >> (lane - 1) & 1));
  // Where the chain that ends here begins, and lanes chain ... lane - 1.
  const int chain = 31 - __clz(~chained & (lane == 31 ? whole_warp : (2u << lane) - 1));
  const unsigned implied = ((1u << lane) - 1) & ~((1u << chain) - 1);
  if (__any_sync(whole_warp, (inside & ~implied) != 0)) {
    unsigned awaited = inside;
    for (int by = 1; by < lanes; by *= 2) awaited |= __shfl_xor_sync(whole_warp, awaited, by);
    for (; awaited; awaited &= awaited - 1) {
      const int l = __ffs(int(awaited)) - 1;
      const Index other = __shfl_sync(whole_warp, mine, l);
      if ((inside >> l & 1) && other >= mine) mine = other + 1;
    }
    return mine;
  }
  Index ahead = mine - lane;
  for (int by = 1; by < lanes; by *= 2) {
    const Index other = __shfl_up_sync(whole_warp, ahead, by);
    if (lane - by >= chain && other > ahead) ahead = other;
  }
  return ahead + lane;
}

constexpr int wavefront_threads = 128;

/// One more than the largest wavefront among `length` columns (in rows; divided by `node`) before `base`. Nodes from
/// `base` on are left to the caller, as bits of `inside`. In groups from first to last: mostly only the last group must
/// be awaited.
template <int group>
__device__ Index wavefront_after(const Index* columns, std::int64_t length, int node, Index base,
                                 const Index* wavefront, unsigned& inside, Patience& patience) {
  Index mine = 0;
  for (std::int64_t at = length % group == 0 ? 0 : length % group - group; at < length; at += group) {
    Index c[group], w[group];
#pragma unroll
    for (int k = 0; k < group; ++k) {
      c[k] = at + k >= 0 ? columns[at + k] : -1;
      if (node > 1 && c[k] >= 0) c[k] /= node;
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      w[k] = c[k] >= 0 && c[k] < base ? peek(wavefront + c[k]) : 0;
      if (c[k] >= base) inside |= 1u << (c[k] - base), c[k] = -1;
    }
#pragma unroll
    for (int k = 0; k < group; ++k) {
      while (Unset<Index>::is(w[k]) && !patience.ends()) w[k] = peek(wavefront + c[k]);
      if (c[k] >= 0 && w[k] >= mine) mine = w[k] + 1;
    }
  }
  return mine;
}

constexpr int groups_per_warp = orders_detail::max_piece / lanes;

/// A warp takes a piece of a chain, waits for all that 32 nodes of it need, and the chain within them is one scan.
/// `group`: columns that a lane asks for together.
template <int group, class Offset>
__global__ void __launch_bounds__(wavefront_threads)
    find_wavefronts(Couplings<Offset> C, const Index* pieces, std::int64_t npieces, Index* wavefront, unsigned* ticket,
                    Findings* found) {
  const std::int64_t warp = std::int64_t(draw_ticket(ticket)) * (wavefront_threads / lanes) + threadIdx.x / lanes;
  if (warp >= npieces) return;
  const int lane = threadIdx.x % lanes;
  const std::int64_t begin = pieces[warp], end = pieces[warp + 1];
  Patience patience(&found->hung);
  constexpr bool early = group > 8;  // with fewer columns the registers that this takes cost more than it gains
  Offset first[groups_per_warp];
  Index length[groups_per_warp];
  if constexpr (early) {
#pragma unroll
    for (int g = 0; g < groups_per_warp; ++g) {
      const std::int64_t j = begin + g * lanes + lane;
      first[g] = j < end ? C.A.row_ptr[j * C.node] : 0;
      length[g] = j < end ? C.lower[j * C.node] : 0;
    }
#pragma unroll
    for (int g = 1; g < groups_per_warp; ++g)  // while the first group waits
      if (length[g] > 0) {
        prefetch(C.A.col_idx + first[g]);
        prefetch(C.A.col_idx + first[g] + length[g] - 1);
      }
  }
#pragma unroll early ? groups_per_warp : 1
  for (int g = 0; g < groups_per_warp; ++g) {
    const std::int64_t base = begin + g * lanes, j = base + lane;
    if (base >= end) return;
    Index mine = 0;
    unsigned inside = 0;
    if (j < end) {
      Offset at;
      Index count;
      if constexpr (early)
        at = first[g], count = length[g];
      else
        at = C.A.row_ptr[j * C.node], count = C.lower[j * C.node];
      mine = wavefront_after<group>(C.A.col_idx + at, count, C.node, Index(base), wavefront, inside, patience);
      if (C.list_end) {
        const Index other = wavefront_after<group>(C.lists + C.list_begin(j), C.list_length(j), 1, Index(base),
                                                   wavefront, inside, patience);
        if (other > mine) mine = other;
      }
    }
    __syncwarp();
    mine = settle_within(mine, inside, lane);
    if (j < end) put(wavefront + j, mine);
    __syncwarp();
  }
}

/// Whether every upper entry leads to a later wavefront: then the lower triangle's wavefronts serve A' too.
template <class Offset>
__global__ void look_for_disorder(Couplings<Offset> C, Index nodes, const Index* wavefront, Findings* found) {
  const Index j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j >= nodes) return;
  const Index mine = wavefront[j];
  if (mine > peek(&found->last_wavefront)) atomicMax(&found->last_wavefront, mine);
  const std::int64_t row = std::int64_t(j) * C.node;
  bool good = true;
  for (Offset k = C.A.row_ptr[row] + C.lower[row] + 1; k < C.A.row_ptr[row + 1]; ++k) {
    const Index c = C.node > 1 ? C.A.col_idx[k] / C.node : C.A.col_idx[k];
    good &= c == j || wavefront[c] > mine;
  }
  if (!good) found->disorder = 1;
}

}  // namespace

template <class Offset>
Array<Index, Device> node_wavefronts(const Cuda& on, const Pattern<Offset>& A, const Index* lower, int node,
                                     Findings* findings) {
  const Index nodes = A.nrows / node;
  Array<Index, Device> wavefront(on, nodes);
  Array<unsigned, Device> ticket(on, 1);
  set_bytes(on, ticket.span(), 0);
  const Findings found = value_of(on, findings);
  Couplings<Offset> C{.A = A, .lower = lower, .node = node};
  const Array<Index, Device> pieces = orders_detail::find_pieces(on, C, nodes);
  const std::int64_t npieces = pieces.size() - 1;
  const auto kernel =
      found.longest_part <= 8 || found.longest_part > 16 ? find_wavefronts<8, Offset> : find_wavefronts<16, Offset>;
  const auto find = [&] {
    set_bytes(on, wavefront.span(), 0xff);
    launch(on, kernel, blocks_for(npieces, wavefront_threads / lanes), wavefront_threads, "finding wavefronts", C,
           pieces.data(), npieces, wavefront.data(), ticket.data(), findings);
    launch_over(on, nodes, look_for_disorder<Offset>, "looking over wavefronts", C, nodes, wavefront.data(), findings);
  };
  if (!found.lopsided) {  // then the lower triangle most likely tells all
    find();
    if (value_of(on, &findings->disorder) == 0) return wavefront;
  }

  const orders_detail::Lists lists = transpose_upper(on, C);
  find();
  return wavefront;
}

template Array<Index, Device> node_wavefronts(const Cuda&, const Pattern<std::int32_t>&, const Index*, int, Findings*);
template Array<Index, Device> node_wavefronts(const Cuda&, const Pattern<std::int64_t>&, const Index*, int, Findings*);

}  // namespace seidel::symgs_detail::device
