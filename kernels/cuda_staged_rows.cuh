// Rows of CSR by way of shared memory: a warp copies the entries of neighbouring rows there, whatever their lengths; then its
// threads read them from there as they need them.
#pragma once
#include <algorithm>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/cuda_check.hpp>
#include <seidel/kernels/cuda_streamed.cuh>
#include <seidel/kernels/cuda_sum.cuh>

namespace seidel::cuda {

/// Copies to shared memory without a detour through registers. `policy`: leaves_first(), asked once for many entries.
template <class T>
__device__ void stage_entry(T* to, const T* from, std::uint64_t policy) {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.ca.shared.global.L2::cache_hint [%0], [%1], %2, %3;"
               :
               : "r"(unsigned(__cvta_generic_to_shared(to))), "l"(from), "n"(int(sizeof(T))), "l"(policy)
               : "memory");
#else
  *to = __ldcs(from);
#endif
}
/// Neighbouring lanes copy neighbouring elements. Copies of 16 bytes are slower: 0.73 ms for 0.66 on hpcg:192.
template <class T>
__device__ void stage(T* to, const T* from, int count) {
  const std::uint64_t policy = leaves_first();
  for (int k = threadIdx.x % warp_size; k < count; k += warp_size) stage_entry(to + k, from + k, policy);
}
__device__ inline void wait_for_staged() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_all;" ::: "memory");
#endif
  __syncwarp();
}
/// The copies since the last call are a batch.
__device__ inline void close_batch() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}
__device__ inline void wait_for_batches_but_last() {
#if __CUDA_ARCH__ >= 800
  asm volatile("cp.async.wait_group 1;" ::: "memory");
#endif
  __syncwarp();
}

/// A warp's part of the shared memory: places for `room` entries.
template <class Real>
struct Stage {
  Real* values;
  Index* col_idx;
  int room;

  static constexpr int granule = 1;  // of entries, which are copied whole

  __device__ void start(std::uint64_t*) {}
  /// Entries base ... base + count - 1 of A to the places from `place` on.
  template <class Offset>
  __device__ void copy(const CsrView<Real, Offset, Device>& A, Offset base, int count, int place) const {
    stage(col_idx + place, A.col_idx.data() + base, count);
    stage(values + place, A.values.data() + base, count);
  }
  __device__ void wait() const { wait_for_staged(); }
};

/// The same by way of the copy engine of the multiprocessor (sm_90): one thread asks for entries by fours, which neither
/// registers nor the first cache see. The arrays of the matrix begin at multiples of 16 bytes, `room` is a multiple of 4.
/// Older GPUs: as Stage.
template <class Real>
struct EngineStage : Stage<Real> {
#if __CUDA_ARCH__ >= 900
  std::uint64_t* arrival;  // in shared memory
  unsigned waits = 0;      // so far

  static constexpr int granule = 4;

  __device__ void start(std::uint64_t* arrival_) {
    arrival = arrival_;
    if (lane() == 0) {
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address_of(arrival)) : "memory");
      asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __syncwarp();
  }
  template <class Offset>
  __device__ void copy(const CsrView<Real, Offset, Device>& A, Offset base, int count, int place) const {
    const int whole = (count + granule - 1) / granule * granule;
    if (base + whole > A.nnz()) return Stage<Real>::copy(A, base, count, place);
    if (lane() != 0 || count == 0) return;
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], %1;" ::"r"(address_of(arrival)),
                 "r"(whole * int(sizeof(Real) + sizeof(Index)))
                 : "memory");
    ask(this->values + place, A.values.data() + base, whole);
    ask(this->col_idx + place, A.col_idx.data() + base, whole);
  }
  __device__ void wait() {
    if (lane() == 0) asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address_of(arrival)) : "memory");
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 complete, [%0], %1;\n"
        "@!complete bra again;\n"
        "}"
        :
        : "r"(address_of(arrival)), "r"(waits++ % 2)
        : "memory");
    wait_for_staged();  // the last entries of the matrix
  }

 private:
  __device__ static unsigned address_of(const void* shared) { return unsigned(__cvta_generic_to_shared(shared)); }
  template <class T>
  __device__ void ask(T* to, const T* from, int count) const {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint [%0], [%1], %2, [%3], %4;"
        :
        : "r"(address_of(to)), "l"(from), "r"(count * int(sizeof(T))), "r"(address_of(arrival)), "l"(leaves_first())
        : "memory");
  }
#endif
};

/// A, the entries of rows first ... last - 1 in shared memory, if there is room for them: no others may be read then. Without
/// columns if to.col_idx is null. By a warp; the copies are under way afterwards: wait_for_staged().
template <class Real, class Offset>
__device__ CsrView<Real, Offset, Device> with_staged(CsrView<Real, Offset, Device> A, Index first, Index last,
                                                     const Stage<Real>& to) {
  const Offset begin = A.row_ptr[first], count = A.row_ptr[last] - begin;
  if (count > to.room) return A;
  stage(to.values, A.values.data() + begin, int(count));
  A.values = {to.values - begin, A.values.size()};
  if (to.col_idx) {
    stage(to.col_idx, A.col_idx.data() + begin, int(count));
    A.col_idx = {to.col_idx - begin, A.col_idx.size()};
  }
  return A;
}

/// The shared memory of a kernel whose warps stage the rows of `nparts` parts of a matrix: a quarter more than they have on
/// average.
struct StageShape {
  static constexpr int max_warps = 4, max_bytes = 48 << 10;  // the latter: what every GPU gives without being asked
  int bytes_per_entry, room, warps;                          // per block

  StageShape(std::int64_t nnz, std::int64_t nparts, int bytes_per_entry_)
      : bytes_per_entry(bytes_per_entry_),
        room(int(std::min<std::int64_t>(nnz / nparts * 5 / 4 + 32, max_bytes / bytes_per_entry))),
        warps(std::clamp(max_bytes / (room * bytes_per_entry), 1, max_warps)) {}
  int threads() const { return warps * warp_size; }
  std::size_t bytes() const { return std::size_t(warps * room * bytes_per_entry); }
};
/// The part of this warp.
template <class Real>
__device__ Stage<Real> own_stage(int room, bool with_columns) {
  extern __shared__ int4 staged_rows[];
  const int warps = int(blockDim.x) / warp_size, warp = int(threadIdx.x) / warp_size;
  Real* const values = reinterpret_cast<Real*>(staged_rows);
  Index* const columns = reinterpret_cast<Index*>(values + warps * room);
  return {values + warp * room, with_columns ? columns + warp * room : nullptr, room};
}

template <bool with_columns, class Real, class Offset, class OfRow>
__global__ void __launch_bounds__(StageShape::max_warps* warp_size)
    each_staged_row(const CsrView<Real, Offset, Device> A, const __grid_constant__ OfRow of_row, int room) {
  const std::int64_t row = std::int64_t(blockIdx.x) * blockDim.x + threadIdx.x, first = row - threadIdx.x % warp_size;
  if (first >= A.nrows) return;
  const Index last = Index(first + warp_size < A.nrows ? first + warp_size : A.nrows);
  const auto near = with_staged(A, Index(first), last, own_stage<Real>(room, with_columns));
  wait_for_staged();
  if (row < A.nrows) of_row(Index(row), near);
}

/// Calls of_row(i, A') for each row i of A by a thread, where A' has the entries of row i, and only them, at hand: for rows that
/// are read entry by entry. A function with reads_columns = false finds their columns where they are. Does not wait.
template <class Real, class Offset, class OfRow>
void for_each_staged_row(const Cuda& on, const CsrView<Real, Offset, Device>& A, const char* what,
                         const OfRow& of_row) {
  if (A.nrows == 0) return;
  constexpr bool with_columns = [] {
    if constexpr (requires { OfRow::reads_columns; })
      return OfRow::reads_columns;
    else
      return true;
  }();
  const StageShape shape(A.nnz(), (A.nrows + std::int64_t(warp_size) - 1) / warp_size,
                         sizeof(Real) + (with_columns ? sizeof(Index) : 0));
  each_staged_row<with_columns>
      <<<blocks_for(A.nrows, shape.threads()), shape.threads(), shape.bytes(), on.stream()>>>(A, of_row, shape.room);
  check_launch(what);
}

/// What has been copied for the rows of a warp.
struct Staged {
  int place = -1;  // where the row of this thread begins; -1: it is not there
  int next;        // the first row that did not fit; past the last when all are done
};

/// Copies the entries of rows begin, begin + 1, ... of a warp while they fit. G threads hold a row each: [first, last) are
/// its entries. Rows that are `apart` are left out; every other fits by itself, with a granule less one before and behind it.
/// The copies are under way afterwards: to.wait().
template <int G, class Place, class Real, class Offset>
__device__ Staged stage_rows(const CsrView<Real, Offset, Device>& A, const Place& to, int begin, Offset first,
                             Offset last, bool apart) {
  constexpr int rows = warp_size / G, granule = Place::granule;
  const int mine = int(threadIdx.x) % warp_size / G;
  const unsigned all_apart = __ballot_sync(whole_warp, apart);
  Staged staged;
  int row = begin, used = 0;
  while (row < rows) {
    if (all_apart >> (row * G) & 1) {
      ++row;
      continue;
    }
    const Offset base = __shfl_sync(whole_warp, first, row * G) / granule * granule;
    const unsigned fit = __ballot_sync(whole_warp, !apart && last - base <= Offset(to.room - used)) >> (row * G);
    const int fitting = (fit == whole_warp ? warp_size : __ffs(int(~fit)) - 1) / G;
    const int count = fitting < rows - row ? fitting : rows - row;
    if (count == 0) break;
    const int entries = int(__shfl_sync(whole_warp, last, (row + count - 1) * G) - base);
    to.copy(A, base, entries, used);
    if (mine >= row && mine < row + count) staged.place = used + int(first - base);
    used += (entries + granule - 1) / granule * granule;
    row += count;
  }
  staged.next = row;
  return staged;
}

}  // namespace seidel::cuda
