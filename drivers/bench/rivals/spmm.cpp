// SpMM of seidel in each product format that has it.
#include <seidel/drivers/bench/kernels/products.hpp>
#include <seidel/drivers/bench/rivals/converted.hpp>

namespace seidel::drivers {

namespace {

/// A matrix and the shape of its operands.
template <class Format>
struct Kept {
  Format A;
  std::int64_t k;
  Layout layout;
};

template <class T, class Space>
MultiVectorView<T, Space> shaped(Span<T, Space> data, std::int64_t nrows, std::int64_t k, Layout layout) {
  return {nrows, k, layout == Layout::row_major ? k : nrows, layout, data.data()};
}

template <class Format, class B>
Prepared product(const ProductTask& task, const Where& where) {
  auto [A, seconds] = converted<Format>(back_end<B>(where), task.of);
  const std::int64_t bytes = bytes_of(A);
  using Its = Kept<decltype(A)>;
  auto operands = std::make_shared<Operands<B, Its>>(task.x, where, task.of.A.nrows * task.k,
                                                     Its{std::move(A), task.k, task.layout});
  return prepared(operands, seconds, bytes, [](auto& o) {
    const auto& kept = o.kept;
    const auto A = view_of(kept.A);
    const Span<const double, SpaceOf<B>> x = o.x;
    multiply(o.on, kept.A, shaped(x, A.ncols, kept.k, kept.layout), shaped(o.y.span(), A.nrows, kept.k, kept.layout));
  });
}

}  // namespace

std::vector<Rival> spmm_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(BackendName on, const B*) {
    for_each_product_format([&]<class Format>(const Format&) {
      if constexpr (Format::several_columns)
        all.push_back(
            {&kernels::spmm, Format::name, on, Format::variant, Role::exact, Format::help, product<Format, B>});
    });
  });
  return all;
}

}  // namespace seidel::drivers
