// SpMV of seidel in each product format.
#include <seidel/drivers/bench/kernels/products.hpp>
#include <seidel/drivers/bench/rivals/converted.hpp>

namespace seidel::drivers {

namespace {

template <class Format, class B>
Prepared product(const ProductTask& task, const Where& where) {
  auto [A, seconds] = converted<Format>(back_end<B>(where), task.of);
  const std::int64_t bytes = bytes_of(A);
  auto operands = std::make_shared<Operands<B, decltype(A)>>(task.x, where, task.of.A.nrows, std::move(A));
  return prepared(operands, seconds, bytes, [](auto& o) {
    const Span<const double, SpaceOf<B>> x = o.x;
    multiply(o.on, o.kept, x, o.y.span());
  });
}

}  // namespace

std::vector<Rival> spmv_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(BackendName on, const B*) {
    for_each_product_format([&]<class Format>(const Format&) {
      all.push_back({&kernels::spmv, Format::name, on, Format::variant, Role::exact, Format::help, product<Format, B>});
    });
  });
  return all;
}

}  // namespace seidel::drivers
