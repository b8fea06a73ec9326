// The entry `jacobi`.
#include <seidel/solvers/preconditioners/jacobi.hpp>

#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/kernels/distributed/rows.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

constinit const PreconditionerKind PreconditionerKind::jacobi = {
    .name = "jacobi",
    .help = "the diagonal of A",
    .needs_diagonal = true,
    .memory =
        [](const SystemSize& A, const MethodChoice&) {
          return std::vector<MemoryPart>{
              {.what = "the diagonal, for jacobi", .bytes = 8 * A.nrows, .min_bytes = 8 * A.nrows}};
        },
    .make = preconditioners_detail::makes([]<Backend B>(const B& on, const auto& A, const MethodChoice&) {
      return made_of<B>(JacobiPreconditioner(on, A.there));
    }),
    .make_distributed = preconditioners_detail::makes_distributed(
        []<class Offset, Backend B>(const DistributedMatrix<Offset, B>& A, const NearNullVectors&,
                                    const MethodChoice&) {
          Array<double, SpaceOf<B>> inverse;
          together(A.on().rows().all, [&] {
            const B& on = A.on().local();
            const auto D = own_diagonal(on, A.halo(), A.rows());
            inverse = inverse_diagonal(on, D.view());
          });
          return made_of<Distributed<B>>(JacobiPreconditioner<double, Distributed<B>>({A.on(), std::move(inverse)}));
        })};

}  // namespace seidel
