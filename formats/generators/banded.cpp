// A full band.
#include <cmath>

#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

namespace {

Matrix make_banded(const OpenMP& on, const Spec& spec, std::uint64_t seed) {
  spec.require_arguments(2, 2);
  const std::int64_t n = spec.integer(0, 1, INT32_MAX), width = spec.integer(1, 0, n - 1);
  require_room(spec, n, n, n * (2 * width + 1) - width * (width + 1));
  const auto first_column = [&](std::int64_t i) { return std::max<std::int64_t>(0, i - width); };
  const auto last_column = [&](std::int64_t i) { return std::min(n - 1, i + width); };
  return by_rows(
      on, spec, n, n, [&](std::int64_t i) { return last_column(i) - first_column(i) + 1; },
      [&](std::int64_t i, Index* columns, double* values) {
        const Stream bits(seed, Draw::values, std::uint64_t(i));
        double sum = 0;
        for (std::int64_t j = first_column(i), k = 0; j <= last_column(i); ++j, ++k) {
          columns[k] = Index(j);
          values[k] = signed_uniform(bits(std::uint64_t(k)));
          if (j != i) sum += std::fabs(values[k]);
        }
        values[i - first_column(i)] = 1 + sum;
      });
}

}  // namespace

constinit const Generator banded{
    "banded", "banded:N:B", "banded:100000:8",
    "all entries up to B beside the diagonal, uniform in (-1, 1), strictly diagonally dominant; nonsymmetric",
    make_banded};

}  // namespace seidel::generators
