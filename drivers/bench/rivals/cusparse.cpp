// cuSPARSE, the baseline of the GPU: each of its algorithms for products, with and without preprocessing, its triangular
// solves as a symmetric Gauss-Seidel pair, its transposition.
#include <seidel/drivers/bench/rivals/cusparse.hpp>

#include <dlfcn.h>

#include <seidel/drivers/bench/rivals/transposition.hpp>
#include <seidel/solvers/preconditioners/diagonal.hpp>

namespace seidel::drivers {

namespace {

std::string library_name() { return "libcusparse.so." + std::to_string(CUSPARSE_VER_MAJOR); }

/// The shared library of this build's major version; nothing where there is none.
void* library() {
  static void* const opened = [] {
    void* const found = dlopen(library_name().c_str(), RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(("/usr/local/cuda/lib64/" + library_name()).c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return opened;
}

}  // namespace

CusparseFunction named(const char* name) {
  if (!library())
    throw ResourceError(library_name() + " was not found: install the CUDA Toolkit's library cusparse, or put it on " +
                        "LD_LIBRARY_PATH");
  if (void* const found = dlsym(library(), name)) return {found};
  throw ResourceError(std::string("cuSPARSE: the library found has no ") + name + "; take that of CUDA " +
                      std::to_string(CUSPARSE_VER_MAJOR));
}

const CusparseFunctions& cusparse() {
  static const CusparseFunctions functions;
  return functions;
}

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

std::shared_ptr<On> operands_of(const ProductTask& task, const Where& where) {
  auto o = std::make_shared<On>(task.x, where, task.of.A.nrows * task.k, Kept{});
  o->kept.handle = cusparse_on(o->on);
  return o;
}

enum class Preprocess { no, yes };

/// A product takes its buffer, is preprocessed if it is to be, and runs. call(function, kept, last) calls one of the
/// library's three functions, which differ in their last argument.
template <Preprocess preprocess, class Size, class Prepare, class Run, class Call>
Prepared with_buffer(std::shared_ptr<On> o, double setup, std::int64_t bytes, Size* buffer_size, Prepare* prepare,
                     Run* run, Call call) {
  Kept& kept = o->kept;
  std::size_t size = 0;
  call(buffer_size, kept, &size);
  kept.buffer = Array<std::byte, Device>(o->on, std::int64_t(size));
  if constexpr (preprocess == Preprocess::yes)
    setup += seconds_to_make(o->on, [&] { call(prepare, kept, kept.buffer.data()); });
  return prepared(o, setup, bytes + std::int64_t(size),
                  [call, run](On& on) { call(run, on.kept, on.kept.buffer.data()); });
}

template <cusparseSpMVAlg_t Algorithm, Preprocess preprocess>
Prepared spmv_with(std::shared_ptr<On> o, double setup, std::int64_t bytes) {
  o->kept.x = describe(o->x.span()), o->kept.y = describe(o->y.span());
  const auto& f = cusparse();
  return with_buffer<preprocess>(
      o, setup, bytes, f.SpMV_bufferSize, f.SpMV_preprocess, f.SpMV, [](auto* function, const Kept& k, auto* last) {
        check(
            function(k.handle.get(), plain, &one, k.A.get(), k.x.get(), &zero, k.y.get(), CUDA_R_64F, Algorithm, last));
      });
}

template <cusparseSpMVAlg_t Algorithm, Preprocess preprocess>
Prepared spmv_csr(const ProductTask& task, const Where& where) {
  auto o = operands_of(task, where);
  o->kept.A = describe(csr_of(*where.cuda, task.of));
  return spmv_with<Algorithm, preprocess>(o, 0, 0);
}

Prepared spmv_sell(const ProductTask& task, const Where& where) {
  auto o = operands_of(task, where);
  Kept& kept = o->kept;
  const double setup = seconds_of([&] {
    // The library tells padding by its column, -1.
    Sell<double> host = to_sell(OpenMP{}, task.of.A.view(), 32, 1);
    for (std::int64_t s = 0; s + 1 < host.slice_ptr.size(); ++s)
      for (Index lane = 0; lane < 32; ++lane)
        for (std::int64_t at = host.slice_ptr[s] + 32 * std::int64_t(host.row_length[s * 32 + lane]) + lane;
             at < host.slice_ptr[s + 1]; at += 32)
          host.col_idx[at] = -1;
    Array<std::int32_t> slice_ptr(host.slice_ptr.size());
    std::copy(host.slice_ptr.begin(), host.slice_ptr.end(), slice_ptr.begin());
    kept.slice_ptr = copied_to<Device>(o->on, slice_ptr.span());
    kept.sell = copied_to<Device>(o->on, host.view());
  });
  kept.A = created<CusparseMatrix>(cusparse().CreateSlicedEll, task.of.A.nrows, task.of.A.ncols, task.of.A.nnz(),
                                   kept.sell.values.size(), 32, kept.slice_ptr.data(), kept.sell.col_idx.data(),
                                   kept.sell.values.data(), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                   CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  return spmv_with<CUSPARSE_SPMV_SELL_ALG1, Preprocess::no>(o, setup,
                                                            12 * kept.sell.values.size() + 4 * kept.slice_ptr.size());
}

template <cusparseSpMMAlg_t Algorithm, Preprocess preprocess>
Prepared spmm(const ProductTask& task, const Where& where) {
  auto o = operands_of(task, where);
  Kept& kept = o->kept;
  kept.A = describe(csr_of(*where.cuda, task.of));
  const auto dense = [&](std::int64_t rows, double* data) {
    const bool by_rows = task.layout == Layout::row_major;
    return created<CusparseDense>(cusparse().CreateDnMat, rows, task.k, by_rows ? task.k : rows, data, CUDA_R_64F,
                                  by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL);
  };
  kept.X = dense(task.of.A.ncols, o->x.data()), kept.Y = dense(task.of.A.nrows, o->y.data());
  const auto& f = cusparse();
  return with_buffer<preprocess>(o, 0, 0, f.SpMM_bufferSize, f.SpMM_preprocess, f.SpMM,
                                 [](auto* function, const Kept& k, auto* last) {
                                   check(function(k.handle.get(), plain, plain, &one, k.A.get(), k.X.get(), &zero,
                                                  k.Y.get(), CUDA_R_64F, Algorithm, last));
                                 });
}

/// One triangle, analysed, and the vectors of its solves.
struct Triangle {
  const CusparseHandle& handle;
  const CusparseVector &from, &to;
  CusparseMatrix A;
  CusparseSolve solve = created<CusparseSolve>(cusparse().SpSV_createDescr);
  Array<std::byte, Device> buffer = {};

  void analyse(const Cuda& on, cusparseFillMode_t fill) {
    cusparseDiagType_t diagonal = CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparse().SpMatSetAttribute(A.get(), CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill));
    check(cusparse().SpMatSetAttribute(A.get(), CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal));
    std::size_t size = 0;
    call(cusparse().SpSV_bufferSize, &size);
    buffer = Array<std::byte, Device>(on, std::int64_t(size));
    call(cusparse().SpSV_analysis, buffer.data());
  }
  void run() const { call(cusparse().SpSV_solve); }

 private:
  template <class Function, class... Last>
  void call(Function* function, Last... last) const {
    check(function(handle.get(), plain, &one, A.get(), from.get(), to.get(), CUDA_R_64F, CUSPARSE_SPSV_ALG_DEFAULT,
                   solve.get(), last...));
  }
};

struct Pair {
  CusparseHandle handle;
  Array<double, Device> diagonal, between, scaled;
  CusparseVector b, y, dy, z;
  std::unique_ptr<Triangle> lower, upper;
};

/// (D + L) y = b, then (D + U) z = D y; the scaling by D is one launch of ours between the two.
Prepared symgs(const SweepTask& task, const Where& where) {
  using PairOn = Operands<Cuda, Pair>;
  require_one_column(task);
  const Index n = task.of.A.nrows;
  auto o = std::make_shared<PairOn>(task.b, where, n, Pair{});
  Pair& kept = o->kept;
  kept.handle = cusparse_on(o->on);
  const Array<double> diagonal = seidel::diagonal(OpenMP{1}, task.of.A.view());
  kept.diagonal = copied_to<Device>(o->on, diagonal.span());
  kept.between = Array<double, Device>(o->on, n), kept.scaled = Array<double, Device>(o->on, n);

  kept.b = describe(o->x.span()), kept.y = describe(kept.between.span()), kept.dy = describe(kept.scaled.span()),
  kept.z = describe(o->y.span());
  const double setup = seconds_to_make(o->on, [&] {
    const auto A = csr_of(o->on, task.of);
    kept.lower = std::make_unique<Triangle>(Triangle{kept.handle, kept.b, kept.y, describe(A)});
    kept.lower->analyse(o->on, CUSPARSE_FILL_MODE_LOWER);
    kept.upper = std::make_unique<Triangle>(Triangle{kept.handle, kept.dy, kept.z, describe(A)});
    kept.upper->analyse(o->on, CUSPARSE_FILL_MODE_UPPER);
  });
  const std::int64_t bytes = kept.lower->buffer.size() + kept.upper->buffer.size() + 3 * 8 * std::int64_t(n);
  return prepared(o, setup, bytes, [](PairOn& on) {
    Pair& k = on.kept;
    k.lower->run();
    multiply<Cuda, double>(on.on, k.diagonal, k.between, k.scaled);
    k.upper->run();
  });
}

struct Workspace {
  CusparseHandle handle;
  Array<std::byte, Device> buffer;
};
using TransposeOn = Transposition<Cuda, Workspace>;

/// The toolkit has one algorithm left, whose order of entries is fixed.
constexpr cusparseCsr2CscAlg_t transposing = CUSPARSE_CSR2CSC_ALG1;
static_assert(transposing == CUSPARSE_CSR2CSC_ALG_DEFAULT);

Prepared transposition(const TransposeTask& task, const Where& where) {
  const auto o = std::make_shared<TransposeOn>(task, where);
  o->kept.handle = cusparse_on(o->on);
  std::size_t size = 0;
  check(cusparse().Csr2cscEx2_bufferSize(o->kept.handle.get(), o->A.nrows, o->A.ncols, int(o->A.nnz()),
                                         o->A.values.data(), o->A.row_ptr.data(), o->A.col_idx.data(),
                                         o->T.values.data(), o->T.row_ptr.data(), o->T.col_idx.data(), CUDA_R_64F,
                                         CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, transposing, &size));
  o->kept.buffer = Array<std::byte, Device>(o->on, std::int64_t(size) + 1);
  return prepared(o, std::int64_t(size), [](TransposeOn& k) {
    check(cusparse().Csr2cscEx2(k.kept.handle.get(), k.A.nrows, k.A.ncols, int(k.A.nnz()), k.A.values.data(),
                                k.A.row_ptr.data(), k.A.col_idx.data(), k.T.values.data(), k.T.row_ptr.data(),
                                k.T.col_idx.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                transposing, k.kept.buffer.data()));
  });
}

}  // namespace

std::vector<Rival> cusparse_rivals() {
  constexpr auto no = Preprocess::no, yes = Preprocess::yes;
  constexpr auto cuda = BackendName::cuda;
  return {baseline(kernels::spmv, "csr", cuda, "cusparse", "cusparseSpMV, its default algorithm",
                   spmv_csr<CUSPARSE_SPMV_ALG_DEFAULT, no>),
          baseline(kernels::spmv, "csr", cuda, "cusparse-alg1", "cusparseSpMV, CSR_ALG1, preprocessed",
                   spmv_csr<CUSPARSE_SPMV_CSR_ALG1, yes>),
          baseline(kernels::spmv, "csr", cuda, "cusparse-alg2", "cusparseSpMV, CSR_ALG2",
                   spmv_csr<CUSPARSE_SPMV_CSR_ALG2, no>),
          baseline(kernels::spmv, "csr", cuda, "cusparse-alg2-pre", "cusparseSpMV, CSR_ALG2, preprocessed",
                   spmv_csr<CUSPARSE_SPMV_CSR_ALG2, yes>),
          baseline(kernels::spmv, "sell", cuda, "cusparse", "cusparseSpMV on sliced ELL, slices of 32 rows", spmv_sell),
          baseline(kernels::spmm, "csr", cuda, "cusparse", "cusparseSpMM, its default algorithm",
                   spmm<CUSPARSE_SPMM_ALG_DEFAULT, no>),
          baseline(kernels::spmm, "csr", cuda, "cusparse-alg1", "cusparseSpMM, CSR_ALG1, preprocessed",
                   spmm<CUSPARSE_SPMM_CSR_ALG1, yes>),
          baseline(kernels::spmm, "csr", cuda, "cusparse-alg2", "cusparseSpMM, CSR_ALG2, preprocessed",
                   spmm<CUSPARSE_SPMM_CSR_ALG2, yes>),
          baseline(kernels::spmm, "csr", cuda, "cusparse-alg3", "cusparseSpMM, CSR_ALG3, preprocessed",
                   spmm<CUSPARSE_SPMM_CSR_ALG3, yes>),
          baseline(kernels::symgs, "csr", cuda, "cusparse", "cusparseSpSV, lower then upper", symgs),
          baseline(kernels::transpose, "csr", cuda, "cusparse",
                   "cusparseCsr2cscEx2, ALG1, the only one of this toolkit", transposition)};
}

}  // namespace seidel::drivers
