// RAII for the vendor's library: a handle on a stream, and descriptors of our matrices and vectors.
#pragma once
#include <memory>
#include <string>
#include <type_traits>

#include <seidel/drivers/bench/rivals/cusparse_library.hpp>
#include <seidel/formats/csr.hpp>
#include <seidel/formats/runtime/backend.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

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
