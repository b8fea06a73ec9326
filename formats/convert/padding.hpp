// When a padded format is refused, in numbers.
#pragma once
#include <seidel/formats/convert.hpp>
#include <seidel/formats/runtime/quantity.hpp>

namespace seidel::convert_detail {

struct Padding {
  const char* where;
  const char* remedy;
  std::int64_t nrows, nnz, longest_row;
  std::int64_t places;  // for entries, padding included
  std::int64_t bytes;   // that the result takes
};

/// Throws ResourceError if the padding is above 8 places per entry, or the bytes above what is free in the memory of `on`.
template <Backend B>
void refuse_padding(const Padding& p, const B& on) {
  const auto number = [](std::int64_t n) { return std::to_string(n); };
  const std::string what = std::string(p.where) + ": " + counted(p.nrows, "row") + " of " +
                           counted(p.nnz, "entry", "entries") + ", the longest of " + number(p.longest_row) +
                           ", would take " + bytes_text(p.bytes);
  if (p.places / max_padding > p.nnz || (p.places / max_padding == p.nnz && p.places % max_padding > 0))
    throw ResourceError(what + ": found " + number(p.places / std::max<std::int64_t>(p.nnz, 1)) +
                        " places for each entry, expected at most " + number(max_padding) + "\n  " + p.remedy);
  if (const std::int64_t free = available_bytes(on); p.bytes > free)
    throw ResourceError(what + ": found " + bytes_text(free) +
                        (HostBackend<B> ? " of free memory" : " of free memory on the GPU") + "\n  " + p.remedy);
}

}  // namespace seidel::convert_detail
