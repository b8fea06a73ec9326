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

enum class WrittenAs { matrix_market, dense };
/// Refuses the name of a file to be written that promises another format than that.
inline void require_ending(const std::string& option, const std::string& file, WrittenAs as) {
  std::vector<const char*> others = {".npy", ".npz", ".rb", ".rsa", ".rua", ".mat", ".h5", ".hdf5", ".csv", ".json",
                                     ".pkl", ".bz2", ".xz", ".zst", ".lz4", ".zip", ".7z", ".tar",  ".tgz"};
  if (as == WrittenAs::dense) others.insert(others.end(), {".mtx", ".gz"});
  for (const char* ending : others)
    if (lower_case(file).ends_with(ending))
      throw UsageError(formatted("{}: found '{}', expected {}", option, file,
                                 as == WrittenAs::dense
                                     ? "a name such as A.dense: it is written in binary"
                                     : "a .mtx or .mtx.gz file: it is written as Matrix Market text"));
}

/// What a number must be, in words and as a test.
template <class Number>
struct Range {
  std::string expected;
  std::function<bool(Number)> fits;
};

inline const Range<double> between_0_and_1{"a number above 0 and below 1", [](double v) { return v > 0 && v < 1; }};

/// Whole numbers from `least` to `most`.
template <class Number>
Range<Number> whole(Number least, std::type_identity_t<Number> most = std::numeric_limits<Number>::max()) {
  return {formatted("a whole number from {} to {}", least, most), [=](Number v) { return v >= least && v <= most; }};
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

/// The keys of --set: those of methods and preconditioners, each once, then the program's own.
std::vector<std::string> names_of_details();
bool is_detail_of_methods(const std::string& key);
bool is_detail_of_preconditioners(const std::string& key);
bool has_detail(std::span<const Setting> settings, const std::string& key);
/// A line for each: "\n  omega=W    relaxation factor ...".
std::string meanings_of_details();
/// The names of --precond: those of the table, and gmg, which is amg on a lattice.
std::string names_of_preconditioners();
std::string meanings_of_preconditioners();
bool is_geometric(const std::string& preconditioner);
/// Takes --precond and each --set, after the method is known. Errors  UsageError, also for a detail of methods, or of
/// preconditioners, that the one which was asked for by name does not have.
void request_preconditioner(SolveOptions& options, const std::string& name, std::vector<std::string> pairs);

}  // namespace seidel::drivers
