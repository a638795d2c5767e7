#include "reports/json.hpp"

#include <cmath>

#include "json/fields.hpp"
#include "reports/table/config_columns.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

OrderedJson json_of_value(std::monostate) {
  return {};
}
template <class Value>
OrderedJson json_of_value(const Value& value) {
  return value;
}

}  // namespace

OrderedJson json_of(const std::optional<double>& number) {
  return number && std::isfinite(*number) ? OrderedJson(*number) : OrderedJson();
}

OrderedJson json_of(const std::optional<Microseconds>& time) {
  return time ? json_of(std::optional(time->count())) : OrderedJson();
}

OrderedJson json_of(const Problem& problem) {
  return Object(kProblemFields).write<OrderedJson>(problem);
}

OrderedJson json_of(const Config& config) {
  OrderedJson made = OrderedJson::object();
  for (const ConfigColumn& column : config_columns(config)) {
    made[column.name] =
        std::visit([](const auto& value) { return json_of_value(value); }, column.value);
  }
  return made;
}

OrderedJson json_of(const Platform& platform) {
  OrderedJson made = OrderedJson::object();
  each_field(kPlatformFields, platform, [&](std::string_view name, const auto& value) {
    made[std::string(name)] = written<OrderedJson>(Plain{}, value);
    if (name == "name") made["fingerprint"] = fingerprint(platform);
  });
  return made;
}

OrderedJson json_of(const Timeline& timeline) {
  OrderedJson groups = OrderedJson::array();
  for (const GroupTimes& group : timeline.groups) {
    groups.push_back({{"group", group.group},
                      {"ready_us", group.ready.count()},
                      {"start_us", group.start.count()},
                      {"end_us", group.end.count()},
                      {"exposed_us", group.exposed.count()}});
  }
  return groups;
}

OrderedJson json_of(const Winner& winner) {
  const Candidate& candidate = winner.candidate;
  const auto& measured = candidate.measured;
  const auto& paired = candidate.speedup;
  return {{"problem", json_of(candidate.problem)},
          {"launch", to_string(candidate.launch)},
          {"config", json_of(candidate.config)},
          {"predicted_us", json_of(std::optional(candidate.predicted))},
          {"measured_us", json_of(part_of(measured, &Summary::median))},
          {"measured_p10_us", json_of(part_of(measured, &Summary::p10))},
          {"measured_p90_us", json_of(part_of(measured, &Summary::p90))},
          {"repetitions", measured ? OrderedJson(measured->count) : OrderedJson()},
          {"sequential_us", json_of(std::optional(winner.sequential))},
          {"gemm_alone_us", json_of(std::optional(winner.gemm_alone))},
          {"collective_alone_us", json_of(std::optional(winner.collective_alone))},
          {"speedup", json_of(speedup(winner))},
          {"speedup_p10", json_of(part_of(paired, &Candidate::Speedup::p10))},
          {"speedup_p90", json_of(part_of(paired, &Candidate::Speedup::p90))},
          {"hidden_fraction", json_of(hidden_fraction(winner))},
          {"overlap_fraction", json_of(winner.overlap_fraction)}};
}

}  // namespace overlaptune
