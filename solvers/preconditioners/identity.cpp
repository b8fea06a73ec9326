// The entry `none`.
#include <seidel/solvers/preconditioners/identity.hpp>

#include <seidel/kernels/distributed/matrix.hpp>
#include <seidel/solvers/preconditioners/make.hpp>

namespace seidel {

constinit const PreconditionerKind PreconditionerKind::none = {
    .name = "none",
    .help = "no preconditioner",
    .memory = [](const SystemSize&, const MethodChoice&) { return std::vector<MemoryPart>(); },
    .make = preconditioners_detail::makes(
        []<Backend B>(const B&, const auto&, const MethodChoice&) { return made_of<B>(IdentityPreconditioner{}); }),
    .make_distributed = preconditioners_detail::makes_distributed(
        []<class Offset, Backend B>(const DistributedMatrix<Offset, B>&, const NearNullVectors&, const MethodChoice&) {
          return made_of<Distributed<B>>(IdentityPreconditioner{});
        })};

}  // namespace seidel
