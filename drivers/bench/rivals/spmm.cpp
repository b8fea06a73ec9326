// SpMM of seidel on CSR and ELL.
#include <seidel/drivers/bench/rivals/lists.hpp>
#include <seidel/drivers/bench/rivals/products.hpp>
#include <seidel/kernels/spmm/spmm.hpp>

namespace seidel::bench {

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
Prepared prepare(const Task& task, const Where& where, const Format& converted, double setup, std::int64_t extra) {
  auto A = copied_to<SpaceOf<B>>(converted.view());
  auto operands = std::make_shared<Operands<B, Kept<decltype(A)>>>(
      task, where, task.A.nrows * task.k, Kept<decltype(A)>{std::move(A), task.k, task.layout});
  return prepared(operands, setup, extra, [](auto& o) {
    const auto& kept = o.kept;
    const Span<const double, SpaceOf<B>> x = o.x;
    spmm(o.on, kept.A.view(), shaped(x, kept.A.ncols, kept.k, kept.layout),
         shaped(o.y.span(), kept.A.nrows, kept.k, kept.layout));
  });
}

template <class B>
Prepared on_csr(const Task& task, const Where& where) {
  Csr<double, std::int32_t> A;
  const double setup = seconds_of([&] { A = narrow(task.A); });
  return prepare<B>(task, where, A, setup, 0);
}
template <class B>
Prepared on_ell(const Task& task, const Where& where) {
  Ell<double> A;
  const double setup = seconds_of([&] { A = to_ell(OpenMP{}, task.A.view()); });
  return prepare<B>(task, where, A, setup, 12 * A.values.size() + 4 * A.row_length.size());
}

constexpr std::string_view csr = "rows of CSR; column j has the bits of SpMV with column j",
                           ell = "ELLPACK, true row lengths kept";

}  // namespace

std::vector<Rival> spmm_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    all.push_back({"spmm", "csr", runs_on<B>, "", true, csr, on_csr<B>});
    all.push_back({"spmm", "ell", runs_on<B>, "", true, ell, on_ell<B>});
  });
  return all;
}

}  // namespace seidel::bench
