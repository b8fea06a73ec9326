// Parses and checks the arguments of generators.
#include <seidel/formats/generators/spec.hpp>

#include <charconv>
#include <cmath>

#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::generators {

namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    if (end == text.npos) return parts;
    at = end + 1;
  }
}

/// Whether all of `text` is a T.
bool parse(std::string_view text, auto& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

Spec::Spec(std::string_view text, const Generator& generator, const Sized& sized)
    : text_(text), generator_(&generator), sized_(sized) {
  arguments_ = split(text_, ':');
  arguments_.erase(arguments_.begin());
}

void Spec::refuse(std::string_view found, const std::string& expected) const {
  throw UsageError(text_ + ": found " + (found.empty() ? "nothing" : "'" + std::string(found) + "'") + ", expected " +
                   expected + "\n  " + std::string(generator_->grammar) + ", for example " +
                   std::string(generator_->example));
}

void Spec::require_arguments(int least, int most) const {
  if (arguments() < least) refuse("", "more after '" + text_ + "'");
  if (arguments() > most) refuse(arguments_[most], "nothing after the arguments of " + std::string(generator_->name));
}

std::int64_t Spec::integer(int number, std::int64_t low, std::int64_t high) const {
  std::int64_t value = 0;
  if (!parse(arguments_[number], value) || value < low || value > high)
    refuse(arguments_[number], "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return value;
}

std::vector<std::int64_t> Spec::product(int number) const {
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : split(arguments_[number], 'x')) {
    std::int64_t size = 0;
    if (!parse(part, size) || size < 1 || size > INT32_MAX) refuse(part, "a size from 1 to 2147483647");
    sizes.push_back(size);
  }
  return sizes;
}

Box Spec::box(int number, int least, int most, std::int64_t unknowns) const {
  std::vector<std::int64_t> sides = product(number);
  if (sides.size() == 1) sides.resize(least, sides[0]);
  const int dimensions = int(sides.size());
  if (dimensions < least || dimensions > most) {
    const std::string sides_wanted =
        least == most ? std::to_string(least) : std::to_string(least) + " or " + std::to_string(most);
    refuse(arguments_[number], "one size or " + sides_wanted);
  }
  sides.resize(3, 1);
  std::int64_t rows = unknowns;
  for (const std::int64_t side : sides) rows = saturating_product(rows, side);
  if (rows > INT32_MAX) refuse(arguments_[number], "at most 2147483647 rows");
  return {dimensions, sides[0], sides[1], sides[2]};
}

std::vector<double> Spec::reals(int number) const {
  std::vector<double> values;
  for (const std::string_view part : split(arguments_[number], ',')) {
    double value = 0;
    if (!parse(part, value) || !(std::fabs(value) <= 1e100)) refuse(part, "a number of at most 1e100");
    values.push_back(value);
  }
  return values;
}

void require_room(const Spec& spec, std::int64_t nrows, std::int64_t ncols, std::int64_t nnz,
                  std::int64_t temporary_bytes) {
  if (nrows > 0 && nnz > 0) spec.tell_size(nrows, ncols, nnz);
  const std::int64_t entries = saturating_product(nnz, sizeof(Index) + sizeof(double));
  const std::int64_t bytes = saturating_sum(saturating_sum(entries, (nrows + 1) * 8), temporary_bytes);
  require_memory(bytes, spec.text(), "take a smaller one");
}

Matrix room_for(const Spec& spec, std::int64_t nrows, std::int64_t ncols, std::int64_t nnz,
                std::int64_t temporary_bytes) {
  require_room(spec, nrows, ncols, nnz, temporary_bytes);
  Matrix A = Matrix::uninitialised(OpenMP{1}, Index(nrows), Index(ncols), nnz);
  A.row_ptr[0] = 0;
  return A;
}

}  // namespace seidel::generators
