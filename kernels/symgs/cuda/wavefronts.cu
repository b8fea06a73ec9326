// Analysis, second step: the wavefront of each node.
//
// A thread takes a node, in natural order by tickets, and waits for the wavefronts of the nodes before it. Dependences
// within a warp are settled by shuffles: a hop through L2 takes 0.3 us, and natural order is mostly chains of
// neighbours.
#include <seidel/kernels/symgs/cuda/analysis.cuh>
#include <seidel/kernels/symgs/cuda/device.cuh>

namespace seidel::symgs_detail::device {

using orders_detail::Couplings;

namespace {

/// What one lane knows of one node: the columns that it still has to see, in groups that are asked for together.
class Pending {
 public:
  __device__ Pending(int node, Index base) : node_(node), base_(base) {}
  /// Two lists: columns of A in rows, then rows of A' in nodes.
  __device__ void lists(const Index* columns, std::int64_t length, const Index* others, std::int64_t other_length) {
    at_ = columns, left_ = length, others_ = others, others_left_ = other_length;
  }
  /// Looks once at what is missing. True when all nodes before `base` are known.
  __device__ bool advance(const Index* wavefront, Index& mine, unsigned& inside, Patience& patience) {
    bool missing = false;
#pragma unroll
    for (int k = 0; k < group; ++k)
      if (Unset<Index>::is(w_[k])) {
        w_[k] = peek(wavefront + c_[k]);
        missing |= Unset<Index>::is(w_[k]);
      }
    if (missing && !patience.ends()) return false;
#pragma unroll
    for (int k = 0; k < group; ++k)
      if (c_[k] >= 0 && w_[k] >= mine) mine = w_[k] + 1;
    if (left_ <= 0) at_ = others_, left_ = others_left_, others_left_ = 0, node_ = 1;
    if (left_ <= 0) return true;
#pragma unroll
    for (int k = 0; k < group; ++k) c_[k] = k < left_ ? at_[k] : -1;
#pragma unroll
    for (int k = 0; k < group; ++k) {
      if (node_ > 1 && c_[k] >= 0) c_[k] /= node_;
      if (c_[k] >= base_) inside |= 1u << (c_[k] - base_), c_[k] = -1;  // left to the caller
      w_[k] = c_[k] >= 0 ? peek(wavefront + c_[k]) : 0;
    }
    at_ += group, left_ -= group;
    return false;
  }

 private:
  static constexpr int group = 8;
  const Index *at_ = nullptr, *others_ = nullptr;
  std::int64_t left_ = 0, others_left_ = 0;
  int node_;
  Index base_;
  Index c_[group] = {-1, -1, -1, -1, -1, -1, -1, -1}, w_[group] = {};
};

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

constexpr int groups_per_warp = 4;  // so that many nodes are under way at once, and planes of a lattice move together

/// Where most nodes are coupled to the one before them, as in a lattice: a warp waits for all that its 32 nodes need,
/// and the chain within it is one scan. `group`: columns that a lane asks for together.
template <int group, class Offset>
__global__ void __launch_bounds__(wavefront_threads)
    find_chained_wavefronts(Couplings<Offset> C, Index nodes, Index* wavefront, unsigned* ticket, Findings* found) {
  const std::int64_t warp = std::int64_t(draw_ticket(ticket)) * (wavefront_threads / lanes) + threadIdx.x / lanes;
  const int lane = threadIdx.x % lanes;
  const std::int64_t begin = warp * (groups_per_warp * lanes);
  Patience patience(&found->hung);
  constexpr bool early = group > 8;  // with fewer columns the registers that this takes cost more than it gains
  Offset first[groups_per_warp];
  Index length[groups_per_warp];
  if constexpr (early) {
#pragma unroll
    for (int g = 0; g < groups_per_warp; ++g) {
      const std::int64_t j = begin + g * lanes + lane;
      first[g] = j < nodes ? C.A.row_ptr[j * C.node] : 0;
      length[g] = j < nodes ? C.lower[j * C.node] : 0;
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
    if (base >= nodes) return;
    Index mine = 0;
    unsigned inside = 0;
    if (j < nodes) {
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
    if (j < nodes) put(wavefront + j, mine);
    __syncwarp();
  }
}

constexpr Index not_yet = 0x70000000;  // in place of a wavefront, and larger than any
/// Nodes between a warp that finds something missing and the node that it awaits by one address before it looks again:
/// looks of all lanes of all warps would saturate L2. (In a lattice it would keep planes from moving together.)
constexpr Index watch_distance = 4096;

/// The same where rows next to each other have little to do with each other: each lane goes on at its own pace.
template <class Offset>
__global__ void __launch_bounds__(wavefront_threads)
    find_loose_wavefronts(Couplings<Offset> C, Index nodes, Index* wavefront, unsigned* ticket, Findings* found) {
  const std::int64_t warp = std::int64_t(draw_ticket(ticket)) * (wavefront_threads / lanes) + threadIdx.x / lanes;
  const int lane = threadIdx.x % lanes;
  const std::int64_t base = warp * lanes, j = base + lane;
  if (base >= nodes) return;
  Patience patience(&found->hung);
  Index mine = 0;
  unsigned inside = 0;
  Pending pending(C.node, Index(base));
  bool known = j >= nodes, done = known;
  if (!done) {
    pending.lists(C.A.col_idx + C.A.row_ptr[j * C.node], C.lower[j * C.node], C.lists + C.list_begin(j),
                  C.list_length(j));
  }
  for (int round = 0; __any_sync(whole_warp, !done); ++round) {
    bool news = false;
    if (!known) news = known = pending.advance(wavefront, mine, inside, patience);
    if (!__any_sync(whole_warp, news)) {
      if (round == 2 && base >= watch_distance)
        while (Unset<Index>::is(peek(wavefront + (base - watch_distance))) && !patience.ends()) {}
      __syncwarp();
      continue;
    }
    const Index settled = settle_within(known ? mine : not_yet, inside, lane);
    if (!done && settled < not_yet) put(wavefront + j, settled), done = true;
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
  const bool chained = std::int64_t(found.chained) * 2 > A.nrows / examined_every;
  const std::int64_t blocks = blocks_for(nodes, wavefront_threads * (chained ? groups_per_warp : 1));
  const auto kernel = !chained                                             ? find_loose_wavefronts<Offset>
                      : found.longest_part <= 8 || found.longest_part > 16 ? find_chained_wavefronts<8, Offset>
                                                                           : find_chained_wavefronts<16, Offset>;
  Couplings<Offset> C{.A = A, .lower = lower, .node = node};
  const auto find = [&] {
    set_bytes(on, wavefront.span(), 0xff);
    launch(on, kernel, blocks, wavefront_threads, "finding wavefronts", C, nodes, wavefront.data(), ticket.data(),
           findings);
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
