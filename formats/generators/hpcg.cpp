// The matrix of the HPCG benchmark.
// Source  Dongarra, Heroux, Luszczek, High-performance conjugate-gradient benchmark,
//         Int. J. High Perform. Comput. Appl.
//         30(1), 2016.
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/generators/list.hpp>

namespace seidel::generators {

constinit const Generator hpcg{
    .name = "hpcg",
    .grammar = "hpcg:N or hpcg:NXxNYxNZ",
    .example = "hpcg:104",
    .meaning = "27-point stencil of the HPCG benchmark: 26 on the diagonal, -1 beside it; symmetric positive definite",
    .stencil = [](const Spec& spec) {
      spec.require_arguments(1, 1);
      Stencil stencil{spec.box(0, 3, 3), {}};
      for (int dz : {-1, 0, 1})
        for (int dy : {-1, 0, 1})
          for (int dx : {-1, 0, 1}) stencil.entries.push_back({dx, dy, dz, dx || dy || dz ? -1.0 : 26.0});
      return stencil;
    }};

}  // namespace seidel::generators
