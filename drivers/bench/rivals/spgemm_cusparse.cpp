// cuSPARSE's products of sparse matrices: its algorithms, and its reuse of a structure.
#include <seidel/drivers/bench/rivals/cusparse.hpp>
#include <seidel/drivers/bench/rivals/operands.hpp>

namespace seidel::drivers {

namespace {

constexpr double one = 1, zero = 0;
constexpr auto plain = CUSPARSE_OPERATION_NON_TRANSPOSE;
using Descriptor = Owned<cusparseSpGEMMDescr_t, &CusparseFunctions::SpGEMM_destroyDescr>;
using Buffer = Array<std::byte, Device>;

/// The operands and the result as the library wants them.
struct Product {
  Cuda on;
  CusparseHandle handle;
  CusparseMatrix A, B, C;
  Descriptor descriptor;
  Csr<double, std::int32_t, Device> result;
  std::vector<Buffer> buffers;

  Product(const SparseProductTask& task, const Where& where)
      : on(*where.cuda),
        handle(cusparse_on(on)),
        A(describe(csr_of(on, *task.of.A))),
        B(describe(csr_of(on, task.of.B()))) {}

  /// Forgets the last result.
  void begin(const SparseProductTask& task) {
    buffers.clear(), result = {};
    descriptor = created<Descriptor>(cusparse().SpGEMM_createDescr);
    result.nrows = task.of.A->A.nrows, result.ncols = task.of.B().A.ncols;
    result.row_ptr = Array<std::int32_t, Device>(on, result.nrows + std::int64_t(1));
    C = describe(result.view());
  }
  /// A step asks for its memory first: step(bytes, nullptr), then step(bytes, memory).
  void step(const auto& step) {
    std::size_t size = 0;
    check(step(&size, nullptr));
    buffers.emplace_back(on, std::int64_t(size) + 1);
    check(step(&size, buffers.back().data()));
  }
  void take_result() {
    std::int64_t rows, cols, nnz;
    check(cusparse().SpMatGetSize(C.get(), &rows, &cols, &nnz));
    result.col_idx = Array<Index, Device>(on, nnz), result.values = Array<double, Device>(on, nnz);
    check(cusparse().CsrSetPointers(C.get(), result.row_ptr.data(), result.col_idx.data(), result.values.data()));
  }
  std::int64_t workspace_bytes() const {
    std::int64_t sum = 0;
    for (const Buffer& buffer : buffers) sum += buffer.size();
    return sum;
  }
};

template <cusparseSpGEMMAlg_t algorithm>
void multiply(Product& p, const SparseProductTask& task) {
  p.begin(task);
  const auto& f = cusparse();
  const auto call = [&](auto* function, auto... last) {  // the functions differ in their last arguments
    return function(p.handle.get(), plain, plain, &one, p.A.get(), p.B.get(), &zero, p.C.get(), CUDA_R_64F, algorithm,
                    p.descriptor.get(), last...);
  };
  const auto compute = [&](std::size_t* bytes, void* memory) { return call(f.SpGEMM_compute, bytes, memory); };
  p.step([&](std::size_t* bytes, void* memory) { return call(f.SpGEMM_workEstimation, bytes, memory); });
  if constexpr (algorithm == CUSPARSE_SPGEMM_ALG1) {
    p.step(compute);
  } else {                            // these say what they take in a step of its own
    constexpr float fraction = 0.2f;  // of the products at a time, as in the vendor's example
    std::size_t bytes = 0;
    p.step(
        [&](std::size_t* size, void* memory) { return call(f.SpGEMM_estimateMemory, fraction, size, memory, &bytes); });
    p.buffers.emplace_back(p.on, std::int64_t(bytes) + 1);
    check(compute(&bytes, p.buffers.back().data()));
  }
  p.take_result();
  check(call(f.SpGEMM_copy));
}

template <cusparseSpGEMMAlg_t algorithm>
Prepared whole(const SparseProductTask& task, const Where& where) {
  const auto p = std::make_shared<Product>(task, where);
  multiply<algorithm>(*p, task);  // to know what it takes
  return {.run = [p, &task] { multiply<algorithm>(*p, task); },
          .poison = [p] { p->result = {}; },  // no answer, which no judge takes
          .answer = [p] { return answer_of(p->on, p->result.view()); },
          .setup_seconds = 0,
          .workspace_bytes = p->workspace_bytes()};
}

Prepared reuse(const SparseProductTask& task, const Where& where) {
  const auto p = std::make_shared<Product>(task, where);
  constexpr auto algorithm = CUSPARSE_SPGEMM_DEFAULT;
  const auto compute = [](Product& of) {
    check(cusparse().SpGEMMreuse_compute(of.handle.get(), plain, plain, &one, of.A.get(), of.B.get(), &zero, of.C.get(),
                                         CUDA_R_64F, algorithm, of.descriptor.get()));
  };
  const double setup = seconds_to_make(p->on, [&] {
    p->begin(task);
    const auto& f = cusparse();
    const auto call = [&](auto* function, auto... last) {
      return function(p->handle.get(), plain, plain, p->A.get(), p->B.get(), p->C.get(), algorithm, p->descriptor.get(),
                      last...);
    };
    p->step([&](std::size_t* bytes, void* memory) { return call(f.SpGEMMreuse_workEstimation, bytes, memory); });
    std::size_t bytes[3] = {};
    void* memory[3] = {};
    const auto count = [&] {
      check(call(f.SpGEMMreuse_nnz, &bytes[0], memory[0], &bytes[1], memory[1], &bytes[2], memory[2]));
    };
    count();  // what it takes
    for (int i = 0; i < 3; ++i) memory[i] = p->buffers.emplace_back(p->on, std::int64_t(bytes[i]) + 1).data();
    count();
    p->take_result();
    p->step([&](std::size_t* size, void* to) { return call(f.SpGEMMreuse_copy, size, to); });
    compute(*p);
  });
  return {.run = [p, compute] { compute(*p); },
          .poison = [p] { poison(p->on, p->result.values); },
          .answer = [p] { return answer_of(p->on, p->result.view()); },
          .setup_seconds = setup,
          .workspace_bytes = p->workspace_bytes()};
}

}  // namespace

std::vector<Rival> spgemm_cusparse_rivals() {
  constexpr auto cuda = BackendName::cuda;
  return {baseline(kernels::spgemm, "csr", cuda, "cusparse-alg1",
                   "cusparseSpGEMM, ALG1; allocates result and buffers each time", whole<CUSPARSE_SPGEMM_ALG1>),
          baseline(kernels::spgemm, "csr", cuda, "cusparse-alg2",
                   "cusparseSpGEMM, ALG2; allocates result and buffers each time", whole<CUSPARSE_SPGEMM_ALG2>),
          baseline(kernels::spgemm, "csr", cuda, "cusparse-alg3",
                   "cusparseSpGEMM, ALG3, a fifth of the products at a time", whole<CUSPARSE_SPGEMM_ALG3>),
          baseline(kernels::spgemm_values, "csr", cuda, "cusparse", "cusparseSpGEMMreuse_compute", reuse)};
}

}  // namespace seidel::drivers
