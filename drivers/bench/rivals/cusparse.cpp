// cuSPARSE, the baseline of the GPU: each of its algorithms for products, with and without preprocessing, and its
// triangular solves as a symmetric Gauss-Seidel pair.
#include <seidel/drivers/bench/rivals/cusparse.hpp>

#include <seidel/drivers/bench/rivals/lists.hpp>
#include <seidel/drivers/bench/rivals/products.hpp>

namespace seidel::drivers {

namespace {

constexpr double one = 1, zero = 0;
constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// A matrix as the library wants it, and what it allocates beside.
struct Kept {
  CusparseHandle handle;
  Sell<double, Device> sell;
  Array<std::int32_t, Device> slice_ptr;  // of 32 bits
  CusparseMatrix A;
  CusparseVector x, y;
  CusparseDense X, Y;
  Array<std::byte, Device> buffer;
};
using On = Operands<Cuda, Kept>;

std::shared_ptr<On> operands_of(const Task& task, const Where& where) {
  auto o = std::make_shared<On>(task, where, task.A.nrows * task.k, Kept{});
  o->kept.handle = cusparse_on(o->on);
  return o;
}

enum class Preprocess { no, yes };

template <cusparseSpMVAlg_t Algorithm, Preprocess preprocess>
Prepared spmv_with(std::shared_ptr<On> o, double setup, std::int64_t bytes) {
  Kept& kept = o->kept;
  kept.x = describe(o->x.span()), kept.y = describe(o->y.span());
  std::size_t size = 0;
  check(cusparse().SpMV_bufferSize(kept.handle.get(), plain, &one, kept.A.get(), kept.x.get(), &zero, kept.y.get(),
                                   CUDA_R_64F, Algorithm, &size));
  kept.buffer = Array<std::byte, Device>(std::int64_t(size));
  if constexpr (preprocess == Preprocess::yes)
    setup += seconds_of([&] {
      check(cusparse().SpMV_preprocess(kept.handle.get(), plain, &one, kept.A.get(), kept.x.get(), &zero, kept.y.get(),
                                       CUDA_R_64F, Algorithm, kept.buffer.data()));
      o->on.synchronize();
    });
  return prepared(o, setup, bytes + std::int64_t(size), [](On& on) {
    const Kept& k = on.kept;
    check(cusparse().SpMV(k.handle.get(), plain, &one, k.A.get(), k.x.get(), &zero, k.y.get(), CUDA_R_64F, Algorithm,
                          const_cast<std::byte*>(k.buffer.data())));
  });
}

template <cusparseSpMVAlg_t Algorithm, Preprocess preprocess>
Prepared spmv_csr(const Task& task, const Where& where) {
  auto o = operands_of(task, where);
  o->kept.A = describe(csr_of<Device>(task));
  return spmv_with<Algorithm, preprocess>(o, 0, 0);
}

Prepared spmv_sell(const Task& task, const Where& where) {
  auto o = operands_of(task, where);
  Kept& kept = o->kept;
  const double setup = seconds_of([&] {
    // The library tells padding by its column, -1.
    Sell<double> host = to_sell(OpenMP{}, task.A.view(), 32, 1);
    for (std::int64_t s = 0; s + 1 < host.slice_ptr.size(); ++s)
      for (Index lane = 0; lane < 32; ++lane)
        for (std::int64_t at = host.slice_ptr[s] + 32 * std::int64_t(host.row_length[s * 32 + lane]) + lane;
             at < host.slice_ptr[s + 1]; at += 32)
          host.col_idx[at] = -1;
    kept.slice_ptr =
        Array<std::int32_t, Device>(std::vector<std::int32_t>(host.slice_ptr.begin(), host.slice_ptr.end()));
    kept.sell = copied_to<Device>(host.view());
  });
  cusparseSpMatDescr_t raw;
  check(cusparse().CreateSlicedEll(&raw, task.A.nrows, task.A.ncols, task.A.nnz(), kept.sell.values.size(), 32,
                                   kept.slice_ptr.data(), kept.sell.col_idx.data(), kept.sell.values.data(),
                                   CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F));
  kept.A = CusparseMatrix(raw);
  return spmv_with<CUSPARSE_SPMV_SELL_ALG1, Preprocess::no>(o, setup,
                                                            12 * kept.sell.values.size() + 4 * kept.slice_ptr.size());
}

template <cusparseSpMMAlg_t Algorithm, Preprocess preprocess>
Prepared spmm(const Task& task, const Where& where) {
  auto o = operands_of(task, where);
  Kept& kept = o->kept;
  kept.A = describe(csr_of<Device>(task));
  const auto dense = [&](std::int64_t rows, double* data) {
    cusparseDnMatDescr_t raw;
    const bool by_rows = task.layout == Layout::row_major;
    check(cusparse().CreateDnMat(&raw, rows, task.k, by_rows ? task.k : rows, data, CUDA_R_64F,
                                 by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL));
    return CusparseDense(raw);
  };
  kept.X = dense(task.A.ncols, o->x.data()), kept.Y = dense(task.A.nrows, o->y.data());
  std::size_t size = 0;
  check(cusparse().SpMM_bufferSize(kept.handle.get(), plain, plain, &one, kept.A.get(), kept.X.get(), &zero,
                                   kept.Y.get(), CUDA_R_64F, Algorithm, &size));
  kept.buffer = Array<std::byte, Device>(std::int64_t(size));
  double setup = 0;
  if constexpr (preprocess == Preprocess::yes)
    setup = seconds_of([&] {
      check(cusparse().SpMM_preprocess(kept.handle.get(), plain, plain, &one, kept.A.get(), kept.X.get(), &zero,
                                       kept.Y.get(), CUDA_R_64F, Algorithm, kept.buffer.data()));
      o->on.synchronize();
    });
  return prepared(o, setup, std::int64_t(size), [](On& on) {
    const Kept& k = on.kept;
    check(cusparse().SpMM(k.handle.get(), plain, plain, &one, k.A.get(), k.X.get(), &zero, k.Y.get(), CUDA_R_64F,
                          Algorithm, const_cast<std::byte*>(k.buffer.data())));
  });
}

/// One triangle, analysed.
struct Triangle {
  CusparseMatrix A;
  CusparseSolve solve;
  Array<std::byte, Device> buffer;

  Triangle(const CusparseHandle& handle, const CsrView<double, std::int32_t, Device>& all, cusparseFillMode_t fill,
           const CusparseVector& from, const CusparseVector& to)
      : A(describe(all)) {
    const cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparse().SpMatSetAttribute(A.get(), CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparse().SpMatSetAttribute(A.get(), CUSPARSE_SPMAT_DIAG_TYPE, const_cast<cusparseDiagType_t*>(&diagonal),
                                       sizeof diagonal));
    cusparseSpSVDescr_t raw;
    check(cusparse().SpSV_createDescr(&raw));
    solve = CusparseSolve(raw);
    std::size_t size = 0;
    check(cusparse().SpSV_bufferSize(handle.get(), plain, &one, A.get(), from.get(), to.get(), CUDA_R_64F,
                                     CUSPARSE_SPSV_ALG_DEFAULT, raw, &size));
    buffer = Array<std::byte, Device>(std::int64_t(size));
    check(cusparse().SpSV_analysis(handle.get(), plain, &one, A.get(), from.get(), to.get(), CUDA_R_64F,
                                   CUSPARSE_SPSV_ALG_DEFAULT, raw, buffer.data()));
  }
  void run(const CusparseHandle& handle, const CusparseVector& from, const CusparseVector& to) const {
    check(cusparse().SpSV_solve(handle.get(), plain, &one, A.get(), from.get(), to.get(), CUDA_R_64F,
                                CUSPARSE_SPSV_ALG_DEFAULT, solve.get()));
  }
};

struct Pair {
  CusparseHandle handle;
  Array<double, Device> diagonal, between, scaled;
  CusparseVector b, y, dy, z;
  std::unique_ptr<Triangle> lower, upper;
};

/// (D + L) y = b, then (D + U) z = D y; the scaling by D is one launch of ours between the two.
Prepared symgs(const Task& task, const Where& where) {
  using PairOn = Operands<Cuda, Pair>;
  require_one_column(task);
  const Index n = task.A.nrows;
  auto o = std::make_shared<PairOn>(task, where, n, Pair{});
  Pair& kept = o->kept;
  kept.handle = cusparse_on(o->on);
  kept.diagonal = Array<double, Device>(diagonal_of(task.A)), kept.between = Array<double, Device>(n),
  kept.scaled = Array<double, Device>(n);
  kept.b = describe(o->x.span()), kept.y = describe(kept.between.span()), kept.dy = describe(kept.scaled.span()),
  kept.z = describe(o->y.span());
  const double setup = seconds_of([&] {
    kept.lower =
        std::make_unique<Triangle>(kept.handle, csr_of<Device>(task), CUSPARSE_FILL_MODE_LOWER, kept.b, kept.y);
    kept.upper =
        std::make_unique<Triangle>(kept.handle, csr_of<Device>(task), CUSPARSE_FILL_MODE_UPPER, kept.dy, kept.z);
    o->on.synchronize();
  });
  const std::int64_t bytes = kept.lower->buffer.size() + kept.upper->buffer.size() + 3 * 8 * std::int64_t(n);
  return prepared(o, setup, bytes, [](PairOn& on) {
    Pair& k = on.kept;
    k.lower->run(k.handle, k.b, k.y);
    multiply<Cuda, double>(on.on, k.diagonal, k.between, k.scaled);
    k.upper->run(k.handle, k.dy, k.z);
  });
}

struct Transposition {
  CusparseHandle handle;
  CsrView<double, std::int32_t, Device> A;
  Csr<double, std::int32_t, Device> T;
  Array<std::byte, Device> buffer;
};

/// By its first algorithm, whose order of entries is fixed.
Prepared transpose(const Task& task, const Where& where) {
  using OnMatrix = Operands<Cuda, Transposition>;
  auto o = std::make_shared<OnMatrix>(task, where, 0, Transposition{});
  Transposition& kept = o->kept;
  const Index m = task.A.nrows, n = task.A.ncols;
  const std::int64_t nnz = task.A.nnz();
  kept.handle = cusparse_on(o->on);
  kept.A = csr_of<Device>(task);
  kept.T = {n, m, Array<std::int32_t, Device>(std::int64_t(n) + 1), Array<Index, Device>(nnz),
            Array<double, Device>(nnz)};
  std::size_t size = 0;
  check(cusparse().Csr2cscEx2_bufferSize(kept.handle.get(), m, n, int(nnz), kept.A.values.data(), kept.A.row_ptr.data(),
                                         kept.A.col_idx.data(), kept.T.values.data(), kept.T.row_ptr.data(),
                                         kept.T.col_idx.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                                         CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &size));
  kept.buffer = Array<std::byte, Device>(std::int64_t(size) + 1);
  return {.run =
              [o, m, n, nnz] {
                Transposition& k = o->kept;
                check(cusparse().Csr2cscEx2(k.handle.get(), m, n, int(nnz), k.A.values.data(), k.A.row_ptr.data(),
                                            k.A.col_idx.data(), k.T.values.data(), k.T.row_ptr.data(),
                                            k.T.col_idx.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                                            CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, k.buffer.data()));
              },
          .poison = [o] { fill<Cuda, double>(o->on, o->kept.T.values, std::numeric_limits<double>::quiet_NaN()); },
          .output =
              [o](auto& to) {
                o->on.synchronize();
                const auto T = copied_to<Host>(o->kept.T.view());
                flat(with_offsets<std::int64_t>(OpenMP{}, T.view()), to);
              },
          .setup_seconds = 0,
          .workspace_bytes = std::int64_t(size)};
}

}  // namespace

std::vector<Rival> cusparse_rivals() {
  constexpr auto no = Preprocess::no, yes = Preprocess::yes;
  return {{"spmv", "csr", BackendName::cuda, "cusparse", false, "cusparseSpMV, its default algorithm",
           spmv_csr<CUSPARSE_SPMV_ALG_DEFAULT, no>},
          {"spmv", "csr", BackendName::cuda, "cusparse-alg1", false, "cusparseSpMV, CSR_ALG1, preprocessed",
           spmv_csr<CUSPARSE_SPMV_CSR_ALG1, yes>},
          {"spmv", "csr", BackendName::cuda, "cusparse-alg2", false, "cusparseSpMV, CSR_ALG2",
           spmv_csr<CUSPARSE_SPMV_CSR_ALG2, no>},
          {"spmv", "csr", BackendName::cuda, "cusparse-alg2-pre", false, "cusparseSpMV, CSR_ALG2, preprocessed",
           spmv_csr<CUSPARSE_SPMV_CSR_ALG2, yes>},
          {"spmv", "sell", BackendName::cuda, "cusparse", false, "cusparseSpMV on sliced ELL, slices of 32 rows",
           spmv_sell},
          {"spmm", "csr", BackendName::cuda, "cusparse", false, "cusparseSpMM, its default algorithm",
           spmm<CUSPARSE_SPMM_ALG_DEFAULT, no>},
          {"spmm", "csr", BackendName::cuda, "cusparse-alg1", false, "cusparseSpMM, CSR_ALG1, preprocessed",
           spmm<CUSPARSE_SPMM_CSR_ALG1, yes>},
          {"spmm", "csr", BackendName::cuda, "cusparse-alg2", false, "cusparseSpMM, CSR_ALG2, preprocessed",
           spmm<CUSPARSE_SPMM_CSR_ALG2, yes>},
          {"spmm", "csr", BackendName::cuda, "cusparse-alg3", false, "cusparseSpMM, CSR_ALG3, preprocessed",
           spmm<CUSPARSE_SPMM_CSR_ALG3, yes>},
          {"symgs", "csr", BackendName::cuda, "cusparse", false, "cusparseSpSV, lower then upper", symgs},
          {"transpose", "csr", BackendName::cuda, "cusparse", false, "cusparseCsr2cscEx2, ALG1", transpose}};
}

}  // namespace seidel::drivers
