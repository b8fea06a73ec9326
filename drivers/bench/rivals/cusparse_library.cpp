// Opens cuSPARSE's shared library.
#include <seidel/drivers/bench/rivals/cusparse_library.hpp>

#include <dlfcn.h>

#include <seidel/drivers/report/format.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

namespace {

/// The shared library of this build's major version; nothing where there is none.
void* library() {
  static void* const opened = [] {
    const std::string name = formatted("libcusparse.so.{}", CUSPARSE_VER_MAJOR);
    void* const found = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    return found ? found : dlopen(("/usr/local/cuda/lib64/" + name).c_str(), RTLD_NOW | RTLD_LOCAL);
  }();
  return opened;
}

template <class Function>
void find(const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library(), name));
  if (!function)
    throw ResourceError(
        formatted("cuSPARSE: the library found has no {}; take that of CUDA {}", name, CUSPARSE_VER_MAJOR));
}

CusparseFunctions found() {
  if (const auto reason = cusparse_unavailable_because(); !reason.empty()) throw ResourceError(reason);
  CusparseFunctions f;
  find("cusparseCreate", f.Create);
  find("cusparseDestroy", f.Destroy);
  find("cusparseSetStream", f.SetStream);
  find("cusparseGetErrorString", f.GetErrorString);
  find("cusparseCreateCsr", f.CreateCsr);
  find("cusparseCreateSlicedEll", f.CreateSlicedEll);
  find("cusparseSpMatSetAttribute", f.SpMatSetAttribute);
  find("cusparseDestroySpMat", f.DestroySpMat);
  find("cusparseCreateDnVec", f.CreateDnVec);
  find("cusparseDestroyDnVec", f.DestroyDnVec);
  find("cusparseCreateDnMat", f.CreateDnMat);
  find("cusparseDestroyDnMat", f.DestroyDnMat);
  find("cusparseSpMV_bufferSize", f.SpMV_bufferSize);
  find("cusparseSpMV_preprocess", f.SpMV_preprocess);
  find("cusparseSpMV", f.SpMV);
  find("cusparseSpMM_bufferSize", f.SpMM_bufferSize);
  find("cusparseSpMM_preprocess", f.SpMM_preprocess);
  find("cusparseSpMM", f.SpMM);
  find("cusparseSpSV_createDescr", f.SpSV_createDescr);
  find("cusparseSpSV_destroyDescr", f.SpSV_destroyDescr);
  find("cusparseSpSV_bufferSize", f.SpSV_bufferSize);
  find("cusparseSpSV_analysis", f.SpSV_analysis);
  find("cusparseSpSV_solve", f.SpSV_solve);
  find("cusparseCsr2cscEx2_bufferSize", f.Csr2cscEx2_bufferSize);
  find("cusparseCsr2cscEx2", f.Csr2cscEx2);
  find("cusparseSpMatGetSize", f.SpMatGetSize);
  find("cusparseCsrSetPointers", f.CsrSetPointers);
  find("cusparseSpGEMM_createDescr", f.SpGEMM_createDescr);
  find("cusparseSpGEMM_destroyDescr", f.SpGEMM_destroyDescr);
  find("cusparseSpGEMM_workEstimation", f.SpGEMM_workEstimation);
  find("cusparseSpGEMM_estimateMemory", f.SpGEMM_estimateMemory);
  find("cusparseSpGEMM_compute", f.SpGEMM_compute);
  find("cusparseSpGEMM_copy", f.SpGEMM_copy);
  find("cusparseSpGEMMreuse_workEstimation", f.SpGEMMreuse_workEstimation);
  find("cusparseSpGEMMreuse_nnz", f.SpGEMMreuse_nnz);
  find("cusparseSpGEMMreuse_copy", f.SpGEMMreuse_copy);
  find("cusparseSpGEMMreuse_compute", f.SpGEMMreuse_compute);
  return f;
}

}  // namespace

const CusparseFunctions& cusparse() {
  static const CusparseFunctions functions = found();
  return functions;
}

std::string cusparse_unavailable_because() {
  return library() ? ""
                   : formatted(
                         "libcusparse.so.{} was not found: install the CUDA Toolkit's library cusparse, or put it on "
                         "LD_LIBRARY_PATH",
                         CUSPARSE_VER_MAJOR);
}

}  // namespace seidel::drivers
