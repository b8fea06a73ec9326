// cuSPARSE as the GPU reference, through the functions of its shared library.
#include <cusparse.h>
#include <dlfcn.h>

#include <seidel/drivers/baselines/cusparse.hpp>
#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/errors.hpp>

namespace seidel::drivers {

namespace {

void check(cusparseStatus_t status, const char* call) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw BackendError(formatted("cuSPARSE: {} failed with status {}", call, int(status)));
}

/// The shared library of this build's major version; nothing where there is none.
void* library() {
  static void* const opened = [] {
    const std::string name = formatted("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
    void* const found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return opened;
}

/// The library's function of this name and type.
template <class Function>
Function* function(const char* name) {
  void* const address = library() ? dlsym(library(), name) : nullptr;
  if (!address)
    throw BackendError(formatted("cuSPARSE: {} was not found\n  {}", name, CuSparse::unavailable_because()));
  return reinterpret_cast<Function*>(address);
}

/// Calls it, and checks what it returns.
template <class Function, class... Arguments>
void call(const char* name, Arguments... arguments) {
  check(function<Function>(name)(arguments...), name);
}

}  // namespace

struct CuSparse::State {
  Cuda on;
  Matrix A;
  cusparseHandle_t handle = nullptr;
  cusparseSpMatDescr_t matrix = nullptr;
  Array<std::byte, Device> spmv_room, spmm_room;

  State(const Cuda& on_, const Matrix& A_) : on(on_), A(A_) {
    call<decltype(cusparseCreate)>("cusparseCreate", &handle);
    call<decltype(cusparseSetStream)>("cusparseSetStream", handle, on.stream());
    call<decltype(cusparseCreateCsr)>("cusparseCreateCsr", &matrix, std::int64_t(A.nrows), std::int64_t(A.ncols),
                                      A.nnz(), pointer(A.row_ptr), pointer(A.col_idx), pointer(A.values),
                                      CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
  }
  ~State() {
    if (matrix) function<decltype(cusparseDestroySpMat)>("cusparseDestroySpMat")(matrix);
    if (handle) function<decltype(cusparseDestroy)>("cusparseDestroy")(handle);
  }

  /// cuSPARSE takes pointers to what it only reads as if it wrote there.
  template <class T>
  static void* pointer(DeviceSpan<const T> span) {
    return const_cast<T*>(span.data());
  }
};

std::string CuSparse::unavailable_because() {
  return library() ? ""
                   : formatted(
                         "libcusparse.so.{} was not found: install the CUDA Toolkit's library cusparse, or put it on "
                         "LD_LIBRARY_PATH",
                         CUSPARSE_VER_MAJOR);
}

CuSparse::CuSparse(const Cuda& on, const Matrix& A) : state_(std::make_shared<State>(on, A)) {}

void CuSparse::spmv(DeviceSpan<const double> x, DeviceSpan<double> y) {
  State& s = *state_;
  cusparseDnVecDescr_t from = nullptr, to = nullptr;
  call<decltype(cusparseCreateDnVec)>("cusparseCreateDnVec", &from, x.size(), State::pointer(x), CUDA_R_64F);
  call<decltype(cusparseCreateDnVec)>("cusparseCreateDnVec", &to, y.size(), static_cast<void*>(y.data()), CUDA_R_64F);
  const double one = 1, zero = 0;
  if (s.spmv_room.empty()) {
    std::size_t bytes = 0;
    call<decltype(cusparseSpMV_bufferSize)>(
        "cusparseSpMV_bufferSize", s.handle, CUSPARSE_OPERATION_NON_TRANSPOSE, static_cast<const void*>(&one), s.matrix,
        from, static_cast<const void*>(&zero), to, CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, &bytes);
    s.spmv_room = Array<std::byte, Device>(std::int64_t(bytes) + 1);
  }
  call<decltype(cusparseSpMV)>("cusparseSpMV", s.handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                               static_cast<const void*>(&one), s.matrix, from, static_cast<const void*>(&zero), to,
                               CUDA_R_64F, CUSPARSE_SPMV_ALG_DEFAULT, static_cast<void*>(s.spmv_room.data()));
  call<decltype(cusparseDestroyDnVec)>("cusparseDestroyDnVec", from);
  call<decltype(cusparseDestroyDnVec)>("cusparseDestroyDnVec", to);
}

void CuSparse::spmm(DeviceSpan<const double> X, DeviceSpan<double> Y, std::int64_t k) {
  State& s = *state_;
  cusparseDnMatDescr_t from = nullptr, to = nullptr;
  call<decltype(cusparseCreateDnMat)>("cusparseCreateDnMat", &from, std::int64_t(s.A.ncols), k, std::int64_t(s.A.ncols),
                                      State::pointer(X), CUDA_R_64F, CUSPARSE_ORDER_COL);
  call<decltype(cusparseCreateDnMat)>("cusparseCreateDnMat", &to, std::int64_t(s.A.nrows), k, std::int64_t(s.A.nrows),
                                      static_cast<void*>(Y.data()), CUDA_R_64F, CUSPARSE_ORDER_COL);
  const double one = 1, zero = 0;
  std::size_t bytes = 0;
  call<decltype(cusparseSpMM_bufferSize)>("cusparseSpMM_bufferSize", s.handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                                          CUSPARSE_OPERATION_NON_TRANSPOSE, static_cast<const void*>(&one), s.matrix,
                                          from, static_cast<const void*>(&zero), to, CUDA_R_64F,
                                          CUSPARSE_SPMM_ALG_DEFAULT, &bytes);
  if (std::int64_t(bytes) + 1 > s.spmm_room.size()) s.spmm_room = Array<std::byte, Device>(std::int64_t(bytes) + 1);
  call<decltype(cusparseSpMM)>("cusparseSpMM", s.handle, CUSPARSE_OPERATION_NON_TRANSPOSE,
                               CUSPARSE_OPERATION_NON_TRANSPOSE, static_cast<const void*>(&one), s.matrix, from,
                               static_cast<const void*>(&zero), to, CUDA_R_64F, CUSPARSE_SPMM_ALG_DEFAULT,
                               static_cast<void*>(s.spmm_room.data()));
  call<decltype(cusparseDestroyDnMat)>("cusparseDestroyDnMat", from);
  call<decltype(cusparseDestroyDnMat)>("cusparseDestroyDnMat", to);
}

Csr<double, std::int32_t, Device> CuSparse::transpose() {
  State& s = *state_;
  const Matrix& A = s.A;
  Csr<double, std::int32_t, Device> T{A.ncols, A.nrows, Array<std::int32_t, Device>(std::int64_t(A.ncols) + 1),
                                      Array<Index, Device>(A.nnz()), Array<double, Device>(A.nnz())};
  std::size_t bytes = 0;
  const auto* const values = static_cast<const void*>(A.values.data());
  auto* const new_values = static_cast<void*>(T.values.data());
  call<decltype(cusparseCsr2cscEx2_bufferSize)>("cusparseCsr2cscEx2_bufferSize", s.handle, int(A.nrows), int(A.ncols),
                                                int(A.nnz()), values, A.row_ptr.data(), A.col_idx.data(), new_values,
                                                T.row_ptr.data(), T.col_idx.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC,
                                                CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes);
  Array<std::byte, Device> room(std::int64_t(bytes) + 1);
  call<decltype(cusparseCsr2cscEx2)>("cusparseCsr2cscEx2", s.handle, int(A.nrows), int(A.ncols), int(A.nnz()), values,
                                     A.row_ptr.data(), A.col_idx.data(), new_values, T.row_ptr.data(), T.col_idx.data(),
                                     CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                     CUSPARSE_CSR2CSC_ALG1, static_cast<void*>(room.data()));
  s.on.synchronize();
  return T;
}

}  // namespace seidel::drivers
