#include "planning/sequences/published_costs.hpp"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/units.hpp"
#include "planning/sequences/cost_fields.hpp"

namespace overlaptune {
namespace {

constexpr int kMostCount = 65'536;  // heads, GPUs of a node
constexpr double kUsPerMs = 1e3;
constexpr double kMebibyte = 1 << 20;
constexpr double kGibibyte = 1 << 30;

double at_least_zero(const JsonReader& object, std::string_view field) {
  return object[field].number(0, kLargestNumber);
}

/// The parameter count for the least context length that is not below `max_length`, else for the
/// longest: {"4k": 6.51, "192k": 7.12}, in 10^9. May also be one number.
double parameters(const JsonReader& model, std::int64_t max_length,
                  std::vector<std::string>& notes) {
  const JsonReader own = model["parameters"];
  if (!own.is_object()) return positive(own);
  std::map<std::int64_t, std::pair<std::string, double>> counts;
  for (const std::string& name : own.field_names()) {
    const auto length = parse_size(name);
    if (!length) own.fail(length.error().message);
    const auto [same, is_new] = counts.emplace(*length, std::pair(name, positive(own[name])));
    if (!is_new) {
      own.fail(fmt::format("'{}' and '{}' are one length: expected each once", same->second.first,
                           name));
    }
  }
  if (counts.empty()) own.fail("expected at least one parameter count");
  const auto fitting = counts.lower_bound(max_length);
  if (fitting != counts.end()) return fitting->second.second;
  const auto& [name, longest] = counts.rbegin()->second;
  notes.push_back(
      fmt::format("parameters of length {}, because the file has none for lengths of up to {}",
                  name, max_length));
  return longest;
}

std::string model_name(const JsonReader& models, const std::string& wanted) {
  const std::vector<std::string> names = models.field_names();
  for (const std::string& name : names) {
    if (name == wanted || (wanted.empty() && names.size() == 1)) return name;
  }
  models.fail(fmt::format("--model '{}': expected one of {}", wanted, fmt::join(names, ", ")));
}

PublishedCosts read(const JsonReader& root, const CostRequest& request) {
  const JsonReader models = root["models"];
  const std::string name = model_name(models, request.model);
  const JsonReader model = models[name];
  PublishedCosts made;
  Coefficients& costs = made.costs;
  costs.quadratic_us = at_least_zero(model, "a1") * kUsPerMs;
  costs.linear_us = positive(model["a2"]) * kUsPerMs;
  costs.bytes_of_token = positive(model["memory_per_token"]) * kMebibyte;
  const double fixed_us = at_least_zero(model, "b1") * kUsPerMs;
  const double exchange_fixed_us = model.has("b2") ? at_least_zero(model, "b2") * kUsPerMs : 0;
  const double hidden = model["hidden"].small(1);
  const double layers = model["layers"].small(1);
  costs.bytes_of_state = parameters(model, request.max_length, made.notes) * 1e9 *
                         kStateBytesPerParameter / request.gpus;
  costs.degrees.push_back({.degree = 1, .fixed_us = fixed_us});
  const JsonReader bandwidth = root["bandwidth"];
  static_cast<void>(degrees_of(bandwidth));
  for (int degree = 2; degree <= request.gpus; degree *= 2) {
    // Four tensors forward and four backward in every layer, two bytes an element.
    const double bytes_per_token = 8 * layers * hidden * 2 / degree;
    const double bytes_per_us = positive(bandwidth[std::to_string(degree)]) * 1e3;
    costs.degrees.push_back({.degree = degree,
                             .exchange_us_per_token = bytes_per_token / bytes_per_us,
                             .fixed_us = fixed_us + exchange_fixed_us});
  }
  if (model.has("heads")) made.heads = model["heads"].small(1, kMostCount);
  if (root.has("gpus_per_node")) made.per_node = root["gpus_per_node"].small(1, kMostCount);
  if (root.has("memory_budget_gb")) {
    made.memory_bytes = positive(root["memory_budget_gb"]) * kGibibyte;
  }
  return made;
}

}  // namespace

Expected<PublishedCosts> parse_published_costs(std::string_view text, std::string_view origin,
                                               const CostRequest& request) {
  return read_costs(text, origin, [&](const JsonReader& root) { return read(root, request); });
}

}  // namespace overlaptune
