// Vector operations on the host: one core or several, the same code.
#include <seidel/kernels/blas1/host_sums.hpp>
#include <seidel/kernels/blas1/instances.hpp>

namespace seidel::blas1 {

void for_each_element(const OpenMP& on, std::int64_t n, const auto& op) {
  parallel_for(on, n, [&](std::int64_t first, std::int64_t last) {
    const auto local = op;  // so that the compiler sees that stores do not change it
    for (std::int64_t i = first; i < last; ++i) local(i);
  });
}

template <class Real, class Pass>
void run_pass(const OpenMP& on, std::int64_t n, const Pass& pass, Real* sums) {
  sum_over(on, n, pass, sums);
}

template <class Real, class Pass>
void leave_sums(const OpenMP& on, std::int64_t n, const Pass& pass, Real* sums) {
  run_pass(on, n, pass, sums);
}

template <class Real, class Pass>
void unit_sums(const OpenMP& on, std::int64_t n, const Pass& pass, std::int64_t unit, Real* sums) {
  find_chunk_sums(on, Chunks(n, unit), pass, reinterpret_cast<std::array<Real, Pass::nsums>*>(sums));
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

template <class Real>
void leave_max_abs(const OpenMP& on, const Real* x, std::int64_t n, Real* result) {
  *result = max_abs(on, x, n);
}

template <class Real>
void find_scale(const OpenMP& on, const Columns<Real>& v, double* scale) {
  for (std::int64_t j = 0; j < v.k; ++j) find_scale(max_abs(on, v.first + j * v.stride, v.n), scale + 2 * j);
}

template void instances(const OpenMP&, double*);
template void instances(const OpenMP&, float*);

}  // namespace seidel::blas1
