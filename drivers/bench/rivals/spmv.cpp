// SpMV of seidel on CSR, ELL and SELL.
#include <seidel/drivers/bench/kernels/products.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::drivers {

namespace {

struct AsEll {
  static auto of(const Matrix& A) { return to_ell(OpenMP{}, A.view()); }
  static std::int64_t extra_bytes(const Ell<double>& A) { return 12 * A.values.size() + 4 * A.row_length.size(); }
};
struct AsSell {
  static auto of(const Matrix& A) { return to_sell(OpenMP{}, A.view(), 32, 1); }
  static std::int64_t extra_bytes(const Sell<double>& A) {
    return 12 * A.values.size() + 4 * A.row_length.size() + 8 * A.slice_ptr.size();
  }
};
struct AsSortedSell {
  static auto of(const Matrix& A) { return to_sell(OpenMP{}, A.view(), 32, 4096); }
  static std::int64_t extra_bytes(const Sell<double>& A) { return AsSell::extra_bytes(A) + 4 * A.permutation.size(); }
};

template <class B, class Kept>
Prepared product(const ProductTask& task, const Where& where, Kept A, double setup, std::int64_t extra) {
  auto operands = std::make_shared<Operands<B, Kept>>(task.x, where, task.of.A.nrows, std::move(A));
  return prepared(operands, setup, extra, [](auto& o) { spmv(o.on, view_of(o.kept), o.x, o.y); });
}

template <class B>
Prepared on_csr(const ProductTask& task, const Where& where) {
  return product<B>(task, where, csr_of(back_end<B>(where), task.of), 0, 0);
}

template <class Format, class B>
Prepared converted(const ProductTask& task, const Where& where) {
  decltype(copied_to<SpaceOf<B>>(back_end<B>(where), Format::of(task.of.A).view())) A;
  std::int64_t extra = 0;
  const double setup = seconds_of([&] {
    auto there = Format::of(task.of.A);
    extra = Format::extra_bytes(there);
    if constexpr (HostBackend<B>)
      A = std::move(there);
    else
      A = copied_to<Device>(back_end<B>(where), there.view());
  });
  return product<B>(task, where, std::move(A), setup, extra);
}

constexpr std::string_view csr = "rows of CSR, in the one order", ell = "ELLPACK, true row lengths kept",
                           sell = "SELL-32, rows in the matrix's order",
                           sorted = "SELL-32, rows sorted by length in windows of 4096";

}  // namespace

std::vector<Rival> spmv_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    const auto add = [&](std::string_view format, std::string_view variant, std::string_view what, Prepare prepare) {
      all.push_back({&kernels::spmv, format, runs_on<B>, variant, Role::exact, what, std::move(prepare)});
    };
    add("csr", "", csr, on_csr<B>);
    add("ell", "", ell, converted<AsEll, B>);
    add("sell", "", sell, converted<AsSell, B>);
    add("sell", "sorted", sorted, converted<AsSortedSell, B>);
  });
  return all;
}

}  // namespace seidel::drivers
