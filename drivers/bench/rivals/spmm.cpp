// SpMM of seidel on CSR and ELL.
#include <seidel/drivers/bench/kernels/products.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

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

template <class B, class Format>
Prepared product(const ProductTask& task, const Where& where, Format A, double setup, std::int64_t extra) {
  auto operands = std::make_shared<Operands<B, Kept<Format>>>(task.x, where, task.of.A.nrows * task.k,
                                                              Kept<Format>{std::move(A), task.k, task.layout});
  return prepared(operands, setup, extra, [](auto& o) {
    const auto& kept = o.kept;
    const auto A = view_of(kept.A);
    const Span<const double, SpaceOf<B>> x = o.x;
    spmm(o.on, A, shaped(x, A.ncols, kept.k, kept.layout), shaped(o.y.span(), A.nrows, kept.k, kept.layout));
  });
}

template <class B>
Prepared on_csr(const ProductTask& task, const Where& where) {
  return product<B>(task, where, csr_of(back_end<B>(where), task.of), 0, 0);
}
template <class B>
Prepared on_ell(const ProductTask& task, const Where& where) {
  Ell<double, SpaceOf<B>> A;
  const double setup = seconds_of([&] {
    auto converted = to_ell(OpenMP{}, task.of.A.view());
    if constexpr (HostBackend<B>)
      A = std::move(converted);
    else
      A = copied_to<Device>(back_end<B>(where), converted.view());
  });
  const std::int64_t extra = 12 * A.values.size() + 4 * A.row_length.size();
  return product<B>(task, where, std::move(A), setup, extra);
}

constexpr std::string_view csr = "rows of CSR; column j has the bits of SpMV with column j",
                           ell = "ELLPACK, true row lengths kept";

}  // namespace

std::vector<Rival> spmm_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    all.push_back({&kernels::spmm, "csr", runs_on<B>, "", Role::exact, csr, on_csr<B>});
    all.push_back({&kernels::spmm, "ell", runs_on<B>, "", Role::exact, ell, on_ell<B>});
  });
  return all;
}

}  // namespace seidel::drivers
