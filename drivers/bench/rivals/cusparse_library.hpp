// cuSPARSE's functions, found in its shared library when a rival first asks: a program that does not ask starts fast.
#pragma once
#include <cusparse.h>

#include <string>

namespace seidel::drivers {

/// What is used of the library, each under its name without the prefix. A new one is one line.
struct CusparseFunctions {
  decltype(::cusparseCreate)* Create;
  decltype(::cusparseDestroy)* Destroy;
  decltype(::cusparseSetStream)* SetStream;
  decltype(::cusparseGetErrorString)* GetErrorString;
  decltype(::cusparseCreateCsr)* CreateCsr;
  decltype(::cusparseCreateSlicedEll)* CreateSlicedEll;
  decltype(::cusparseSpMatSetAttribute)* SpMatSetAttribute;
  decltype(::cusparseDestroySpMat)* DestroySpMat;
  decltype(::cusparseCreateDnVec)* CreateDnVec;
  decltype(::cusparseDestroyDnVec)* DestroyDnVec;
  decltype(::cusparseCreateDnMat)* CreateDnMat;
  decltype(::cusparseDestroyDnMat)* DestroyDnMat;
  decltype(::cusparseSpMV_bufferSize)* SpMV_bufferSize;
  decltype(::cusparseSpMV_preprocess)* SpMV_preprocess;
  decltype(::cusparseSpMV)* SpMV;
  decltype(::cusparseSpMM_bufferSize)* SpMM_bufferSize;
  decltype(::cusparseSpMM_preprocess)* SpMM_preprocess;
  decltype(::cusparseSpMM)* SpMM;
  decltype(::cusparseSpSV_createDescr)* SpSV_createDescr;
  decltype(::cusparseSpSV_destroyDescr)* SpSV_destroyDescr;
  decltype(::cusparseSpSV_bufferSize)* SpSV_bufferSize;
  decltype(::cusparseSpSV_analysis)* SpSV_analysis;
  decltype(::cusparseSpSV_solve)* SpSV_solve;
  decltype(::cusparseCsr2cscEx2_bufferSize)* Csr2cscEx2_bufferSize;
  decltype(::cusparseCsr2cscEx2)* Csr2cscEx2;
  decltype(::cusparseSpMatGetSize)* SpMatGetSize;
  decltype(::cusparseCsrSetPointers)* CsrSetPointers;
  decltype(::cusparseSpGEMM_createDescr)* SpGEMM_createDescr;
  decltype(::cusparseSpGEMM_destroyDescr)* SpGEMM_destroyDescr;
  decltype(::cusparseSpGEMM_workEstimation)* SpGEMM_workEstimation;
  decltype(::cusparseSpGEMM_estimateMemory)* SpGEMM_estimateMemory;
  decltype(::cusparseSpGEMM_compute)* SpGEMM_compute;
  decltype(::cusparseSpGEMM_copy)* SpGEMM_copy;
  decltype(::cusparseSpGEMMreuse_workEstimation)* SpGEMMreuse_workEstimation;
  decltype(::cusparseSpGEMMreuse_nnz)* SpGEMMreuse_nnz;
  decltype(::cusparseSpGEMMreuse_copy)* SpGEMMreuse_copy;
  decltype(::cusparseSpGEMMreuse_compute)* SpGEMMreuse_compute;
};

/// Opens the library at the first call. Errors  ResourceError: not found, or without one of the functions.
const CusparseFunctions& cusparse();

/// Why there is no cuSPARSE here, or an empty string.
std::string cusparse_unavailable_because();

}  // namespace seidel::drivers
