// Vectors and multivectors uniform in (0, 1): each share jumps to its place in the sequence.
#include <seidel/formats/generators/lehmer.hpp>

#include <seidel/formats/runtime/shares.hpp>

namespace seidel {

template <class Real>
void fill_uniform(const OpenMP& on, HostSpan<Real> x, std::uint64_t seed) {
  for_shares(on, x.size(), 1, [&](std::int64_t first, std::int64_t last, int) {
    Lehmer next(seed);
    next.jump(std::uint64_t(first));
    for (std::int64_t k = first; k < last; ++k) x[k] = lehmer_uniform<Real>(next());
  });
}

template <class Real>
void fill_uniform(const OpenMP& on, MultiVectorView<Real, Host> X, std::uint64_t seed) {
  for_shares(on, X.nrows, X.ncols + 1, [&](std::int64_t first, std::int64_t last, int) {
    Lehmer next(seed);
    next.jump(std::uint64_t(first) * std::uint64_t(X.ncols));
    for (std::int64_t i = first; i < last; ++i)
      for (std::int64_t j = 0; j < X.ncols; ++j) X(i, j) = lehmer_uniform<Real>(next());
  });
}

template void fill_uniform(const OpenMP&, HostSpan<double>, std::uint64_t);
template void fill_uniform(const OpenMP&, HostSpan<float>, std::uint64_t);
template void fill_uniform(const OpenMP&, MultiVectorView<double, Host>, std::uint64_t);
template void fill_uniform(const OpenMP&, MultiVectorView<float, Host>, std::uint64_t);

}  // namespace seidel
