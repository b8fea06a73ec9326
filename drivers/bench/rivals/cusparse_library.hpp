// cuSPARSE's functions, found in its shared library when a rival first asks: a program that does not ask starts fast.
#pragma once
#include <cusparse.h>

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

}  // namespace seidel::drivers
