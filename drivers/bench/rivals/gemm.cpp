// Dense products: seidel's, the three loops, and blocks of columns as the study that this grew out of had them.
#include <seidel/drivers/bench/rivals/gemm.hpp>

#include <seidel/kernels/gemm/gemm.hpp>

namespace seidel::drivers {

namespace {

template <class Real>
using In = DenseView<const Real, Host>;
template <class Real>
using Out = DenseView<Real, Host>;

template <class B, TermOrder order, class Real>
Prepared ours(const DenseTask<Real>& task, const Where& where) {
  return dense_product<B>(task, where, [](const auto& on, const auto& A, const auto& B_, const auto& C) {
    gemm(on, 1, A, B_, 0, C, order);
  });
}

/// Row by row, as the definition says it.
template <class Real>
Prepared naive(const DenseTask<Real>& task, const Where& where) {
  return dense_product<OpenMP>(task, where, [](OpenMP, const In<Real>& A, const In<Real>& B, const Out<Real>& C) {
    for (std::int64_t i = 0; i < C.nrows; ++i)
      for (std::int64_t j = 0; j < C.ncols; ++j) {
        Real sum = 0;
        for (std::int64_t k = 0; k < A.ncols; ++k) sum += A.data[k * A.nrows + i] * B.data[j * B.nrows + k];
        C.data[j * C.nrows + i] = sum;
      }
  });
}

/// Rows and terms that a block of A holds: 128 kB of doubles, so that it stays in the second level of the cache.
constexpr std::int64_t block_rows = 256, block_terms = 64;

/// C += A B by columns of C, for `rows` rows and `terms` terms of A; four columns at once read each element of A once.
template <class Real>
void add_block(const Real* a, std::int64_t leading_a, std::int64_t rows, std::int64_t terms, const Real* b,
               std::int64_t leading_b, Real* c, std::int64_t leading_c, std::int64_t columns) {
  with_simd([&] {
    std::int64_t j = 0;
    for (; j + 4 <= columns; j += 4)
      for (std::int64_t k = 0; k < terms; ++k) {
        const Real* const column = a + k * leading_a;
        const Real b0 = b[j * leading_b + k], b1 = b[(j + 1) * leading_b + k], b2 = b[(j + 2) * leading_b + k],
                   b3 = b[(j + 3) * leading_b + k];
        Real *const c0 = c + j * leading_c, *const c1 = c0 + leading_c, *const c2 = c1 + leading_c,
                    *const c3 = c2 + leading_c;
#pragma omp simd
        for (std::int64_t i = 0; i < rows; ++i) {
          const Real x = column[i];
          c0[i] = std::fma(x, b0, c0[i]), c1[i] = std::fma(x, b1, c1[i]);
          c2[i] = std::fma(x, b2, c2[i]), c3[i] = std::fma(x, b3, c3[i]);
        }
      }
    for (; j < columns; ++j)
      for (std::int64_t k = 0; k < terms; ++k) {
        const Real factor = b[j * leading_b + k];
#pragma omp simd
        for (std::int64_t i = 0; i < rows; ++i)
          c[j * leading_c + i] = std::fma(a[k * leading_a + i], factor, c[j * leading_c + i]);
      }
  });
}

enum class Block { in_place, packed };

/// Five loops: threads take columns; blocks of A are read where they lie, or from a copy without gaps. With leading
/// dimensions that are powers of two the columns of a block where it lies fall into the same places of the cache.
template <Block how, class Real>
Prepared by_columns(const DenseTask<Real>& task, const Where& where) {
  return dense_product<OpenMP>(
      task, where, [](const OpenMP& on, const In<Real>& A, const In<Real>& B, const Out<Real>& C) {
        parallel_parts(on, [&](int part, int nparts) {
          const Range mine = even_share(C.ncols, part, nparts);
          std::fill(C.data + mine.first * C.nrows, C.data + mine.last * C.nrows, Real(0));
          Array<Real> copy(how == Block::packed ? block_rows * block_terms : 0);
          for (std::int64_t k = 0; k < A.ncols; k += block_terms)
            for (std::int64_t i = 0; i < C.nrows; i += block_rows) {
              const std::int64_t terms = std::min(block_terms, A.ncols - k), rows = std::min(block_rows, C.nrows - i);
              const Real* a = A.data + k * A.nrows + i;
              std::int64_t leading = A.nrows;
              if (how == Block::packed) {
                for (std::int64_t l = 0; l < terms; ++l)
                  std::copy(a + l * leading, a + l * leading + rows, copy.data() + l * rows);
                a = copy.data(), leading = rows;
              }
              add_block(a, leading, rows, terms, B.data + mine.first * B.nrows + k, B.nrows,
                        C.data + mine.first * C.nrows + i, C.nrows, mine.last - mine.first);
            }
        });
      });
}

}  // namespace

std::vector<Rival> gemm_rivals() {
  std::vector<Rival> all;
  with_each_real([&]<class Real>(Real*) {
    const Kernel* const kernel = &gemm_kernel<Real>();
    for_each_back_end([&]<class B>(BackendName on, const B*) {
      if constexpr (HostBackend<B>) {
        all.push_back(
            {kernel, "dense", on, "", Role::exact, "packed blocks, tiles in registers", ours<B, TermOrder::any, Real>});
      } else {
        all.push_back({kernel, "dense", on, "", Role::rounded,
                       "cuBLAS or, in FP32, BF16 tensor cores where they take less time; else the next one",
                       ours<B, TermOrder::any, Real>});
        all.push_back({kernel, "dense", on, "ascending", Role::exact, "tiles in shared memory, tensor cores in FP64",
                       ours<B, TermOrder::ascending, Real>});
      }
    });
    all.push_back({kernel, "dense", BackendName::serial, "naive", Role::rounded, "three loops", naive<Real>});
    all.push_back({kernel, "dense", BackendName::openmp, "columns", Role::rounded,
                   "columns in blocks, A read where it lies", by_columns<Block::in_place, Real>});
    all.push_back({kernel, "dense", BackendName::openmp, "columns-packed", Role::rounded,
                   "columns in blocks, blocks of A copied", by_columns<Block::packed, Real>});
  });
  return all;
}

}  // namespace seidel::drivers
