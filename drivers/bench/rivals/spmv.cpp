// SpMV of seidel on CSR, ELL and SELL.
#include <seidel/drivers/bench/rivals/lists.hpp>
#include <seidel/drivers/bench/rivals/products.hpp>
#include <seidel/kernels/spmv/spmv.hpp>

namespace seidel::bench {

namespace {

struct AsCsr {
  static auto of(const Matrix& A) { return narrow(A); }
  static std::int64_t extra_bytes(const Csr<double, std::int32_t>&) { return 0; }
};
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

template <class Format, class B>
Prepared prepare(const Task& task, const Where& where) {
  decltype(copied_to<SpaceOf<B>>(Format::of(task.A).view())) A;
  std::int64_t extra = 0;
  const double setup = seconds_of([&] {
    auto converted = Format::of(task.A);
    extra = Format::extra_bytes(converted);
    if constexpr (HostBackend<B>)
      A = std::move(converted);
    else
      A = copied_to<Device>(converted.view());
  });
  auto operands = std::make_shared<Operands<B, decltype(A)>>(task, where, task.A.nrows, std::move(A));
  return prepared(operands, setup, extra, [](auto& o) { spmv(o.on, o.kept.view(), o.x, o.y); });
}

template <class Format, class B>
constexpr Rival rival(std::string_view format, std::string_view variant, std::string_view what) {
  return {"spmv", format, runs_on<B>, variant, true, what, prepare<Format, B>};
}

constexpr std::string_view csr = "rows of CSR, in the one order", ell = "ELLPACK, true row lengths kept",
                           sell = "SELL-32, rows in the matrix's order",
                           sorted = "SELL-32, rows sorted by length in windows of 4096";

}  // namespace

std::vector<Rival> spmv_rivals() {
  std::vector<Rival> all;
  for_each_back_end([&]<class B>(const B*) {
    all.push_back(rival<AsCsr, B>("csr", "", csr));
    all.push_back(rival<AsEll, B>("ell", "", ell));
    all.push_back(rival<AsSell, B>("sell", "", sell));
    all.push_back(rival<AsSortedSell, B>("sell", "sorted", sorted));
  });
  return all;
}

}  // namespace seidel::bench
