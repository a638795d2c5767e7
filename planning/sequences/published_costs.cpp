#include "planning/sequences/published_costs.hpp"

#include <optional>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"

namespace overlaptune {
namespace {

constexpr int kMostCount = 65'536;  // heads, GPUs of a node
constexpr double kUsPerMs = 1e3;
constexpr double kMebibyte = 1 << 20;
constexpr double kGibibyte = 1 << 30;

double at_least_zero(const JsonReader& object, std::string_view field) {
  return object[field].number(0, kLargestNumber);
}

double positive(const JsonReader& object, std::string_view field) {
  const JsonReader at = object[field];
  const double value = at.number(0, kLargestNumber);
  if (value <= 0) at.fail("expected a number above 0, found " + at.shown());
  return value;
}

/// The parameter count for the least context length that is not below `max_length`, else for the
/// longest: {"4k": 6.51, "192k": 7.12}, in 10^9. May also be one number.
double parameters(const nlohmann::json& model, const JsonReader& at, std::int64_t max_length) {
  const auto& entry = model.at("parameters");
  if (!entry.is_object()) return positive(at, "parameters");
  const JsonReader own = at["parameters"];
  std::optional<std::pair<std::int64_t, double>> fitting;
  std::optional<std::pair<std::int64_t, double>> longest;
  for (const auto& [name, value] : entry.items()) {
    const auto length = parse_size(name);
    if (!length) own.fail(length.error().message);
    const double count = positive(own, name);
    if (*length >= max_length && (!fitting || *length < fitting->first)) fitting = {*length, count};
    if (!longest || *length > longest->first) longest = {*length, count};
  }
  if (!longest) own.fail("expected at least one parameter count");
  return fitting ? fitting->second : longest->second;
}

std::string model_name(const nlohmann::json& document, const JsonReader& root,
                       const std::string& wanted) {
  const JsonReader models = root["models"];
  if (!models.is_object()) models.fail("expected an object, found " + models.shown());
  std::string names;
  for (const auto& [name, value] : document.at("models").items()) {
    if (name == wanted || (wanted.empty() && document.at("models").size() == 1)) return name;
    names += (names.empty() ? "" : ", ") + name;
  }
  models.fail(fmt::format("--model '{}': expected one of {}", wanted, names));
}

PublishedCosts read(const nlohmann::json& document, std::string_view origin,
                    const CostRequest& request) {
  const JsonReader root(document, origin);
  const std::string name = model_name(document, root, request.model);
  const JsonReader models = root["models"];
  const JsonReader model = models[name];
  PublishedCosts made;
  Coefficients& costs = made.costs;
  costs.quadratic_us = at_least_zero(model, "a1") * kUsPerMs;
  costs.linear_us = positive(model, "a2") * kUsPerMs;
  costs.bytes_of_token = positive(model, "memory_per_token") * kMebibyte;
  const double fixed_us = at_least_zero(model, "b1") * kUsPerMs;
  const double exchange_fixed_us = model.has("b2") ? at_least_zero(model, "b2") * kUsPerMs : 0;
  const double hidden = positive(model, "hidden");
  const double layers = positive(model, "layers");
  static_cast<void>(model["parameters"]);
  costs.bytes_of_state = parameters(document.at("models").at(name), model, request.max_length) *
                         1e9 * kStateBytesPerParameter / request.gpus;
  costs.degrees.push_back({.degree = 1, .fixed_us = fixed_us});
  const JsonReader bandwidth = root["bandwidth"];
  for (int degree = 2; degree <= request.gpus; degree *= 2) {
    // Four tensors forward and four backward in every layer, two bytes an element.
    const double bytes_per_token = 8 * layers * hidden * 2 / degree;
    const double bytes_per_us = positive(bandwidth, std::to_string(degree)) * 1e3;
    costs.degrees.push_back({.degree = degree,
                             .exchange_us_per_token = bytes_per_token / bytes_per_us,
                             .fixed_us = fixed_us + exchange_fixed_us});
  }
  if (model.has("heads")) made.heads = static_cast<int>(model["heads"].integer(1, kMostCount));
  if (root.has("gpus_per_node")) {
    made.per_node = static_cast<int>(root["gpus_per_node"].integer(1, kMostCount));
  }
  if (root.has("memory_budget_gb"))
    made.memory_bytes = positive(root, "memory_budget_gb") * kGibibyte;
  return made;
}

}  // namespace

Expected<PublishedCosts> parse_published_costs(std::string_view text, std::string_view origin,
                                               const CostRequest& request) {
  try {
    return read(parse_python_json(text, origin), origin, request);
  } catch (const Failure& failure) {
    return bad_input(failure.what());
  }
}

}  // namespace overlaptune
