// The matrix of the HPCG benchmark.
// Source  Dongarra, Heroux, Luszczek, High-performance conjugate-gradient benchmark,
//         Int. J. High Perform. Comput. Appl.
//         30(1), 2016.
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

constinit const Generator hpcg{
    "hpcg", "hpcg:N or hpcg:NXxNYxNZ", "hpcg:104",
    "27-point stencil of the HPCG benchmark: 26 on the diagonal, -1 beside it; symmetric positive definite",
    [](const OpenMP& on, const Spec& spec, std::uint64_t) {
      spec.require_arguments(1, 1);
      std::vector<StencilEntry> stencil;
      for (int dz : {-1, 0, 1})
        for (int dy : {-1, 0, 1})
          for (int dx : {-1, 0, 1}) stencil.push_back({dx, dy, dz, dx || dy || dz ? -1.0 : 26.0});
      return lattice(on, spec, spec.box(0, 3, 3), stencil);
    }};

}  // namespace seidel::generators
