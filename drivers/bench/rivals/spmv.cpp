// SpMV of seidel in each product format.
#include <seidel/drivers/bench/kernels/products.hpp>
#include <seidel/drivers/bench/rivals/converted.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::drivers {

namespace {

template <class Format, class B>
Prepared product(const ProductTask& task, const Where& where) {
  Converted<Format, B> matrix(back_end<B>(where), task.of);
  const double seconds = matrix.seconds;
  const std::int64_t bytes = bytes_of(matrix.A);
  auto operands =
      std::make_shared<Operands<B, decltype(matrix.A)>>(task.x, where, task.of.A.nrows, std::move(matrix.A));
  return prepared(operands, seconds, bytes, [](auto& o) { spmv(o.on, view_of(o.kept), o.x, o.y); });
}

}  // namespace

std::vector<Rival> spmv_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    for_each_product_format([&]<class Format>(const Format&) {
      all.push_back(
          {&kernels::spmv, Format::name, runs_on<B>, Format::variant, Role::exact, Format::help, product<Format, B>});
    });
  });
  return all;
}

}  // namespace seidel::drivers
