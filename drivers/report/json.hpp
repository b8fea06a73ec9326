// JSON as docs/json-schema.md describes it: keys in the order they are set, no NaN and no Infinity (they become null).
#pragma once
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seidel::drivers {

/// One value of a JSON document that is written. nlohmann/json is compiled in json.cpp alone.
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
  Json(const std::vector<std::string>& texts);
  template <class T>
  Json(const std::optional<T>& value) : Json(value ? Json(*value) : Json(nullptr)) {}
  static Json array();

  Json(Json&&) noexcept;
  Json& operator=(Json&&) noexcept;
  ~Json();

  Json& set(std::string_view key, Json value) &;  // objects
  Json&& set(std::string_view key, Json value) && { return std::move(set(key, std::move(value))); }
  /// null unless it is known.
  Json& set_if(bool known, std::string_view key, Json value) { return set(key, known ? std::move(value) : nullptr); }
  Json& push(Json value);  // arrays
  /// Indented by two blanks, with a line end. Bytes that are not UTF-8 (file names may hold them) are replaced.
  std::string text() const;

 private:
  struct Value;
  std::unique_ptr<Value> value_;
};

/// What `of` makes of each entry.
Json json_list(const auto& entries, const auto& of) {
  Json list = Json::array();
  for (const auto& entry : entries) list.push(of(entry));
  return list;
}

/// A document of this schema, made by this command line.
Json json_document(std::string_view schema, const std::string& command_line);

/// One value of a document that was read. Errors  InputError, saying what was found, where it is not what is asked for.
class JsonValue {
 public:
  bool is_array() const;
  bool is_string() const;
  bool contains(std::string_view key) const;  // false of what is no object
  JsonValue operator[](std::string_view key) const;
  std::vector<std::string> keys() const;
  std::vector<JsonValue> elements() const;
  std::string string() const;
  double number() const;
  /// A string as it is, null as "none", all else as it is written.
  std::string text() const;

 private:
  friend std::optional<JsonValue> read_json(std::istream& from);
  explicit JsonValue(std::shared_ptr<const void> json) : json_(std::move(json)) {}
  std::shared_ptr<const void> json_;  // the library's, part of the document
};

/// Nothing if it is not JSON.
std::optional<JsonValue> read_json(std::istream& from);

}  // namespace seidel::drivers
