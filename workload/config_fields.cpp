#include "workload/config_fields.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/problem.hpp"

namespace overlaptune {
namespace {

/// A value as text. A list that has the same number for each layer is that number.
std::string value_of_layers(const JsonReader& value) {
  if (value.shown() != "array") return value.shown();
  const auto list = value.list([](const JsonReader& element) { return element.shown(); });
  const bool alike =
      std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>()) == list.end();
  return alike && !list.empty() ? list.front() : fmt::format("[{}]", fmt::join(list, ", "));
}

}  // namespace

ConfigFields::ConfigFields(const JsonReader& object, nlohmann::json defaults)
    : object_(object),
      default_values_(std::move(defaults)),
      defaults_(default_values_, "families.json") {}

std::optional<ConfigFields::Found> ConfigFields::find(Names names) {
  asked_.insert(names.begin(), names.end());
  for (const char* name : names) {
    if (object_.has(name)) return Found{name, object_[name]};
  }
  for (const char* name : names) {
    if (!default_values_.contains(name)) continue;
    const bool is_none = !defaults_.has(name);
    std::string text =
        fmt::format("{} = {}", name, is_none ? "none" : default_values_.at(name).dump());
    if (std::find(used_.begin(), used_.end(), text) == used_.end()) used_.push_back(text);
    if (is_none) return std::nullopt;
    return Found{name, defaults_[name]};
  }
  return std::nullopt;
}

std::optional<std::int64_t> ConfigFields::count_if_any(Names names, std::int64_t least) {
  const auto found = find(names);
  if (!found) return std::nullopt;
  if (!found->value.is_integer(least, kLargestSize)) {
    fail(fmt::format("{} = {}: expected a whole number from {} to 2^31 - 1", found->name,
                     found->value.shown(), least));
  }
  return found->value.integer(least);
}

std::int64_t ConfigFields::count(Names names) {
  const auto value = count_if_any(names);
  if (!value) fail_missing(names);
  return *value;
}

void ConfigFields::fail_missing(Names names) const {
  fail(fmt::format("{} is missing: expected a whole number from 1 to 2^31 - 1{}",
                   fmt::join(names, " or "), hint_));
}

std::vector<std::int64_t> ConfigFields::by_layer(Names names, std::int64_t layers,
                                                 std::int64_t least) {
  const auto found = find(names);
  if (!found) return {};
  const auto size = static_cast<std::size_t>(layers);
  if (found->value.is_integer(least, kLargestSize)) {
    return std::vector<std::int64_t>(size, found->value.integer(least));
  }
  std::vector<std::int64_t> list;
  if (found->value.shown() == "array") {
    list = found->value.list([&](const JsonReader& element) {
      if (!element.is_integer(least, kLargestSize)) element.fail("expected a whole number");
      return element.integer(least);
    });
  }
  if (list.size() != size) {
    fail(
        fmt::format("{} = {}: expected a whole number from {} to 2^31 - 1, or one for each of {} "
                    "layers",
                    found->name, found->value.shown(), least, layers));
  }
  return list;
}

std::optional<std::int64_t> ConfigFields::alike_if_any(Names names, std::int64_t layers,
                                                       std::int64_t least) {
  const auto list = by_layer(names, layers, least);
  if (list.empty()) return std::nullopt;
  const auto other = std::adjacent_find(list.begin(), list.end(), std::not_equal_to<>());
  if (other != list.end()) {
    fail(fmt::format("{}: differs from layer to layer: expected one number for all layers",
                     fmt::join(names, " or ")));
  }
  return list.front();
}

void ConfigFields::expect_one_value(Names names) const {
  const char* first = nullptr;
  for (const char* name : names) {
    if (!object_.has(name)) continue;
    if (first == nullptr) first = name;
    const std::string one = value_of_layers(object_[first]);
    const std::string other = value_of_layers(object_[name]);
    if (one == other) continue;
    fail(fmt::format("{} = {} and {} = {}: two names of one size: expected one value", first,
                     one_line(one, 40), name, one_line(other, 40)));
  }
}

std::optional<double> ConfigFields::number_if_any(const char* name) {
  const auto found = find({name});
  if (!found) return std::nullopt;
  return found->value.number();
}

std::string ConfigFields::text_if_any(Names names) {
  const auto found = find(names);
  if (!found) return {};
  if (!found->value.is_text()) {
    fail(fmt::format("{} = {}: expected a string", found->name, found->value.shown()));
  }
  return found->value.text();
}

bool ConfigFields::is_set(const char* name) {
  const auto found = find({name});
  return found && found->value.boolean();
}

std::optional<std::vector<std::int64_t>> ConfigFields::numbers_if_any(Names names) {
  const auto found = find(names);
  if (!found) return std::nullopt;
  return found->value.list([](const JsonReader& element) { return element.integer(0); });
}

std::optional<std::vector<std::string>> ConfigFields::texts_if_any(Names names) {
  const auto found = find(names);
  if (!found) return std::nullopt;
  return found->value.list([](const JsonReader& element) { return element.text(); });
}

bool ConfigFields::is_list(const char* name) {
  const auto found = find({name});
  return found && found->value.is_array();
}

}  // namespace overlaptune
