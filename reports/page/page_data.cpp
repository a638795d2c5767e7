#include "reports/page/page_data.hpp"

#include <cmath>

#include "reports/comparison.hpp"
#include "reports/page/page_parts.hpp"

namespace overlaptune {
namespace {

constexpr int kFormat = 1;  // changes with the meaning of a field

}  // namespace

PlatformIndex platform_index(const Snapshot& snapshot) {
  PlatformIndex index;
  for (const PlatformRecord& record : snapshot.platforms) {
    index.emplace(record.stored.id, index.size());
  }
  return index;
}

OrderedJson rounded(double number) {
  return std::isfinite(number) ? OrderedJson(std::round(number * 1e3) / 1e3) : OrderedJson();
}

OrderedJson page_data(const PageInput& input) {
  const Snapshot& snapshot = input.snapshot;
  const PlatformIndex platforms = platform_index(snapshot);
  OrderedJson comparison;
  if (input.other) {
    comparison = json_of(compare(snapshot, *input.other));
    comparison["here"] = input.database;
    comparison["there"] = input.compared;
  }
  return {
      {"format", kFormat},
      {"made", {{"version", input.version}, {"at", input.made_at}, {"database", input.database}}},
      {"platforms", page_platforms(input)},
      {"winners", page_winners(input, platforms)},
      {"candidates", page_candidates(snapshot, platforms)},
      {"collectives", page_collectives(snapshot, platforms)},
      {"failures", page_failures(snapshot, platforms)},
      {"comparison", std::move(comparison)}};
}

}  // namespace overlaptune
