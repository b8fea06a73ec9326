// One line of entries.
#pragma once
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include <seidel/formats/matrix_market/fault.hpp>
#include <seidel/formats/matrix_market/header.hpp>
#include <seidel/formats/matrix_market/number.hpp>

namespace seidel::mm {

struct Entry {
  std::int64_t row, col;  // as in the file, from 1
  double value;
};

/// [sign] digits [. digits] [exponent], or nan, inf, infinity. An exponent is e, E, d or D and an integer; or, as
/// Fortran writes those of three digits, a signed integer without a letter. False for anything else. What is too large for
/// a double is infinite, what is too small 0.
bool parse_real(std::string_view word, double& value);

/// What a line is.
enum class Line { nothing, entry, fault };

/// Parses the line [p, end), without its '\n', in every form that the format allows. If it is an entry, its indices are
/// in range. If it is a fault, fills in *fault, if given.
Line parse_line(const Header& header, const char* p, const char* end, Entry& entry, Fault* fault);

/// Where the value of an entry begins, in its line at p. Pattern entries have none.
const char* value_of(const Header& header, const char* p);

/// Whether the number at p, which was read as 0, is another one that is too small for a double.
bool is_nonzero(const char* p, const char* end);

/// The first '\n' at or after p, or `end`.
inline const char* line_end(const char* p, const char* end) {
  const void* at = std::memchr(p, '\n', std::size_t(end - p));
  return at ? static_cast<const char*>(at) : end;
}

/// Calls visit(p, end) for the lines of the text from p on, each without its '\n'.
void for_each_line(const Source& source, const char* p, const auto& visit) {
  for (const char* end; p < source.end(); p = end + 1) {
    end = line_end(p, source.end());
    visit(p, end);
  }
}

/// Bit k: byte k at p is a '\n', for 64 bytes.
inline std::uint64_t line_ends(const char* p) {
  std::uint64_t bits = 0;
#ifdef __SSE2__
  for (int k = 0; k < 64; k += 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p + k));
    bits |= std::uint64_t(unsigned(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('\n'))))) << k;
  }
#else
  for (int k = 0; k < 64; ++k) bits |= std::uint64_t(p[k] == '\n') << k;
#endif
  return bits;
}

/// Entries, right or wrong, of the lines that begin in [first, last) of a text that ends at text_end. Runs at the
/// speed of memory if no line is blank, a comment or indented.
std::int64_t count_entries(const char* first, const char* last, const char* text_end);

/// The byte after the line end at p, or nullptr if the line continues.
[[gnu::always_inline]] inline const char* quick_end(const char* p) {
  if (*p == '\n') [[likely]]
    return p + 1;
  p = skip_blanks(p);
  p += *p == '\r';
  return *p == '\n' ? p + 1 : nullptr;
}

template <Field field>
[[gnu::always_inline]] inline const char* quick_value(const char* p, double& value) {
  if constexpr (field == Field::integer)
    return quick_integer(p, value);
  else
    return quick_real(p, value);
}

/// run.operator()<field>() with the field of a file that is not complex, whose lines real_form.cpp reads as real ones.
auto with_field(Field field, const auto& run) {
  switch (field) {
    case Field::integer: return run.template operator()<Field::integer>();
    case Field::pattern: return run.template operator()<Field::pattern>();
    case Field::real:
    case Field::complex: break;
  }
  return run.template operator()<Field::real>();
}

/// The two indices, not checked against the sizes; returns the end of the second.
[[gnu::always_inline]] inline const char* quick_indices(const char* p, Entry& entry) {
  p = quick_index(skip_blanks(p), entry.row);
  if (!p || !is_blank(*p)) return nullptr;
  return quick_index(skip_blanks(p + 1), entry.col);
}

/// An entry of a coordinate file, indices not checked; returns the byte after its line.
template <Field field>
[[gnu::always_inline]] inline const char* quick_entry(const char* p, Entry& entry) {
  p = quick_indices(p, entry);
  if (!p) return nullptr;
  if constexpr (field == Field::pattern) {
    entry.value = 1;
  } else {
    if (!is_blank(*p)) return nullptr;
    p = quick_value<field>(skip_blanks(p + 1), entry.value);
    if (!p) return nullptr;
  }
  return quick_end(p);
}

}  // namespace seidel::mm
