// Sums on the host in the one order, by one thread or several, each block of terms as soon as it is there.
#pragma once
#include <array>
#include <cmath>
#include <utility>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/blas1/step.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::blas1 {

inline constexpr int max_chunks = 1024;

/// How a sum of n terms is shared out: threads sum whole subtrees of 2^level blocks (chunks); the tree goes on over
/// their sums.
struct Chunks {
  explicit Chunks(std::int64_t terms) : n(terms) {
    while (n / size >= max_chunks) size *= 2;
    count = (n + size - 1) / size;
  }
  Chunks(std::int64_t terms, std::int64_t of) : n(terms), size(of), count((terms + of - 1) / of) {}
  std::int64_t n, size = 8 * sum_block, count;
};

/// Calls work(first, last) for shares of the chunks.
void share_out(const OpenMP& on, const Chunks& chunks, const auto& work) {
  if (on.threads <= 1 || chunks.n < 2 * worth_per_thread) return work(0, chunks.count);
  parallel_parts(on, [&](int part, int nparts) {
    const Range mine = even_share(chunks.count, part, nparts);
    work(mine.first, mine.last);
  });
}

template <class Real, int m>
using ChunkSums = std::array<std::array<Real, m>, max_chunks>;

/// sums[j] = the tree over found[0 ... count-1][j].
template <class Real, std::size_t m>
void add_chunks(const std::array<std::array<Real, m>, max_chunks>& found, std::int64_t count, Real* sums,
                std::size_t wanted = m) {
  for (std::size_t j = 0; j < wanted; ++j) {
    PairwiseTree<Real> tree;
    for (std::int64_t c = 0; c < count; ++c) tree.push(found[c][j]);
    sums[j] = tree.sum();
  }
}

/// A pass as those of elements.hpp, or one that updates many elements at once, update_all(first, last).
void update_elements(const auto& pass, std::int64_t first, std::int64_t last) {
  if constexpr (requires { pass.update_all(first, last); })
    pass.update_all(first, last);
  else
    for (std::int64_t i = first; i < last; ++i) {
      auto element = pass.load(i);
      pass.update(element);
      pass.store(i, element);
    }
}

/// Element by element over one block and then sum by sum, while the block is in the cache.
template <class Real, class Pass, int... j>
void sum_chunks(const Chunks& chunks, const Pass& shared, std::int64_t first, std::int64_t last,
                std::array<Real, Pass::nsums>* found, std::integer_sequence<int, j...>) {
  const Pass pass = shared;  // so that the compiler sees that stores do not change it
  for (std::int64_t c = first; c < last; ++c) {
    PairwiseTree<Real> tree[Pass::nsums];
    const std::int64_t end = std::min(chunks.n, (c + 1) * chunks.size);
    for (std::int64_t k = c * chunks.size; k < end; k += sum_block) {
      const std::int64_t block_end = std::min(end, k + sum_block);
      update_elements(pass, k, block_end);
      (tree[j].push(sum_of_block<Real>(k, block_end,
                                       [&](std::int64_t i, Real s) { return pass.template term<j>(pass.load(i), s); })),
       ...);
    }
    ((found[c][j] = tree[j].sum()), ...);
  }
}

/// found[c][j] becomes sum j over chunk c, compiled once per pass for all that call it.
template <class Real, class Pass>
void find_chunk_sums(const OpenMP& on, const Chunks& chunks, const Pass& pass, std::array<Real, Pass::nsums>* found) {
  share_out(on, chunks, [&](std::int64_t first, std::int64_t last) {
    with_simd([&] {
      sum_chunks<Real>(chunks, pass, first, last, found, std::make_integer_sequence<int, Pass::nsums>());
    });
  });
}

template <class Real, class Pass, int... j>
void run_short(std::int64_t n, const Pass& pass, Real* sums, std::integer_sequence<int, j...>) {
  update_elements(pass, 0, n);
  ((sums[j] = sum_left_to_right<Real>(0, n, 1,
                                      [&](std::int64_t i, Real s) { return pass.template term<j>(pass.load(i), s); })),
   ...);
}

/// One pass over elements 0 ... n-1; sums[j] is its sum j.
template <class Real, class Pass>
void sum_over(const OpenMP& on, std::int64_t n, Pass pass, Real* sums) {
  if (!begins(pass)) return;
  if (n <= short_sum) return run_short(n, pass, sums, std::make_integer_sequence<int, Pass::nsums>());
  const Chunks chunks(n);
  ChunkSums<Real, Pass::nsums> found;
  find_chunk_sums(on, chunks, pass, found.data());
  add_chunks(found, chunks.count, sums);
}

}  // namespace seidel::blas1
