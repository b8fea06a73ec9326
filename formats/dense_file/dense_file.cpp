// Dense matrices in a plain binary file.
#include <seidel/formats/dense_file/dense_file.hpp>

#include <bit>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <vector>

#include <seidel/formats/generators/hash.hpp>
#include <seidel/formats/matrix_market/output_file.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel {

static_assert(std::endian::native == std::endian::little,
              "the file is little-endian: elements need to be swapped here");

namespace {

constexpr char kind[] = "seidel dense fp64 row-major\n";
constexpr std::size_t shape_at = 48;

std::string size_text(DenseShape shape) { return std::to_string(shape.nrows) + " x " + std::to_string(shape.ncols); }

}  // namespace

std::array<char, dense_head_bytes> dense_head(DenseShape shape) {
  std::array<char, dense_head_bytes> head{};
  std::memcpy(head.data(), kind, sizeof kind - 1);
  std::memcpy(head.data() + shape_at, &shape.nrows, 8);
  std::memcpy(head.data() + shape_at + 8, &shape.ncols, 8);
  return head;
}

DenseShape read_dense_head(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be opened: " + std::strerror(errno));
  std::array<char, dense_head_bytes> head{};
  file.read(head.data(), dense_head_bytes);
  if (file.gcount() != dense_head_bytes || std::memcmp(head.data(), kind, sizeof kind - 1) != 0)
    throw InputError(path + ": found no dense matrix, expected a file that begins with '" +
                     std::string(kind, sizeof kind - 2) + "'\n  seidel generate dense:MxN -o FILE writes one");
  DenseShape shape;
  std::memcpy(&shape.nrows, head.data() + shape_at, 8);
  std::memcpy(&shape.ncols, head.data() + shape_at + 8, 8);
  constexpr std::int64_t most = std::int64_t(1) << 31;
  if (shape.nrows < 0 || shape.ncols < 0 || shape.nrows >= most || shape.ncols >= most)
    throw InputError(path + ": found the shape " + size_text(shape) + ", expected sizes from 0 to 2147483647");
  std::error_code unknown;
  const auto found = std::int64_t(std::filesystem::file_size(path, unknown));
  const std::int64_t expected = dense_head_bytes + 8 * shape.nrows * shape.ncols;
  if (found != expected)
    throw InputError(path + ": found " + std::to_string(found) + " bytes, expected " + std::to_string(expected) +
                     " for " + size_text(shape) + " elements; the file was cut off or is another's");
  return shape;
}

void write_random_dense(const std::string& path, DenseShape shape, std::uint64_t seed) {
  mm::OutputFile file(path);
  const auto head = dense_head(shape);
  file.write({head.data(), head.size()});
  const generators::Stream bits(seed, generators::Draw::values, 0);
  const std::int64_t all = shape.nrows * shape.ncols, at_once = 1 << 17;
  std::vector<double> elements;
  for (std::int64_t first = 0; first < all; first += at_once) {
    elements.resize(std::size_t(std::min(at_once, all - first)));
    for (std::size_t e = 0; e < elements.size(); ++e)
      elements[e] = generators::signed_uniform(bits(std::uint64_t(first) + e));
    file.write({reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(double)});
  }
  file.finish();
}

}  // namespace seidel
