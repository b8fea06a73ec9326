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
  int bytes_per_row;  // of shared memory
  int threads;        // of a block
  int rows;           // that it takes

  static constexpr int max_bytes = 48 << 10;  // of shared memory: what every GPU gives without being asked
  TableShape(int lanes, int bytes_per_row_)
      : bytes_per_row(bytes_per_row_),
        threads(std::clamp(max_bytes / bytes_per_row * lanes / warp_size * warp_size, warp_size, 128)),
        rows(threads / lanes) {}
  int bytes() const { return rows * bytes_per_row; }
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

/// What a walk over the products of a row needs of an entry of A: its value, and the row of B that it meets.
template <class Real, class Offset>
struct alignas(16) Met {
  Real a;
  Offset begin;
  Index length;
};
/// Copied as a whole, 16 bytes at once, which the compiler would split.
template <class Real, class Offset>
__device__ void copy_whole(const Met<Real, Offset>& from, Met<Real, Offset>& to) {
#pragma unroll
  for (std::size_t k = 0; k < sizeof(from) / sizeof(int4); ++k)
    reinterpret_cast<int4*>(&to)[k] = reinterpret_cast<const int4*>(&from)[k];
}
/// Entries of A's row that lie in shared memory at a time, for each row of C.
SEIDEL_HD constexpr int met_at_once(int lanes) { return lanes <= 4 ? 16 : 32; }
/// From those of a row to those of the next one: the eight threads that copy 16 bytes together use all banks.
SEIDEL_HD constexpr int met_stride(int lanes) { return met_at_once(lanes) + (lanes <= 4 ? 4 : 0); }
template <class Real, class Offset>
SEIDEL_HD constexpr int bytes_of_met(int lanes) {
  return met_stride(lanes) * int(sizeof(Met<Real, Offset>));
}

/// The products of a row: `lanes` lanes take the entries of one row of B after another, so that each sum is in the order
/// of A's row; within a row of B the columns differ. load(f, q) gets entry f of B for product q of the row, for four rows of B
/// before use(a_ik, loaded) has any. `met` is shared memory of bytes_of_met(). All lanes of the warp come here; row < 0: none.
template <int lanes, class Real, class Offset, class Load, class Use>
__device__ void walk_products(const Pattern<Offset>& A, const Real* A_values, const Pattern<Offset>& B, Index row,
                              Met<Real, Offset>* met, const Load& load, const Use& use) {
  using Entry = Met<Real, Offset>;
  constexpr int batch = 4, at_once = met_at_once(lanes);
  const int lane = threadIdx.x % lanes;
  const Offset begin = row >= 0 ? A.row_ptr[row] : 0;
  const int length = row >= 0 ? int(A.row_ptr[row + 1] - begin) : 0, longest = warp_max<lanes>(length);
  unsigned next = unsigned(lane);  // product of this lane
  for (int base = 0; base < longest; base += at_once) {
    __syncwarp();
#pragma unroll
    for (int e = 0; e < at_once; e += lanes) {
      Entry entry{};
      if (base + e + lane < length) {
        const Offset at = begin + base + e + lane;
        const Index k = A.col_idx[at];
        entry.a = A_values[at];
        entry.begin = B.row_ptr[k];
        entry.length = Index(B.row_ptr[k + 1] - entry.begin);
      }
      copy_whole(entry, met[e + lane]);
    }
    __syncwarp();
    const int steps = min(at_once, longest - base);
    for (int step = 0; step < steps; step += batch) {
      Entry entry[batch];
      decltype(load(Offset(), 0u)) loaded[batch];
      const unsigned first = next;
      int most = 0;
#pragma unroll
      for (int s = 0; s < batch; ++s) {
        copy_whole(met[step + s], entry[s]);
        most = max(most, entry[s].length);
        if (lane < entry[s].length) loaded[s] = load(entry[s].begin + lane, next);
        next += unsigned(entry[s].length);
      }
      if (__any_sync(whole_warp, most > lanes)) {  // seldom
        next = first;
        for (int s = 0; s < batch; ++s) {
          const Entry one = met[step + s];
          for (int j = lane; j < one.length; j += lanes) use(one.a, load(one.begin + j, next + unsigned(j - lane)));
          next += unsigned(one.length);
          __syncwarp();
        }
        continue;
      }
#pragma unroll
      for (int s = 0; s < batch; ++s) {
        if (lane < entry[s].length) use(entry[s].a, loaded[s]);
        __syncwarp();
      }
    }
  }
  __syncwarp();
}

/// Shared memory of a group: entries of A that are met, sums, and Indices.
template <int lanes, class Real, class Offset>
struct GroupMemory {
  Met<Real, Offset>* met;
  Real* sums;
  Index* indices;

  /// For so many sums and Indices per row. The latter begin at a multiple of 16 bytes where these are multiples of 4.
  __device__ GroupMemory(int nsums, int nindices) {
    extern __shared__ int4 shared[];
    const int group = threadIdx.x / lanes, groups = blockDim.x / lanes;
    constexpr int bytes = bytes_of_met<Real, Offset>(lanes);
    char* const memory = reinterpret_cast<char*>(shared);
    met = reinterpret_cast<Met<Real, Offset>*>(memory + group * bytes);
    indices = reinterpret_cast<Index*>(memory + groups * bytes) + group * nindices;
    sums = reinterpret_cast<Real*>(memory + groups * (bytes + nindices * int(sizeof(Index)))) + group * nsums;
  }
};
template <class Real, class Offset>
int bytes_of_group(int lanes, int nsums, int nindices) {
  return bytes_of_met<Real, Offset>(lanes) + nsums * int(sizeof(Real)) + nindices * int(sizeof(Index));
}

template <int lanes, class Real, class Offset>
__global__ void __launch_bounds__(128)
    table_values(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values, RowList rows,
                 int slots, const Offset* row_ptr, Index* col_idx, Real* values) {
  const GroupMemory<lanes, Real, Offset> memory(slots, slots);
  Real* const sums = memory.sums;
  Index* const keys = memory.indices;
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = blockDim.x / lanes;
  for (int s = lane; s < slots; s += lanes) keys[s] = free_slot, sums[s] = 0;
  const std::int64_t at = std::int64_t(blockIdx.x) * groups + group;
  const Index row = at < rows.size ? rows[at] : -1;
  struct Entry {
    Index column;
    Real value;
  };
  walk_products<lanes>(
      A, A_values, B, row, memory.met,
      [&](Offset f, unsigned) {
        return Entry{B.col_idx[f], B_values[f]};
      },
      [&](Real a, const Entry& b) {
        Real& sum = sums[find_slot(keys, slots, b.column, slots).slot];
        sum = std::fma(a, b.value, sum);
      });
  const Offset to = row >= 0 ? row_ptr[row] : 0;
  write_sorted<lanes>(keys, sums, slots, col_idx + to, values + to);
}

/// What table_update needs: the place in C's row of each product. A row's begin at first_place[row] bytes.
template <int lanes, class Place, class Real, class Offset>
__global__ void __launch_bounds__(128)
    table_places(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, RowList rows, int slots,
                 const Offset* row_ptr, const Index* col_idx, const std::int64_t* first_place,
                 std::uint8_t* all_places) {
  const GroupMemory<lanes, Real, Offset> memory(0, 2 * slots);
  Index* const keys = memory.indices;
  Index* const ranks = memory.indices + slots;
  const int lane = threadIdx.x % lanes, group = threadIdx.x / lanes, groups = blockDim.x / lanes;
  for (int s = lane; s < slots; s += lanes) keys[s] = free_slot;
  __syncwarp();
  const std::int64_t at = std::int64_t(blockIdx.x) * groups + group;
  const Index row = at < rows.size ? rows[at] : -1;
  if (row >= 0)
    for (Offset e = row_ptr[row] + lane; e < row_ptr[row + 1]; e += lanes)
      ranks[find_slot(keys, slots, col_idx[e], slots).slot] = Index(e - row_ptr[row]);
  Place* const places = reinterpret_cast<Place*>(all_places + (row >= 0 ? first_place[row] : 0));
  struct Product {
    Index column;
    unsigned number;
  };
  walk_products<lanes>(
      A, A_values, B, row, memory.met,
      [&](Offset f, unsigned number) {
        return Product{B.col_idx[f], number};
      },
      [&](Real, const Product& p) { places[p.number] = Place(ranks[find_slot(keys, slots, p.column, slots).slot]); });
}

/// Sums of a row in table_update, for rows of C of that length, which are a power of two.
SEIDEL_HD constexpr int room_to_update(int lanes, int max_entries) { return max_entries > lanes ? max_entries : lanes; }

/// The values again: no column is read or looked for. The rows of a warp have their sums side by side, `lanes` of each, so that
/// they meet in no bank.
template <int lanes, class Place, class Real, class Offset>
__global__ void __launch_bounds__(128)
    table_update(Pattern<Offset> A, const Real* A_values, Pattern<Offset> B, const Real* B_values, RowList rows,
                 int max_entries, const Offset* row_ptr, const std::int64_t* first_place,
                 const std::uint8_t* all_places, Real* values) {
  const int room = room_to_update(lanes, max_entries), lane = threadIdx.x % lanes, group = threadIdx.x / lanes;
  const GroupMemory<lanes, Real, Offset> memory(room, 0);
  const int beside = group % (warp_size / lanes);
  Real* const sums = memory.sums - beside * room + beside * lanes;  // those of the first row of the warp begin there
  const auto sum_at = [sums](unsigned place) -> Real& { return sums[place / lanes * warp_size + place % lanes]; };
  for (int s = lane; s < room; s += lanes) sum_at(unsigned(s)) = 0;
  const std::int64_t at = std::int64_t(blockIdx.x) * (blockDim.x / lanes) + group;
  const Index row = at < rows.size ? rows[at] : -1;
  const Place* const places = reinterpret_cast<const Place*>(all_places + (row >= 0 ? first_place[row] : 0));
  struct Product {
    Place place;
    Real value;
  };
  walk_products<lanes>(
      A, A_values, B, row, memory.met,
      [&](Offset f, unsigned number) {
        return Product{places[number], B_values[f]};
      },
      [&](Real a, const Product& b) {
        Real& sum = sum_at(b.place);
        sum = std::fma(a, b.value, sum);
      });
  if (row < 0) return;
  const Offset to = row_ptr[row];
  const int n = int(row_ptr[row + 1] - to);
  for (int s = lane; s < n; s += lanes) values[to + s] = sum_at(unsigned(s));
}

}  // namespace seidel::spgemm_detail
