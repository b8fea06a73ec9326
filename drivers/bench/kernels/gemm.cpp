// Products of dense matrices: inputs, costs, judge.
#include <seidel/drivers/bench/kernels/tasks.hpp>

#include <seidel/drivers/bench/kernels/judging.hpp>
#include <seidel/drivers/option_values.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

constexpr std::int64_t max_extent = 1 << 20;

std::unique_ptr<Operand> shape_of(const std::string& word, const CommonOptions&) {
  auto operand = std::make_unique<DenseOperand>();
  const auto [m, n, k] = product_extents(word, 0, max_extent, "1024x1024x64");
  operand->m = m, operand->n = n, operand->k = k;
  operand->name = word;
  operand->description = formatted("{} x {} times {} x {}", m, k, k, n);
  return operand;
}

const OperandKind shape = {.placeholder = "MxNxK",
                           .help = "A is M x K, B is K x N",
                           .example = "1024x1024x64",
                           .for_validation = {"0x5x3", "5x3x0", "1x1x1", "17x13x11", "129x65x97", "257x31x500"},
                           .make = shape_of};

template <class Real>
Array<Real> random_reals(std::int64_t n, std::uint64_t seed) {
  const Array<double> numbers = random_numbers(n, seed);
  Array<Real> reals(n);
  std::copy(numbers.begin(), numbers.end(), reals.begin());
  return reals;
}

const std::vector<std::string> usual = {"1024x1024x1024", "2048x2048x32", "2048x2048x64", "2048x2048x128",
                                        "2048x2048x156"};

}  // namespace

const Kernel kernels::gemm = {.name = "gemm",
                              .help = "dense matrix times dense matrix",
                              .takes = &shape,
                              .unless_given = usual,
                              .make = made<DenseTask<double>, DenseOperand>};
const Kernel kernels::gemm_fp32 = {.name = "gemm-fp32",
                                   .help = "the same in FP32",
                                   .takes = &shape,
                                   .unless_given = usual,
                                   .make = made<DenseTask<float>, DenseOperand>};

std::array<std::int64_t, 3> product_extents(const std::string& word, std::int64_t least, std::int64_t most,
                                            const char* example) {
  std::array<std::int64_t, 3> extents;
  if (!read_extents(word, extents) ||
      !std::ranges::all_of(extents, [&](std::int64_t extent) { return extent >= least && extent <= most; }))
    throw UsageError(
        formatted("MxNxK: found '{}', expected three whole numbers from {} to {}: {}", word, least, most, example));
  return extents;
}

template <class Real>
DenseTask<Real>::DenseTask(const DenseOperand& of, const TaskOptions&)
    : m(of.m), n(of.n), k(of.k), a(random_reals<Real>(m * k, 1)), b(random_reals<Real>(k * n, 2)) {
  flops = 2 * double(m) * double(n) * double(k);
  bytes = sizeof(Real) * (double(m) * double(k) + double(k) * double(n) + double(m) * double(n));
  bytes_model = formatted("{} (m k + k n + m n)", sizeof(Real));
}

/// Every element is looked at: none may be NaN or larger than its terms allow. The sums are taken again, in long double
/// and from the end, of all elements, or if that takes too long of one row and one column of each 32.
template <class Real>
double DenseTask<Real>::error(const Answer& answer) const {
  constexpr double most = 1 << 27;
  const auto c = answer.array<Real>(0);
  if (c.size() != m * n) return wrong_size;
  const std::int64_t step = 2 * double(m) * double(n) * double(k) <= most ? 1 : 32;
  const auto chosen = [step](std::int64_t part) {  // of each `step` another one
    return step == 1
               ? part
               : part * step + std::int64_t(generators::Stream(7, generators::Draw::values, 0)(std::uint64_t(part)) %
                                            std::uint64_t(step));
  };
  const std::int64_t rows = (m + step - 1) / step, columns = (n + step - 1) / step;
  Array<Real> row_by_row(rows * k);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t l = 0; l < k; ++l) row_by_row[r * k + l] = a[l * m + std::min(chosen(r), m - 1)];
  const double sums = worst_of(rows * columns, [&](std::int64_t place) {
    const std::int64_t r = place % rows, i = std::min(chosen(r), m - 1), j = std::min(chosen(place / rows), n - 1);
    long double sum = 0, scale = 0;
    for (std::int64_t l = k; l-- > 0;) {
      const long double term = static_cast<long double>(row_by_row[r * k + l]) * b[j * k + l];
      sum += term, scale += std::fabs(term);
    }
    return error_over_bound(c[j * m + i], sum, scale, k);
  });
  const double bounds = worst_of(c.size(), [&](std::int64_t i) {
    const double size = std::fabs(double(c[i]));
    return size <= double(k) ? 0.0 : size / double(k);  // factors are below 1; NaN stays NaN
  });
  return worse(sums, bounds);
}

template struct DenseTask<double>;
template struct DenseTask<float>;

}  // namespace seidel::drivers
