// Vector operations on the host: one core or several, the same code.
#include <array>
#include <cmath>
#include <utility>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/blas1/instances.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::blas1 {

namespace {

constexpr int max_chunks = 1024;

/// How a sum of n terms is shared out: threads sum whole subtrees of 2^level blocks (chunks); the tree goes on over
/// their sums.
struct Chunks {
  explicit Chunks(std::int64_t terms) : n(terms) {
    while (n / size >= max_chunks) size *= 2;
    count = (n + size - 1) / size;
  }
  std::int64_t n, size = 8 * sum_block, count;
};

/// Calls work(first, last) for shares of the chunks.
template <class Work>
void share_out(const OpenMP& on, const Chunks& chunks, const Work& work) {
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

template <class Pass>
void update_elements(const Pass& pass, std::int64_t first, std::int64_t last) {
  for (std::int64_t i = first; i < last; ++i) {
    auto element = pass.load(i);
    pass.update(element);
    pass.store(i, element);
  }
}

/// Element by element over one block and then sum by sum, while the block is in the cache.
template <class Real, class Pass, int... j>
void sum_chunks(const Chunks& chunks, const Pass& shared, std::int64_t first, std::int64_t last,
                ChunkSums<Real, Pass::nsums>& found, std::integer_sequence<int, j...>) {
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

template <class Real, class Pass, int... j>
void run_short(std::int64_t n, const Pass& pass, Real* sums, std::integer_sequence<int, j...>) {
  update_elements(pass, 0, n);
  ((sums[j] = sum_left_to_right<Real>(0, n, 1,
                                      [&](std::int64_t i, Real s) { return pass.template term<j>(pass.load(i), s); })),
   ...);
}

template <class Real>
Real largest(const OpenMP& on, const Real* x, std::int64_t n) {
  std::array<Real, max_chunks> found;
  const int nchunks = int(std::min<std::int64_t>(max_chunks, n / worth_per_thread + 1));
  const auto search = [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t c = first; c < last; ++c) {
      Real m = 0;
      const Range mine = even_share(n, int(c), nchunks);
      for (std::int64_t i = mine.first; i < mine.last; ++i) {
        const Real a = std::fabs(x[i]);
        if (!(a <= m)) m = a;  // a NaN enters,
        if (m != m) break;     // and stays
      }
      found[c] = m;
    }
  };
  if (on.threads <= 1 || nchunks == 1)
    search(0, nchunks);
  else
    parallel_parts(on, [&](int part, int nparts) {
      const Range mine = even_share(nchunks, part, nparts);
      search(mine.first, mine.last);
    });
  Real m = 0;
  for (int c = 0; c < nchunks && m == m; ++c)
    if (!(found[c] <= m)) m = found[c];
  return m;
}

}  // namespace

template <class Op>
void for_each_element(const OpenMP& on, std::int64_t n, const Op& op) {
  parallel_for(on, n, [&](std::int64_t first, std::int64_t last) {
    const Op local = op;  // so that the compiler sees that stores do not change it
    for (std::int64_t i = first; i < last; ++i) local(i);
  });
}

template <class Real, class Pass>
void run_pass(const OpenMP& on, std::int64_t n, const Pass& pass, Real* sums) {
  constexpr std::make_integer_sequence<int, Pass::nsums> each;
  if (n <= short_sum) return run_short(n, pass, sums, each);
  const Chunks chunks(n);
  ChunkSums<Real, Pass::nsums> found;
  share_out(on, chunks, [&](std::int64_t first, std::int64_t last) {
    with_simd([&] { sum_chunks<Real>(chunks, pass, first, last, found, each); });
  });
  add_chunks(found, chunks.count, sums);
}

template <class Real, class Pass>
void leave_sums(const OpenMP& on, std::int64_t n, const Pass& pass, Real* sums) {
  run_pass(on, n, pass, sums);
}

template <class Real>
void project(const OpenMP& on, const Columns<Real>& v, const Real* w, Real* sums) {
  constexpr int tile = 8;  // columns for each of which a block of w is taken from the cache
  const auto column = [&](std::int64_t i) { return i < v.k ? v.first + i * v.stride : w; };
  const Chunks chunks(v.n);
  ChunkSums<Real, tile> found;
  for (std::int64_t base = 0; base <= v.k; base += tile) {
    const int count = int(std::min<std::int64_t>(tile, v.k + 1 - base));
    const auto term = [&](int j) {
      return [x = column(base + j), w](std::int64_t i, Real s) { return std::fma(x[i], w[i], s); };
    };
    if (v.n <= short_sum) {
      for (int j = 0; j < count; ++j) sums[base + j] = sum_of_products<Real>(v.n, term(j));
      continue;
    }
    share_out(on, chunks, [&](std::int64_t first, std::int64_t last) {
      with_simd([&] {
        for (std::int64_t c = first; c < last; ++c) {
          PairwiseTree<Real> tree[tile];
          const std::int64_t end = std::min(v.n, (c + 1) * chunks.size);
          for (std::int64_t k = c * chunks.size; k < end; k += sum_block)
            for (int j = 0; j < count; ++j) tree[j].push(sum_of_block<Real>(k, std::min(end, k + sum_block), term(j)));
          for (int j = 0; j < count; ++j) found[c][j] = tree[j].sum();
        }
      });
    });
    add_chunks(found, chunks.count, sums + base, std::size_t(count));
  }
}

template <class Real>
void add_combination(const OpenMP& on, const Columns<Real>& v, Real sign, const Real* c, Real scale, Real* w) {
  parallel_for(on, v.n, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t k = first; k < last; k += sum_block) {  // a block stays in the cache for all columns
      const std::int64_t end = std::min(last, k + sum_block);
      for (std::int64_t j = 0; j < v.k; ++j) {
        const Axpy<Real> axpy{sign * c[j], v.first + j * v.stride, w};
        for (std::int64_t i = k; i < end; ++i) axpy(i);
      }
      for (std::int64_t i = k; i < end; ++i) w[i] = scale * w[i];
    }
  });
}

template <class Real>
Real max_abs(const OpenMP& on, const Real* x, std::int64_t n) {
  return largest(on, x, n);
}

template <class Real>
void find_scale(const OpenMP& on, const Real* x, std::int64_t n, double* scale) {
  find_scale(largest(on, x, n), scale);
}

template <class Real>
void find_scale(const OpenMP& on, const Columns<Real>& v, double* scale) {
  for (std::int64_t j = 0; j < v.k; ++j) find_scale(on, v.first + j * v.stride, v.n, scale + 2 * j);
}

template void instances(const OpenMP&, double*);
template void instances(const OpenMP&, float*);

}  // namespace seidel::blas1
