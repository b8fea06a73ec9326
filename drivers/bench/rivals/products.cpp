// SpMV and SpMM of seidel in each product format that has them.

#include <optional>

#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/products/formats.hpp>

namespace seidel::drivers {

namespace {

template <class T, class Space>
MultiVectorView<T, Space> shaped(Span<T, Space> data, std::int64_t nrows, std::int64_t k, Layout layout) {
  return {nrows, k, layout == Layout::row_major ? k : nrows, layout, data.data()};
}

/// Of one column for spmv, of several for spmm. The matrix is converted where the product runs. Errors  ResourceError where the format refuses it.
template <bool several_columns, class Format, class B>
Prepared product(const ProductTask& task, const Where& where) {
  const B on = back_end<B>(where);
  const auto csr = csr_of(on, task.of);
  using Made = decltype(Format::made(on, csr));
  std::optional<Made> made;
  const double seconds = seconds_to_make(on, [&] { made.emplace(Format::made(on, csr)); });
  const std::int64_t bytes = bytes_of(*made);
  auto operands = std::make_shared<Operands<B, Made>>(task.x, where, task.of.A.nrows * task.k, std::move(*made));
  if constexpr (several_columns)
    return prepared(operands, seconds, bytes, [k = task.k, layout = task.layout](auto& o) {
      const auto A = view_of(o.kept);
      const Span<const double, SpaceOf<B>> x = o.x;
      multiply(o.on, o.kept, shaped(x, A.ncols, k, layout), shaped(o.y.span(), A.nrows, k, layout));
    });
  else
    return prepared(operands, seconds, bytes, [](auto& o) { multiply(o.on, o.kept, o.x, o.y.span()); });
}

}  // namespace

std::vector<Rival> products_rivals() {
  std::vector<Rival> all;
  const auto add = [&]<bool several_columns>(const Kernel& kernel) {
    for_each_back_end([&]<class B>(BackendName on, const B*) {
      for_each_product_format([&]<class Format>(const Format&) {
        if constexpr (!several_columns || Format::several_columns)
          all.push_back({&kernel, Format::name, on, Format::variant, Role::exact, Format::help,
                         product<several_columns, Format, B>});
      });
    });
  };
  add.template operator()<false>(kernels::spmv);
  add.template operator()<true>(kernels::spmm);
  return all;
}

}  // namespace seidel::drivers
