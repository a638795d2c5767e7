#include "reports/nccl_tuner.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace overlaptune {
namespace {

using Group = std::pair<Collective, int>;   // a collective and its ranks
using Times = std::map<int, Microseconds>;  // medians by CTA count

bool has_a_name(Collective collective) {
  return collective != Collective::all_to_all;
}

std::string name_of(Collective collective) {
  std::string name(to_string(collective));
  std::erase(name, '_');
  return name;
}

std::map<Group, std::map<Bytes, Times>> ring_times(std::span<const Measurement> measurements,
                                                   int most_ctas) {
  std::map<Group, std::map<Bytes, Times>> times;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (probe == nullptr || probe->transport != Transport::ring) continue;
    if (!has_a_name(probe->collective) || probe->comm_ctas > most_ctas) continue;
    times[{probe->collective, probe->ranks}][probe->bytes][probe->comm_ctas] =
        measurement.time.median;
  }
  return times;
}

/// The fastest CTA count of at least 1.
Times::const_iterator fastest(const Times& times) {
  return std::min_element(times.lower_bound(1), times.end(),
                          [](const auto& a, const auto& b) { return a.second < b.second; });
}

std::set<int> cta_counts(const std::map<Bytes, Times>& sizes) {
  std::set<int> counts;
  for (const auto& [bytes, times] : sizes) {
    for (const auto& [ctas, time] : times) {
      if (ctas > 0) counts.insert(ctas);
    }
  }
  return counts;
}

/// Whether NCCL's own choice (0 CTAs) was faster than every CTA count.
bool own_choice_is_faster(const Times& times) {
  const auto own = times.find(0);
  if (own == times.end()) return false;
  const auto best = fastest(times);
  return best != times.end() && own->second < best->second;
}

void add_rules(NcclTunerRules& made, const Group& group, const std::map<Bytes, Times>& sizes,
               const NcclTunerOptions& options) {
  const std::set<int> counts = cta_counts(sizes);
  NcclTunerRule* open = nullptr;
  for (const auto& [bytes, times] : sizes) {
    if (bytes < options.from || counts.empty()) continue;
    if (!options.is_limited() && own_choice_is_faster(times)) {
      ++made.default_faster;
      open = nullptr;  // the rule before ends at its last size
      continue;
    }
    const bool complete = std::all_of(counts.begin(), counts.end(),
                                      [&times = times](int ctas) { return times.contains(ctas); });
    if (!complete) continue;
    const auto best = fastest(times);
    ++made.sizes;
    if (open != nullptr && open->channels != best->first) {
      open->most = Bytes{bytes.count - 1};
      open = nullptr;
    }
    if (open == nullptr) {
      open = &made.rules.emplace_back(
          NcclTunerRule{group.first, group.second, bytes, bytes, best->first});
    }
    open->most = bytes;
  }
}

}  // namespace

NcclTunerRules nccl_tuner_rules(std::span<const Measurement> measurements,
                                const NcclTunerOptions& options) {
  NcclTunerRules made;
  for (const auto& [group, sizes] : ring_times(measurements, options.most_ctas)) {
    add_rules(made, group, sizes, options);
  }
  return made;
}

Table nccl_tuner_table(std::span<const NcclTunerRule> rules, const std::string& protocol) {
  Table table{.name = "nccl_tuner",
              .columns = {{"collective_type"},
                          {"min_bytes"},
                          {"max_bytes"},
                          {"algorithm"},
                          {"protocol"},
                          {"channels"},
                          {"nNodes"},
                          {"nRanks"},
                          {"numPipeOps"},
                          {"regBuff"}}};
  table.rows.reserve(rules.size());
  constexpr std::int64_t kAny = -1;
  for (const NcclTunerRule& rule : rules) {
    table.rows.push_back({name_of(rule.collective), rule.least.count, rule.most.count, "ring",
                          protocol, std::int64_t{rule.channels}, kAny, std::int64_t{rule.ranks},
                          kAny, kAny});
  }
  return table;
}

}  // namespace overlaptune
