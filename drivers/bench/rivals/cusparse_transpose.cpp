// cuSPARSE, the baseline of transposition on a GPU.
#include <seidel/drivers/bench/rivals/cusparse.hpp>
#include <seidel/drivers/bench/rivals/transposition.hpp>

namespace seidel::drivers {

namespace {

struct Kept {
  CusparseHandle handle;
  Array<std::byte, Device> buffer;
};
using On = Transposition<Cuda, Kept>;

/// The toolkit has one algorithm left, whose order of entries is fixed.
constexpr cusparseCsr2CscAlg_t algorithm = CUSPARSE_CSR2CSC_ALG1;
static_assert(algorithm == CUSPARSE_CSR2CSC_ALG_DEFAULT);

Prepared prepare(const TransposeTask& task, const Where& where) {
  const auto o = std::make_shared<On>(task, where);
  o->kept.handle = cusparse_on(o->on);
  std::size_t size = 0;
  check(cusparse().Csr2cscEx2_bufferSize(o->kept.handle.get(), o->A.nrows, o->A.ncols, int(o->A.nnz()),
                                         o->A.values.data(), o->A.row_ptr.data(), o->A.col_idx.data(),
                                         o->T.values.data(), o->T.row_ptr.data(), o->T.col_idx.data(), CUDA_R_64F,
                                         CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, algorithm, &size));
  o->kept.buffer = Array<std::byte, Device>(o->on, std::int64_t(size) + 1);
  return prepared(o, std::int64_t(size), [](On& k) {
    check(cusparse().Csr2cscEx2(k.kept.handle.get(), k.A.nrows, k.A.ncols, int(k.A.nnz()), k.A.values.data(),
                                k.A.row_ptr.data(), k.A.col_idx.data(), k.T.values.data(), k.T.row_ptr.data(),
                                k.T.col_idx.data(), CUDA_R_64F, CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO,
                                algorithm, k.kept.buffer.data()));
  });
}

}  // namespace

std::vector<Rival> cusparse_transpose_rivals() {
  return {{&kernels::transpose, "csr", BackendName::cuda, "cusparse", Role::baseline,
           "cusparseCsr2cscEx2, ALG1, the only one of this toolkit", prepare}};
}

}  // namespace seidel::drivers
