// CSR to BSR and back, on the device.
#include <seidel/formats/convert/cuda_device.cuh>

namespace seidel::convert_detail {

constexpr int lanes = 32;  // threads that share a row

}  // namespace seidel::convert_detail

#include <seidel/formats/convert/blocks.hpp>
#include <seidel/formats/convert/instances.hpp>

template void seidel::convert_detail::instances_of_blocks<2, 3, 4, 6>(const seidel::Cuda&);
