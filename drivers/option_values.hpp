// Words of the command line become values; those that cannot are refused.
#pragma once
#include <algorithm>
#include <charconv>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>

#include <seidel/drivers/options.hpp>
#include <seidel/drivers/report/text.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

inline std::string did_you_mean(const std::string& word, const std::vector<std::string>& names) {
  const std::string near = nearest(word, names);
  return near.empty() ? "" : formatted(" (did you mean {}?)", near);
}

inline void require_one_of(const std::string& option, const std::string& value,
                           const std::vector<std::string>& allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end()) return;
  throw UsageError(
      formatted("{}: found '{}'{}, expected one of {}", option, value, did_you_mean(value, allowed), joined(allowed)));
}

/// Of an option that is auto or none.
inline bool is_auto(const std::string& option, const std::string& value) {
  require_one_of(option, lower_case(value), {"auto", "none"});
  return lower_case(value) == "auto";
}

/// Refuses the name of a matrix or vector to be written that promises another format than Matrix Market, plain or gzip.
inline void require_matrix_market(const std::string& option, const std::string& file) {
  for (const char* ending : {".npy", ".npz", ".rb", ".rsa", ".rua", ".mat", ".h5", ".hdf5", ".csv", ".json", ".pkl",
                             ".bz2", ".xz", ".zst", ".lz4", ".zip", ".7z", ".tar", ".tgz"})
    if (lower_case(file).ends_with(ending))
      throw UsageError(formatted("{}: found '{}', expected a .mtx or .mtx.gz file: it is written as Matrix Market text",
                                 option, file));
}

/// What a number must be, in words and as a test.
template <class Number>
struct Range {
  std::string expected;
  std::function<bool(Number)> fits;
};

inline const Range<double> between_0_and_1{"a number above 0 and below 1", [](double v) { return v > 0 && v < 1; }};

/// Whole numbers from `least` to `most`, or up.
template <class Number>
Range<Number> whole(Number least, std::type_identity_t<std::optional<Number>> most = {}) {
  return {formatted("a whole number from {} {}", least, most ? formatted("to {}", *most) : std::string("up")),
          [=](Number v) { return v >= least && (!most || v <= *most); }};
}

/// The whole text as a number in `range`.
template <class Number>
Number number(const std::string& option, const std::string& text, const Range<Number>& range) {
  Number value{};
  const char* first = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(first, text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !range.fits(value))
    throw UsageError(formatted("{}: found '{}', expected {}", option, text, range.expected));
  return value;
}

/// Sizes as they are typed, 2x3 or 1024x1024x64: as many whole numbers with an x between them as there is room for. Whether the text is that.
inline bool read_extents(std::string_view text, std::span<std::int64_t> extents) {
  const char *at = text.data(), *const end = at + text.size();
  for (std::int64_t& extent : extents) {
    const auto [rest, error] = std::from_chars(at, end, extent);
    const bool is_last = &extent == &extents.back();
    if (error != std::errc() || (is_last ? rest != end : rest == end || *rest != 'x')) return false;
    at = is_last ? rest : rest + 1;
  }
  return true;
}

/// The option's value as one of `values`, by their names; nothing for "auto".
template <class Enum>
std::optional<Enum> one_of(const std::string& option, const std::string& text, std::initializer_list<Enum> values) {
  std::vector<std::string> names = {"auto"};
  for (const Enum value : values) {
    if (to_string(value) == lower_case(text)) return value;
    names.emplace_back(to_string(value));
  }
  require_one_of(option, lower_case(text), names);
  return {};
}

/// Names of a table, behind "auto".
std::string names_of(const auto& table) {
  std::string names = "auto";
  for (const auto& entry : table) names += ", " + std::string(entry.get().name);
  return names;
}
/// What the names of a table mean, a line for each.
std::string meanings_of(const auto& table) {
  std::string meanings;
  for (const auto& entry : table) meanings += formatted("\n  {:<10} {}", entry.get().name, entry.get().help);
  return meanings;
}
/// The entry of that name; nothing for "auto". `others` are allowed, too.
template <class Table, class Entry = std::remove_const_t<typename std::ranges::range_value_t<Table>::type>>
std::optional<Entry> entry_of(const std::string& option, const std::string& text, const Table& table,
                              const std::vector<std::string>& others = {}) {
  std::vector<std::string> names = {"auto"};
  for (const Entry& entry : table) {
    if (entry.name == lower_case(text)) return entry;
    names.emplace_back(entry.name);
  }
  names.insert(names.end(), others.begin(), others.end());
  require_one_of(option, lower_case(text), names);
  return {};
}

}  // namespace seidel::drivers
