// JSON as docs/json-schema.md describes it: keys in the order they are set, no NaN and no Infinity (they become null).
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace seidel::drivers {

/// One value of a JSON document. nlohmann/json, which writes it, is compiled in json.cpp; bench/compare.cpp alone reads
/// with it.
class Json {
 public:
  Json();  // an empty object
  Json(std::nullptr_t);
  Json(bool value);
  Json(int value);
  Json(std::int64_t value);
  Json(double value);
  Json(std::string_view value);
  Json(const std::string& value) : Json(std::string_view(value)) {}
  Json(const char* value) : Json(std::string_view(value)) {}
  Json(const std::vector<double>& values);
  static Json array();

  Json(Json&&) noexcept;
  Json& operator=(Json&&) noexcept;
  ~Json();

  Json& set(std::string_view key, Json value);  // objects
  Json& push(Json value);                       // arrays
  /// Indented by two blanks, with a line end. Bytes that are not UTF-8 (file names may hold them) are replaced.
  std::string text() const;

 private:
  struct Value;
  std::unique_ptr<Value> value_;
};

}  // namespace seidel::drivers
