// Matrices of stencils on boxes, made in device memory: a thread per row counts its entries, a thread per entry writes it.
#include <bit>

#include <seidel/formats/convert/refusals.hpp>
#include <seidel/formats/generators/lattice.hpp>
#include <seidel/formats/runtime/cuda_primitives.cuh>

namespace seidel::generators {

namespace {

/// Which entries of the stencil, as bits, the row of a node has.
struct EntriesInside {
  unsigned nx, ny, nz;
  unsigned all;
  unsigned outside[6] = {};  // of nodes with x = 0, x = nx - 1, y = 0, y = ny - 1, z = 0, z = nz - 1

  explicit EntriesInside(const Stencil& stencil)
      : nx(unsigned(stencil.box.nx)),
        ny(unsigned(stencil.box.ny)),
        nz(unsigned(stencil.box.nz)),
        all((1u << stencil.entries.size()) - 1) {
    for (unsigned e = 0; e < stencil.entries.size(); ++e) {
      const StencilEntry& entry = stencil.entries[e];
      int side = 0;
      for (const int step : {entry.dx, entry.dy, entry.dz})
        for (const int outwards : {-1, 1}) outside[side++] |= unsigned(step == outwards) << e;
    }
  }
  __device__ unsigned operator()(unsigned row) const {
    const unsigned x = row % nx, line = row / nx, y = line % ny, z = line / ny;
    unsigned lost = 0;
    if (x == 0) lost |= outside[0];
    if (x + 1 == nx) lost |= outside[1];
    if (y == 0) lost |= outside[2];
    if (y + 1 == ny) lost |= outside[3];
    if (z == 0) lost |= outside[4];
    if (z + 1 == nz) lost |= outside[5];
    return all & ~lost;
  }
};

}  // namespace

template <class Offset>
Csr<double, Offset, Device> lattice(const Cuda& on, const Spec& spec, const Stencil& stencil) {
  const Box& box = stencil.box;
  const std::int64_t nrows = box.size(), nnz = stencil.nnz();
  spec.tell_size(nrows, nrows, nnz);
  convert_detail::require_offsets<Offset>(spec.text().c_str(), nnz, "take 64-bit row pointers");
  std::vector<std::int64_t> steps;  // from a node's number to those of its neighbours
  std::vector<double> coefficients;
  for (const StencilEntry& entry : stencil.entries) {
    steps.push_back((entry.dz * box.ny + entry.dy) * box.nx + entry.dx);
    coefficients.push_back(entry.value);
  }
  const Array<std::int64_t, Device> step(on, steps);
  const Array<double, Device> coefficient(on, coefficients);
  auto A = Csr<double, Offset, Device>::uninitialised(on, Index(nrows), Index(nrows), nnz);
  const EntriesInside inside(stencil);
  cuda::for_each(on, nrows + 1, "counting entries", [=, row_ptr = A.row_ptr.data()] __device__(std::int64_t row) {
    row_ptr[row] = row < nrows ? __popc(inside(unsigned(row))) : 0;
  });
  cuda::exclusive_sum(on, A.row_ptr.span());
  const unsigned size = unsigned(steps.size());
  const int lanes_log = std::countr_zero(std::bit_ceil(size));  // of a row: neighbouring threads write side by side
  cuda::for_each(on, nrows << lanes_log, "generating a matrix",
                 [=, row_ptr = A.row_ptr.data(), col_idx = A.col_idx.data(), values = A.values.data(),
                  step = step.data(), coefficient = coefficient.data()] __device__(std::int64_t thread) {
                   const std::int64_t row = thread >> lanes_log;
                   const unsigned e = unsigned(thread) & ((1u << lanes_log) - 1), entries = inside(unsigned(row));
                   if (e >= size || !(entries >> e & 1)) return;
                   const Offset k = row_ptr[row] + __popc(entries & ((1u << e) - 1));
                   col_idx[k] = Index(row + step[e]);
                   values[k] = coefficient[e];
                 });
  return A;
}

template Csr<double, std::int32_t, Device> lattice(const Cuda&, const Spec&, const Stencil&);
template Csr<double, std::int64_t, Device> lattice(const Cuda&, const Spec&, const Stencil&);

}  // namespace seidel::generators
