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
};

/// Opens the library at the first call. Errors  ResourceError: not found, or without one of the functions.
const CusparseFunctions& cusparse();

/// Why there is no cuSPARSE here, or an empty string.
std::string cusparse_unavailable_because();

}  // namespace seidel::drivers
