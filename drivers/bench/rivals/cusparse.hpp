// cuSPARSE's functions, found in its shared library when a rival first asks, since a program that does not ask starts fast;
// a handle on a stream, and descriptors of our matrices and vectors, which own themselves.
#pragma once
#include <cusparse.h>

#include <memory>
#include <string>
#include <type_traits>

#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

/// A function of the library, as a pointer to whatever type it is asked for as.
/// Errors  ResourceError: the library was not found, or has no such function.
struct CusparseFunction {
  void* address;
  template <class Function>
  operator Function*() const {
    return reinterpret_cast<Function*>(address);
  }
};
CusparseFunction named(const char* name);

/// What is used of the library, each under its name without the prefix. A new one is one line.
struct CusparseFunctions {
  decltype(::cusparseCreate)* Create = named("cusparseCreate");
  decltype(::cusparseDestroy)* Destroy = named("cusparseDestroy");
  decltype(::cusparseSetStream)* SetStream = named("cusparseSetStream");
  decltype(::cusparseGetErrorString)* GetErrorString = named("cusparseGetErrorString");
  decltype(::cusparseCreateCsr)* CreateCsr = named("cusparseCreateCsr");
  decltype(::cusparseCreateSlicedEll)* CreateSlicedEll = named("cusparseCreateSlicedEll");
  decltype(::cusparseSpMatSetAttribute)* SpMatSetAttribute = named("cusparseSpMatSetAttribute");
  decltype(::cusparseDestroySpMat)* DestroySpMat = named("cusparseDestroySpMat");
  decltype(::cusparseCreateDnVec)* CreateDnVec = named("cusparseCreateDnVec");
  decltype(::cusparseDestroyDnVec)* DestroyDnVec = named("cusparseDestroyDnVec");
  decltype(::cusparseCreateDnMat)* CreateDnMat = named("cusparseCreateDnMat");
  decltype(::cusparseDestroyDnMat)* DestroyDnMat = named("cusparseDestroyDnMat");
  decltype(::cusparseSpMV_bufferSize)* SpMV_bufferSize = named("cusparseSpMV_bufferSize");
  decltype(::cusparseSpMV_preprocess)* SpMV_preprocess = named("cusparseSpMV_preprocess");
  decltype(::cusparseSpMV)* SpMV = named("cusparseSpMV");
  decltype(::cusparseSpMM_bufferSize)* SpMM_bufferSize = named("cusparseSpMM_bufferSize");
  decltype(::cusparseSpMM_preprocess)* SpMM_preprocess = named("cusparseSpMM_preprocess");
  decltype(::cusparseSpMM)* SpMM = named("cusparseSpMM");
  decltype(::cusparseSpSV_createDescr)* SpSV_createDescr = named("cusparseSpSV_createDescr");
  decltype(::cusparseSpSV_destroyDescr)* SpSV_destroyDescr = named("cusparseSpSV_destroyDescr");
  decltype(::cusparseSpSV_bufferSize)* SpSV_bufferSize = named("cusparseSpSV_bufferSize");
  decltype(::cusparseSpSV_analysis)* SpSV_analysis = named("cusparseSpSV_analysis");
  decltype(::cusparseSpSV_solve)* SpSV_solve = named("cusparseSpSV_solve");
  decltype(::cusparseCsr2cscEx2_bufferSize)* Csr2cscEx2_bufferSize = named("cusparseCsr2cscEx2_bufferSize");
  decltype(::cusparseCsr2cscEx2)* Csr2cscEx2 = named("cusparseCsr2cscEx2");
  decltype(::cusparseSpMatGetSize)* SpMatGetSize = named("cusparseSpMatGetSize");
  decltype(::cusparseCsrSetPointers)* CsrSetPointers = named("cusparseCsrSetPointers");
  decltype(::cusparseSpGEMM_createDescr)* SpGEMM_createDescr = named("cusparseSpGEMM_createDescr");
  decltype(::cusparseSpGEMM_destroyDescr)* SpGEMM_destroyDescr = named("cusparseSpGEMM_destroyDescr");
  decltype(::cusparseSpGEMM_workEstimation)* SpGEMM_workEstimation = named("cusparseSpGEMM_workEstimation");
  decltype(::cusparseSpGEMM_estimateMemory)* SpGEMM_estimateMemory = named("cusparseSpGEMM_estimateMemory");
  decltype(::cusparseSpGEMM_compute)* SpGEMM_compute = named("cusparseSpGEMM_compute");
  decltype(::cusparseSpGEMM_copy)* SpGEMM_copy = named("cusparseSpGEMM_copy");
  decltype(::cusparseSpGEMMreuse_workEstimation)* SpGEMMreuse_workEstimation =
      named("cusparseSpGEMMreuse_workEstimation");
  decltype(::cusparseSpGEMMreuse_nnz)* SpGEMMreuse_nnz = named("cusparseSpGEMMreuse_nnz");
  decltype(::cusparseSpGEMMreuse_copy)* SpGEMMreuse_copy = named("cusparseSpGEMMreuse_copy");
  decltype(::cusparseSpGEMMreuse_compute)* SpGEMMreuse_compute = named("cusparseSpGEMMreuse_compute");
};

/// Opens the library at the first call. Errors  ResourceError as named().
const CusparseFunctions& cusparse();

inline void check(cusparseStatus_t status) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw BackendError(std::string("cuSPARSE: ") + cusparse().GetErrorString(status));
}

template <auto Destroy>
struct Destroyer {
  template <class T>
  void operator()(T* p) const {
    (cusparse().*Destroy)(p);
  }
};
template <class Handle, auto Destroy>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, Destroyer<Destroy>>;

using CusparseHandle = Owned<cusparseHandle_t, &CusparseFunctions::Destroy>;
using CusparseMatrix = Owned<cusparseSpMatDescr_t, &CusparseFunctions::DestroySpMat>;
using CusparseVector = Owned<cusparseDnVecDescr_t, &CusparseFunctions::DestroyDnVec>;
using CusparseDense = Owned<cusparseDnMatDescr_t, &CusparseFunctions::DestroyDnMat>;
using CusparseSolve = Owned<cusparseSpSVDescr_t, &CusparseFunctions::SpSV_destroyDescr>;

/// What create(&raw, arguments...) of the library makes.
template <class Owner, class Create, class... Arguments>
Owner created(Create* create, Arguments... arguments) {
  typename Owner::pointer raw;
  check(create(&raw, arguments...));
  return Owner(raw);
}

inline CusparseHandle cusparse_on(const Cuda& on) {
  auto handle = created<CusparseHandle>(cusparse().Create);
  check(cusparse().SetStream(handle.get(), on.stream()));
  return handle;
}

// The library takes pointers to non-const and does not write through these.
inline CusparseMatrix describe(const CsrView<double, std::int32_t, Device>& A) {
  return created<CusparseMatrix>(cusparse().CreateCsr, A.nrows, A.ncols, A.nnz(),
                                 const_cast<std::int32_t*>(A.row_ptr.data()), const_cast<Index*>(A.col_idx.data()),
                                 const_cast<double*>(A.values.data()), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                                 CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F);
}
inline CusparseVector describe(Span<double, Device> x) {
  return created<CusparseVector>(cusparse().CreateDnVec, x.size(), x.data(), CUDA_R_64F);
}

}  // namespace seidel::drivers
