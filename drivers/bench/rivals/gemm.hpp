// What the rivals of dense products share.
#pragma once
#include <seidel/drivers/bench/rivals/operands.hpp>
#include <seidel/formats/instances.hpp>
#include <seidel/formats/runtime/parallel.hpp>

namespace seidel::drivers {

template <class Real>
const Kernel& gemm_kernel() {
  return std::is_same_v<Real, double> ? kernels::gemm : kernels::gemm_fp32;
}

template <class Real, class Space>
struct DenseFactor {
  Array<Real, Space> b;
  std::int64_t m, n, k;
};

/// multiply(on, A, B, C) on column-major views in the memory of B.
template <class B, class Real, class Multiply>
Prepared dense_product(const DenseTask<Real>& task, const Where& where, Multiply multiply) {
  using Space = SpaceOf<B>;
  using On = Operands<B, DenseFactor<Real, Space>, Real, Real>;
  DenseFactor<Real, Space> factor{copied_to<Space>(back_end<B>(where), task.b.span()), task.m, task.n, task.k};
  return prepared(std::make_shared<On>(task.a, where, task.m * task.n, std::move(factor)), 0, 0, [multiply](On& o) {
    const auto& f = o.kept;
    constexpr Layout columns = Layout::column_major;
    multiply(o.on, DenseView<const Real, Space>{f.m, f.k, f.m, columns, o.x.data()},
             DenseView<const Real, Space>{f.k, f.n, f.k, columns, f.b.data()},
             DenseView<Real, Space>{f.m, f.n, f.m, columns, o.y.data()});
  });
}

}  // namespace seidel::drivers
