// Rows of middle length: a hash table in shared memory for each, by open addressing. Which slot a column gets may change
// from run to run; what is in it does not.
#pragma once
#include <cmath>

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

/// `lanes` lanes take a row, and the entries of one row of B after another, so that each sum is in the order of A's row;
/// within a row of B the columns differ.
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
  const Offset begin = row >= 0 ? A.row_ptr[row] : 0;
  const int length = row >= 0 ? int(A.row_ptr[row + 1] - begin) : 0, longest = warp_max<lanes>(length);
  for (int base = 0; base < longest; base += lanes) {
    Offset B_begin = 0;
    int B_length = 0;
    Real a = 0;
    if (base + lane < length) {
      const Index k = A.col_idx[begin + base + lane];
      B_begin = B.row_ptr[k], B_length = int(B.row_ptr[k + 1] - B_begin), a = A_values[begin + base + lane];
    }
    const int steps = min(lanes, longest - base);
    Offset from = 0;
    int n = 0;
    Index column = 0;
    Real value = 0;
    const auto load = [&](int step) {  // the step to come, so that its loads are under way
      from = __shfl_sync(whole_warp, B_begin, step, lanes), n = __shfl_sync(whole_warp, B_length, step, lanes);
      if (lane < n) column = B.col_idx[from + lane], value = B_values[from + lane];
    };
    load(0);
    for (int step = 0; step < steps; ++step) {
      const Real a_k = __shfl_sync(whole_warp, a, step, lanes);
      const Offset first = from;
      const int entries = n, most = warp_max<lanes>(n);
      Index c = column;
      Real b = value;
      if (step + 1 < steps) load(step + 1);
      for (int j = lane; j - lane < most; j += lanes) {
        if (j < entries) {
          if (j >= lanes) c = B.col_idx[first + j], b = B_values[first + j];
          const int slot = find_slot(keys, slots, c, slots).slot;
          sums[slot] = std::fma(a_k, b, sums[slot]);
        }
      }
      __syncwarp();
    }
  }
  const Offset to = row >= 0 ? row_ptr[row] : 0;
  write_sorted<lanes>(keys, sums, slots, col_idx + to, values + to);
}

}  // namespace seidel::spgemm_detail
