// Vector operations on the host: one core or several, the same code.
#include <array>
#include <cmath>

#include <seidel/formats/runtime/parallel.hpp>
#include <seidel/kernels/blas1/instances.hpp>
#include <seidel/kernels/sum.hpp>

namespace seidel::blas1 {

namespace {

template <class Op>
void for_each(const OpenMP& on, std::int64_t n, const Op& op) {
  parallel_for(on, n, [&](std::int64_t first, std::int64_t last) {
    const Op local = op;  // so that the compiler sees that stores do not change it
    for (std::int64_t i = first; i < last; ++i) local(i);
  });
}

constexpr int max_chunks = 1024;

/// Threads sum whole subtrees of 2^level blocks (chunks); the tree goes on over their sums.
template <class Real, class Term>
Real sum_in_chunks(const OpenMP& on, std::int64_t n, const Term& term) {
  if (n <= short_sum) return sum_of_products<Real>(n, term);
  std::int64_t chunk = 8 * sum_block;
  while (n / chunk >= max_chunks) chunk *= 2;
  const std::int64_t nchunks = (n + chunk - 1) / chunk;
  std::array<Real, max_chunks> sums;
  const auto sum_chunks = [&](std::int64_t first, std::int64_t last) {
    with_simd([&] {
      for (std::int64_t c = first; c < last; ++c) {
        PairwiseTree<Real> tree;
        const std::int64_t end = std::min(n, (c + 1) * chunk);
        for (std::int64_t k = c * chunk; k < end; k += sum_block)
          tree.push(sum_of_block<Real>(k, std::min(end, k + sum_block), term));
        sums[c] = tree.sum();
      }
    });
  };
  if (on.threads <= 1 || n < 2 * worth_per_thread)
    sum_chunks(0, nchunks);
  else
    parallel_parts(on, [&](int part, int nparts) {
      const Range mine = even_share(nchunks, part, nparts);
      sum_chunks(mine.first, mine.last);
    });
  PairwiseTree<Real> tree;
  for (std::int64_t c = 0; c < nchunks; ++c) tree.push(sums[c]);
  return tree.sum();
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
void for_each_element(const Serial&, std::int64_t n, const Op& op) {
  for_each(OpenMP{1}, n, op);
}
template <class Op>
void for_each_element(const OpenMP& on, std::int64_t n, const Op& op) {
  for_each(on, n, op);
}

template <class Real, class Term>
Real sum(const Serial&, std::int64_t n, const Term& term) {
  return sum_in_chunks<Real>(OpenMP{1}, n, term);
}
template <class Real, class Term>
Real sum(const OpenMP& on, std::int64_t n, const Term& term) {
  return sum_in_chunks<Real>(on, n, term);
}

template <class Real>
Real max_abs(const Serial&, const Real* x, std::int64_t n) {
  return largest(OpenMP{1}, x, n);
}
template <class Real>
Real max_abs(const OpenMP& on, const Real* x, std::int64_t n) {
  return largest(on, x, n);
}

template auto instances(const Serial&, double*);
template auto instances(const Serial&, float*);
template auto instances(const OpenMP&, double*);
template auto instances(const OpenMP&, float*);

}  // namespace seidel::blas1
