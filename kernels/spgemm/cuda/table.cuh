// Rows of middle length: a hash table in shared memory for each, by open addressing. Which slot a column gets may change
// from run to run; what is in it does not.
#pragma once
#include <cmath>
#include <cstdint>

#include <seidel/kernels/spgemm/cuda/rows.cuh>

namespace seidel::spgemm_detail {

inline constexpr Index free_slot = -1;

/// The slot of a column, taken if there is none yet; `slots` is a power of two. -1 if max_tries slots are others'.
struct Found {
  int slot;
  bool is_new;
};
__device__ inline Found find_slot(Index* table, int slots, Index column, int max_tries) {
  int slot = int(unsigned(column) * 0x9e3779b1u >> (__clz(slots) + 1));
  for (int tries = 0; tries < max_tries; ++tries) {
    Index seen = *static_cast<volatile Index*>(table + slot);
    if (seen == free_slot) {
      seen = atomicCAS(table + slot, free_slot, column);
      if (seen == free_slot) return {slot, true};
    }
    if (seen == column) return {slot, false};
    slot = (slot + 1) & (slots - 1);
  }
  return {-1, false};
}

/// How a class of rows is put on the GPU.
struct TableShape {
  int lanes;    // for each row
  int slots;    // of its table, a power of two
  int threads;  // of a block

  static constexpr int max_bytes = 48 << 10;  // of shared memory: what every GPU gives without being asked
  TableShape(int lanes_, int slots_, int bytes_per_slot)
      : lanes(lanes_),
        slots(slots_),
        threads(std::clamp(max_bytes / (slots_ * bytes_per_slot) * lanes_ / warp_size * warp_size, warp_size, 128)) {}
  int rows_per_block() const { return threads / lanes; }
};

/// Rows that no table had room for.
struct Overflow {
  Index* rows;
  unsigned long long* size;
};

/// lengths[row] = entries of the row. `lanes` lanes take a row, `sub` of them a row of B: here the order does not matter.
template <int lanes, class Offset>
__global__ void table_count(Pattern<Offset> A, Pattern<Offset> B, RowList rows, int slots, int sub, Index* lengths,
                            Overflow overflow) {
  extern __shared__ Index tables[];
  const int lane = threadIdx.x % lanes;
  const std::int64_t at = std::int64_t(blockIdx.x) * (blockDim.x / lanes) + threadIdx.x / lanes;
  Index* const table = tables + std::int64_t(threadIdx.x / lanes) * slots;
  for (int s = 4 * lane; s < slots; s += 4 * lanes)
    *reinterpret_cast<int4*>(table + s) = make_int4(free_slot, free_slot, free_slot, free_slot);
  __syncwarp();
  constexpr int max_tries = 64;
  int found = 0;
  bool full = false;
  if (at < rows.size) {
    const Index row = rows[at];
    const Offset last = A.row_ptr[row + 1];
    for (Offset e = A.row_ptr[row] + lane / sub; e < last && !full; e += lanes / sub) {
      const Index k = A.col_idx[e];
      const Offset end = B.row_ptr[k + 1];
      for (Offset f = B.row_ptr[k] + lane % sub; f < end && !full; f += sub) {
        const Found place = find_slot(table, slots, B.col_idx[f], max_tries);
        full = place.slot < 0;
        found += place.is_new;
      }
    }
  }
  __syncwarp();
  for (int by = lanes / 2; by; by /= 2) {
    found += __shfl_xor_sync(whole_warp, found, by);
    full |= __shfl_xor_sync(whole_warp, int(full), by) != 0;
  }
  if (at >= rows.size || lane != 0) return;
  lengths[rows[at]] = found;
  if (full) overflow.rows[atomicAdd(overflow.size, 1ull)] = rows[at];
}

/// The row's columns in ascending order with their sums, from a table with at most half as many columns as slots.
template <int lanes, class Real>
__device__ void write_sorted(Index* keys, Real* sums, int slots, Index* col_idx, Real* values) {
  const int lane = threadIdx.x % lanes;
  const unsigned mine =
      lanes == warp_size ? whole_warp : ((1u << lanes % warp_size) - 1) << (threadIdx.x % warp_size & ~(lanes - 1));
  const unsigned below = (1u << threadIdx.x % warp_size) - 1;
  int n = 0;
  for (int s = lane; s < slots; s += lanes) {  // without gaps: never past slot s
    const Index key = keys[s];
    const Real sum = sums[s];
    const unsigned taken = __ballot_sync(whole_warp, key != free_slot) & mine;
    __syncwarp();
    if (key != free_slot) {
      const int to = n + __popc(taken & below);
      keys[to] = key, sums[to] = sum;
    }
    n += __popc(taken);
    __syncwarp();
  }
  if (lane < 4) keys[n + lane] = std::numeric_limits<Index>::max();  // what is read four at a time
  __syncwarp();
  constexpr int own = 4;
  for (int first = lane; first < n; first += own * lanes) {
    Index key[own];
    int rank[own] = {};
#pragma unroll
    for (int q = 0; q < own; ++q) key[q] = first + q * lanes < n ? keys[first + q * lanes] : -1;
    for (int other = 0; other < n; other += 4) {
      const int4 four = *reinterpret_cast<const int4*>(keys + other);
#pragma unroll
      for (int q = 0; q < own; ++q)
        rank[q] += (four.x < key[q]) + (four.y < key[q]) + (four.z < key[q]) + (four.w < key[q]);
    }
#pragma unroll
    for (int q = 0; q < own; ++q)
      if (key[q] >= 0) col_idx[rank[q]] = key[q], values[rank[q]] = sums[first + q * lanes];
  }
}

/// The products of a row: `lanes` lanes take the entries of one row of B after another, so that each sum is in the order
/// of A's row; within a row of B the columns differ. load(f, q) gets entry f of B for product q of the row, one row of B
/// ahead of its use; use(a_ik, loaded). All lanes of the warp come here; row < 0: none.
template <int lanes, class Real, class Offset, class Load, class Use>
__device__ void walk_products(const Pattern<Offset>& A, const Real* A_values, const Pattern<Offset>& B, Index row,
                              const Load& load, const Use& use) {
  const int lane = threadIdx.x % lanes;
  const Offset begin = row >= 0 ? A.row_ptr[row] : 0;
  const int length = row >= 0 ? int(A.row_ptr[row + 1] - begin) : 0, longest = warp_max<lanes>(length);
  int done = 0;  // products before the row of B that is loaded
  for (int base = 0; base < longest; base += lanes) {
    Offset B_begin = 0;
    int B_length = 0;
    Real a = 0;
    if (base + lane < length) {
      const Index k = A.col_idx[begin + base + lane];
      B_begin = B.row_ptr[k], B_length = int(B.row_ptr[k + 1] - B_begin), a = A_values[begin + base + lane];
    }
    const int steps = min(lanes, longest - base);
    Offset ahead = 0;
    int entries_ahead = 0, done_ahead = 0;
    decltype(load(ahead, 0)) loaded{};
    const auto begin_step = [&](int step) {
      done_ahead = done;
      ahead = __shfl_sync(whole_warp, B_begin, step, lanes);
      entries_ahead = __shfl_sync(whole_warp, B_length, step, lanes);
      if (lane < entries_ahead) loaded = load(ahead + lane, done + lane);
      done += entries_ahead;
    };
    begin_step(0);
    for (int step = 0; step < steps; ++step) {
      const Real a_k = __shfl_sync(whole_warp, a, step, lanes);
      const Offset first = ahead;
      const int entries = entries_ahead, product = done_ahead, most = warp_max<lanes>(entries);
      auto mine = loaded;
      if (step + 1 < steps) begin_step(step + 1);
      for (int j = lane; j - lane < most; j += lanes)
        if (j < entries) {
          if (j >= lanes) mine = load(first + j, product + j);
          use(a_k, mine);
        }
      __syncwarp();
    }
  }
}

template <int lanes, class Real, class Offset>
__global__ void table_values(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values,
                             RowList rows, int slots, const Offset* row_ptr, Index* col_idx, Real* values) {
  extern __shared__ int4 shared[];
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = blockDim.x / lanes;
  Real* const sums = reinterpret_cast<Real*>(shared) + std::int64_t(group) * slots;
  Index* const keys = reinterpret_cast<Index*>(reinterpret_cast<Real*>(shared) + std::int64_t(groups) * slots) +
                      std::int64_t(group) * slots;
  for (int s = lane; s < slots; s += lanes) keys[s] = free_slot, sums[s] = 0;
  __syncwarp();
  const std::int64_t at = std::int64_t(blockIdx.x) * groups + group;
  const Index row = at < rows.size ? rows[at] : -1;
  struct Entry {
    Index column;
    Real value;
  };
  walk_products<lanes>(
      A, A_values, B, row, [&](Offset f, int) { return Entry{B.col_idx[f], B_values[f]}; },
      [&](Real a, const Entry& b) {
        Real& sum = sums[find_slot(keys, slots, b.column, slots).slot];
        sum = std::fma(a, b.value, sum);
      });
  const Offset to = row >= 0 ? row_ptr[row] : 0;
  write_sorted<lanes>(keys, sums, slots, col_idx + to, values + to);
}

/// What table_update needs: the place in C's row of each product. A row's begin at first_place[row] bytes.
template <int lanes, class Place, class Real, class Offset>
__global__ void table_places(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, RowList rows, int slots,
                             const Offset* row_ptr, const Index* col_idx, const std::int64_t* first_place,
                             std::uint8_t* all_places) {
  extern __shared__ int4 shared[];
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = blockDim.x / lanes;
  Index* const keys = reinterpret_cast<Index*>(shared) + std::int64_t(group) * slots;
  Index* const ranks = reinterpret_cast<Index*>(shared) + std::int64_t(groups + group) * slots;
  for (int s = lane; s < slots; s += lanes) keys[s] = free_slot;
  __syncwarp();
  const std::int64_t at = std::int64_t(blockIdx.x) * groups + group;
  const Index row = at < rows.size ? rows[at] : -1;
  if (row >= 0)
    for (Offset e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += lanes)
      ranks[find_slot(keys, slots, col_idx[e], slots).slot] = Index(e - row_ptr[row]);
  __syncwarp();
  Place* const places = reinterpret_cast<Place*>(all_places + (row >= 0 ? first_place[row] : 0));
  struct Product {
    Index column;
    int number;
  };
  walk_products<lanes>(
      A, A_values, B, row, [&](Offset f, int number) { return Product{B.col_idx[f], number}; },
      [&](Real, const Product& p) { places[p.number] = Place(ranks[find_slot(keys, slots, p.column, slots).slot]); });
}

/// The values again: no column is read or looked for. `room` entries for each row.
template <int lanes, class Place, class Real, class Offset>
__global__ void table_update(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values,
                             RowList rows, int room, const Offset* row_ptr, const std::int64_t* first_place,
                             const std::uint8_t* all_places, Real* values) {
  extern __shared__ int4 shared[];
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = blockDim.x / lanes;
  Real* const sums = reinterpret_cast<Real*>(shared) + std::int64_t(group) * room;
  for (int s = lane; s < room; s += lanes) sums[s] = 0;
  __syncwarp();
  const std::int64_t at = std::int64_t(blockIdx.x) * groups + group;
  const Index row = at < rows.size ? rows[at] : -1;
  const Place* const places = reinterpret_cast<const Place*>(all_places + (row >= 0 ? first_place[row] : 0));
  struct Product {
    Place place;
    Real value;
  };
  walk_products<lanes>(
      A, A_values, B, row, [&](Offset f, int number) { return Product{places[number], B_values[f]}; },
      [&](Real a, const Product& b) { sums[b.place] = std::fma(a, b.value, sums[b.place]); });
  if (row < 0) return;
  const Offset to = row_ptr[row];
  const int n = int(row_ptr[row + 1] - to);
  for (int place = lane; place < n; place += lanes) values[to + place] = sums[place];
}

}  // namespace seidel::spgemm_detail
