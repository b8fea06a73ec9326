// CSR to BSR and back, in host memory.
#include <seidel/formats/runtime/shares.hpp>

namespace seidel::convert_detail {

namespace {

constexpr int lanes = 1;     // threads that share a row
constexpr int per_row = 64;  // entries, likely: what a row costs

void for_each(const OpenMP& on, std::int64_t n, const char*, const auto& body) { for_each_index(on, n, per_row, body); }

std::int64_t first_where(const OpenMP& on, std::int64_t n, const auto& is_bad) {
  return seidel::first_where(on, n, per_row, is_bad);
}

}  // namespace

}  // namespace seidel::convert_detail

#include <seidel/formats/convert/blocks.hpp>
#include <seidel/formats/convert/instances.hpp>

template void seidel::convert_detail::instances_of_blocks<2, 3, 4, 6>(const seidel::OpenMP&);
