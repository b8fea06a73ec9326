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

constexpr std::size_t shape_at = 48;

std::string kind(Precision precision) { return "seidel dense " + std::string(to_string(precision)) + " row-major\n"; }

std::string size_text(DenseShape shape) { return std::to_string(shape.nrows) + " x " + std::to_string(shape.ncols); }

template <class Real>
void write_random_elements(mm::OutputFile& file, DenseShape shape, std::uint64_t seed) {
  const generators::Stream bits(seed, generators::Draw::values, 0);
  const std::int64_t all = shape.nrows * shape.ncols, at_once = 1 << 17;
  std::vector<Real> elements;
  for (std::int64_t first = 0; first < all; first += at_once) {
    elements.resize(std::size_t(std::min(at_once, all - first)));
    for (std::size_t e = 0; e < elements.size(); ++e)
      elements[e] = Real(generators::signed_uniform(bits(std::uint64_t(first) + e)));
    file.write({reinterpret_cast<const char*>(elements.data()), elements.size() * sizeof(Real)});
  }
}

}  // namespace

std::array<char, DenseHead::bytes> DenseHead::encoded() const {
  std::array<char, bytes> head{};
  const std::string text = kind(precision);
  std::memcpy(head.data(), text.data(), text.size());
  std::memcpy(head.data() + shape_at, &shape.nrows, 8);
  std::memcpy(head.data() + shape_at + 8, &shape.ncols, 8);
  return head;
}

DenseHead read_dense_head(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw InputError(path + ": cannot be opened: " + std::strerror(errno));
  std::array<char, DenseHead::bytes> bytes{};
  file.read(bytes.data(), DenseHead::bytes);
  const std::string_view text(bytes.data(), bytes.size());
  DenseHead head;
  if (text.starts_with(kind(Precision::fp32)))
    head.precision = Precision::fp32;
  else if (!text.starts_with(kind(Precision::fp64)))
    throw InputError(path +
                     ": found no dense matrix, expected a file that begins with 'seidel dense fp64 row-major' or "
                     "'... fp32 ...'\n  seidel generate dense:MxN -o FILE writes one");
  DenseShape& shape = head.shape;
  std::memcpy(&shape.nrows, bytes.data() + shape_at, 8);
  std::memcpy(&shape.ncols, bytes.data() + shape_at + 8, 8);
  constexpr std::int64_t most = std::int64_t(1) << 31;
  if (shape.nrows < 0 || shape.ncols < 0 || shape.nrows >= most || shape.ncols >= most)
    throw InputError(path + ": found the shape " + size_text(shape) + ", expected sizes from 0 to 2147483647");
  std::error_code unknown;
  const auto found = std::int64_t(std::filesystem::file_size(path, unknown));
  if (found != head.file_bytes())
    throw InputError(path + ": found " + std::to_string(found) + " bytes, expected " +
                     std::to_string(head.file_bytes()) + " for " + size_text(shape) +
                     " elements; the file was cut off or is another's");
  return head;
}

void write_random_dense(const std::string& path, const DenseHead& head, std::uint64_t seed) {
  mm::OutputFile file(path);
  const auto bytes = head.encoded();
  file.write({bytes.data(), bytes.size()});
  if (head.precision == Precision::fp64)
    write_random_elements<double>(file, head.shape, seed);
  else
    write_random_elements<float>(file, head.shape, seed);
  file.finish();
}

}  // namespace seidel
