// JSON as nlohmann/json writes it.
#include <nlohmann/json.hpp>

#include <cmath>

#include <seidel/drivers/report/json.hpp>

namespace seidel::drivers {

struct Json::Value {
  nlohmann::ordered_json json;
};

namespace {
nlohmann::ordered_json number(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json(nullptr);
}
}  // namespace

Json::Json() : value_(new Value{nlohmann::ordered_json::object()}) {}
Json::Json(std::nullptr_t) : value_(new Value{nlohmann::ordered_json(nullptr)}) {}
Json::Json(bool value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(int value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(std::int64_t value) : value_(new Value{nlohmann::ordered_json(value)}) {}
Json::Json(double value) : value_(new Value{number(value)}) {}
Json::Json(std::string_view value) : value_(new Value{nlohmann::ordered_json(std::string(value))}) {}
Json::Json(const std::vector<double>& values) : value_(new Value{nlohmann::ordered_json::array()}) {
  for (const double v : values) value_->json.push_back(number(v));
}
Json Json::array() {
  Json json;
  json.value_->json = nlohmann::ordered_json::array();
  return json;
}
Json::Json(Json&&) noexcept = default;
Json& Json::operator=(Json&&) noexcept = default;
Json::~Json() = default;

Json& Json::set(std::string_view key, Json value) {
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

}  // namespace seidel::drivers
