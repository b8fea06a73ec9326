// Details of methods and of preconditioners that a user may set.
#pragma once
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <seidel/formats/runtime/types.hpp>

namespace seidel {

/// One detail: a whole number from min to max, a number between them (both excluded), or one of `words`.
struct Setting {
  std::string_view key;   // "omega"
  std::string_view help;  // "omega=W    relaxation factor of symgs, 0 < W < 2 (1: none)"
  double usual = 0;       // its value unless set
  double min = 0, max = 0;
  bool whole = false;
  std::span<const std::string_view> words = {};  // the value is the place of its word in this list
};

/// The values that were set.
class Settings {
 public:
  void set(const Setting& setting, double value) {
    for (auto& [key, old] : values_)
      if (key == setting.key) return void(old = value);
    values_.emplace_back(setting.key, value);
  }
  std::optional<double> find(const Setting& setting) const {
    for (const auto& [key, value] : values_)
      if (key == setting.key) return value;
    return {};
  }
  /// What was set, or the usual value.
  double operator[](const Setting& setting) const { return find(setting).value_or(setting.usual); }
  const std::vector<std::pair<std::string_view, double>>& values() const { return values_; }
  bool usual(std::span<const Setting> of) const {
    for (const Setting& setting : of)
      if ((*this)[setting] != setting.usual) return false;
    return true;
  }

 private:
  std::vector<std::pair<std::string_view, double>> values_;  // by keys, which outlive them
};

}  // namespace seidel
