// JSON as nlohmann/json writes and reads it.
#include <nlohmann/json.hpp>

#include <istream>

#include <seidel/config.hpp>
#include <seidel/drivers/report/json.hpp>
#include <seidel/formats/runtime/errors.hpp>

namespace seidel::drivers {

struct Json::Value {
  nlohmann::ordered_json json;
};

Json::Json() : value_(new Value{nlohmann::ordered_json::object()}) {}
Json::Json(std::nullptr_t) : value_(new Value{nlohmann::ordered_json(nullptr)}) {}
Json::Json(bool value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(int value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(std::int64_t value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(double value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(std::string_view value) : value_(new Value{nlohmann::ordered_json(std::string(value))}) {}
Json::Json(const std::vector<double>& values) : value_(new Value{values}) {}
Json::Json(const std::vector<std::string>& texts) : value_(new Value{texts}) {}
Json Json::array() {
  Json json;
  json.value_->json = nlohmann::ordered_json::array();
  return json;
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json& Json::set(std::string_view key, Json value) & {
  value_->json[std::string(key)] = std::move(value.value_->json);
  return *this;
}
Json& Json::push(Json value) {
  value_->json.push_back(std::move(value.value_->json));
  return *this;
}
std::string Json::text() const {
  return value_->json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Json json_document(std::string_view schema, const std::string& command_line) {
  return Json().set("schema", schema).set("version", version).set("command", command_line);
}

namespace {
using Read = nlohmann::ordered_json;
const Read& of(const std::shared_ptr<const void>& json) { return *static_cast<const Read*>(json.get()); }
}  // namespace

std::optional<JsonValue> read_json(std::istream& from) {
  auto json = std::make_shared<const Read>(Read::parse(from, nullptr, false));
  return json->is_discarded() ? std::nullopt : std::optional(JsonValue(std::move(json)));
}

bool JsonValue::is_array() const { return of(json_).is_array(); }
bool JsonValue::is_string() const { return of(json_).is_string(); }
bool JsonValue::contains(std::string_view key) const { return of(json_).contains(key); }
JsonValue JsonValue::operator[](std::string_view key) const {
  const auto found = of(json_).find(key);
  if (found == of(json_).end()) throw InputError("no " + std::string(key));
  return JsonValue({json_, &*found});
}
std::vector<std::string> JsonValue::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : of(json_).items()) keys.push_back(key);
  return keys;
}
std::vector<JsonValue> JsonValue::elements() const {
  if (!is_array()) throw InputError(text() + " for a list");
  std::vector<JsonValue> elements;
  for (const Read& element : of(json_)) elements.push_back(JsonValue({json_, &element}));
  return elements;
}
std::string JsonValue::string() const {
  if (!is_string()) throw InputError(text() + " for a text");
  return of(json_).get<std::string>();
}
double JsonValue::number() const {
  if (!of(json_).is_number()) throw InputError(text() + " for a number");
  return of(json_).get<double>();
}
std::string JsonValue::text() const {
  return of(json_).is_null() ? "none" : is_string() ? of(json_).get<std::string>() : of(json_).dump();
}

}  // namespace seidel::drivers
