#include "reports/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/statistics.hpp"
#include "reports/json.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

using Key = std::tuple<PlatformId, Problem, Launch>;  // the id is that of the platform here

bool have_a_problem_in_common(const Snapshot& here, PlatformId mine, const Snapshot& there,
                              PlatformId theirs) {
  std::set<std::pair<Problem, Launch>> problems;
  for (const StoredWinner& row : here.winners) {
    const Candidate& candidate = row.winner.candidate;
    if (row.platform == mine) problems.emplace(candidate.problem, candidate.launch);
  }
  return std::any_of(there.winners.begin(), there.winners.end(), [&](const StoredWinner& row) {
    const Candidate& candidate = row.winner.candidate;
    return row.platform == theirs && problems.count({candidate.problem, candidate.launch}) > 0;
  });
}

std::vector<PlatformDifference> differing(const PlatformRecord& here, const PlatformRecord& there) {
  std::vector<PlatformDifference> list;
  const auto ours = fields(here.stored.platform);
  const auto theirs = fields(there.stored.platform);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].value != theirs[i].value) {
      list.push_back({std::string(ours[i].name), ours[i].value, theirs[i].value});
    }
  }
  if (here.last_run && there.last_run) {
    const std::string& our_program = here.last_run->provenance.program_version;
    const std::string& their_program = there.last_run->provenance.program_version;
    if (our_program != their_program) list.push_back({"overlaptune", our_program, their_program});
  }
  return list;
}

/// Says of a pair of platforms how they differ; `name` is what the two are called.
void add_differences(Comparison& comparison, const std::string& name, const PlatformRecord& here,
                     const PlatformRecord& there) {
  for (PlatformDifference& each : differing(here, there)) {
    comparison.platform_differences.push_back(
        fmt::format("{}: {}: {} here, {} there", name, each.field, each.here, each.there));
    auto& all = comparison.differing;
    if (std::find(all.begin(), all.end(), each) == all.end()) all.push_back(std::move(each));
  }
}

/// Adds the pair of platforms that are left on both sides, if there is one left on each and the two
/// have problems in common.
void add_the_last(std::map<PlatformId, PlatformId>& pairs, const Snapshot& here,
                  const Snapshot& there, Comparison& comparison) {
  std::vector<const PlatformRecord*> mine;
  std::vector<const PlatformRecord*> theirs;
  for (const PlatformRecord& record : here.platforms) {
    const bool paired = std::any_of(pairs.begin(), pairs.end(), [&](const auto& pair) {
      return pair.second == record.stored.id;
    });
    if (!paired) mine.push_back(&record);
  }
  for (const PlatformRecord& record : there.platforms) {
    if (!pairs.contains(record.stored.id)) theirs.push_back(&record);
  }
  if (mine.size() != 1 || theirs.size() != 1) return;
  const StoredPlatform& ours = mine.front()->stored;
  const StoredPlatform& other = theirs.front()->stored;
  if (!have_a_problem_in_common(here, ours.id, there, other.id)) return;
  pairs.emplace(other.id, ours.id);
  add_differences(
      comparison,
      fmt::format("{} here, {} there", full_name(ours.platform), full_name(other.platform)),
      *mine.front(), *theirs.front());
}

/// The counterpart here of each platform there.
std::map<PlatformId, PlatformId> counterparts(const Snapshot& here, const Snapshot& there,
                                              Comparison& comparison) {
  std::map<PlatformId, PlatformId> pairs;
  for (const PlatformRecord& other : there.platforms) {
    const Platform& platform = other.stored.platform;
    const PlatformRecord* best = nullptr;
    int of_the_same_name = 0;
    for (const PlatformRecord& record : here.platforms) {
      if (fingerprint(record.stored.platform) == fingerprint(platform)) {
        best = &record;
        of_the_same_name = 1;
        break;
      }
      if (full_name(record.stored.platform) == full_name(platform)) {
        best = &record;
        ++of_the_same_name;
      }
    }
    if (of_the_same_name != 1) continue;
    pairs.emplace(other.stored.id, best->stored.id);
    add_differences(comparison, full_name(platform), *best, other);
  }
  add_the_last(pairs, here, there, comparison);
  return pairs;
}

double half_spread(const Summary& summary) {
  return (summary.p90 - summary.p10).count() / 2;
}

void judge(ComparedWinner& row) {
  if (!row.here || !row.there) {
    row.change = row.here ? Change::only_here : Change::only_there;
    return;
  }
  const auto& ours = row.here->candidate.measured;
  const auto& theirs = row.there->candidate.measured;
  if (!ours || !theirs) return;
  row.difference = ours->median - theirs->median;
  row.noise = us(std::hypot(half_spread(*ours), half_spread(*theirs)));
  if (std::abs(row.difference.count()) > row.noise.count()) {
    row.change = row.difference.count() < 0 ? Change::faster : Change::slower;
  }
}

std::optional<Microseconds> time_of(const std::optional<Winner>& winner) {
  if (!winner || !winner->candidate.measured) return std::nullopt;
  return winner->candidate.measured->median;
}

const Candidate& either(const ComparedWinner& row) {
  return row.here ? row.here->candidate : row.there->candidate;
}

}  // namespace

std::optional<double> relative_change(const ComparedWinner& row) {
  const auto there = time_of(row.there);
  if (!time_of(row.here) || !there) return std::nullopt;
  return row.difference / *there;
}

namespace {

std::optional<double> geomean_of_ratios(const Comparison& comparison) {
  std::vector<double> ratios;
  for (const ComparedWinner& row : comparison.winners) {
    if (const auto change = relative_change(row)) ratios.push_back(1 + *change);
  }
  if (ratios.empty()) return std::nullopt;
  return geometric_mean(ratios);
}

int count_of(const Comparison& comparison, Change change) {
  return static_cast<int>(std::ranges::count(comparison.winners, change, &ComparedWinner::change));
}

/// Winners that changed by more than the noise come first, the greatest change foremost; those of
/// one side only are last.
bool comes_first(const ComparedWinner& a, const ComparedWinner& b) {
  const auto order = [](const ComparedWinner& row) {
    const auto change = relative_change(row);
    if (!change) return std::pair(2, 0.0);
    return std::pair(row.change == Change::within_noise ? 1 : 0, -std::abs(*change));
  };
  return order(a) < order(b);
}

template <class Predicate>
std::vector<const ComparedWinner*> rows_of(const Comparison& comparison, Predicate is_wanted) {
  std::vector<const ComparedWinner*> rows;
  for (const ComparedWinner& row : comparison.winners) {
    if (is_wanted(row)) rows.push_back(&row);
  }
  return rows;
}

}  // namespace

Comparison compare(const Snapshot& here, const Snapshot& there) {
  Comparison comparison;
  const auto pairs = counterparts(here, there, comparison);
  std::map<Key, ComparedWinner> rows;
  for (const StoredWinner& row : here.winners) {
    const Candidate& candidate = row.winner.candidate;
    ComparedWinner& compared = rows[{row.platform, candidate.problem, candidate.launch}];
    compared.platform_here = here.platform_name(row.platform);
    compared.validated_here = row.validated_at;
    compared.here = row.winner;
  }
  for (const StoredWinner& row : there.winners) {
    const Candidate& candidate = row.winner.candidate;
    const auto pair = pairs.find(row.platform);
    // Ids are positive. A platform without a counterpart gets its negative id, which no other
    // platform has.
    const PlatformId id = pair == pairs.end() ? -row.platform : pair->second;
    ComparedWinner& compared = rows[{id, candidate.problem, candidate.launch}];
    compared.platform_there = there.platform_name(row.platform);
    compared.validated_there = row.validated_at;
    compared.there = row.winner;
  }
  for (auto& [key, row] : rows) {
    judge(row);
    if (relative_change(row)) {
      comparison.newest_here = std::max(comparison.newest_here, row.validated_here);
      comparison.newest_there = std::max(comparison.newest_there, row.validated_there);
    }
    comparison.winners.push_back(std::move(row));
  }
  std::stable_sort(comparison.winners.begin(), comparison.winners.end(), comes_first);
  return comparison;
}

OrderedJson json_of(const Comparison& comparison) {
  const auto text_or_null = [](const std::string& text) {
    return text.empty() ? OrderedJson() : OrderedJson(text);
  };
  OrderedJson rows = OrderedJson::array();
  for (const ComparedWinner& row : comparison.winners) {
    const auto config = [](const std::optional<Winner>& winner) {
      return winner ? json_of(winner->candidate.config) : OrderedJson();
    };
    const auto change = relative_change(row);
    const auto if_compared = [&](Microseconds time) {
      return change ? OrderedJson(time.count()) : OrderedJson();
    };
    rows.push_back({{"platform_here", text_or_null(row.platform_here)},
                    {"platform_there", text_or_null(row.platform_there)},
                    {"problem", json_of(either(row).problem)},
                    {"launch", to_string(either(row).launch)},
                    {"change", to_string(row.change)},
                    {"here_us", json_of(time_of(row.here))},
                    {"there_us", json_of(time_of(row.there))},
                    {"difference_us", if_compared(row.difference)},
                    {"noise_us", if_compared(row.noise)},
                    {"relative_change", json_of(change)},
                    {"config_here", config(row.here)},
                    {"config_there", config(row.there)}});
  }
  OrderedJson differing = OrderedJson::array();
  for (const auto& [field, ours, theirs] : comparison.differing) {
    differing.push_back({{"field", field}, {"here", ours}, {"there", theirs}});
  }
  return {{"newest_here", text_or_null(comparison.newest_here)},
          {"newest_there", text_or_null(comparison.newest_there)},
          {"differing", std::move(differing)},
          {"faster", count_of(comparison, Change::faster)},
          {"slower", count_of(comparison, Change::slower)},
          {"within_noise", count_of(comparison, Change::within_noise)},
          {"only_here", count_of(comparison, Change::only_here)},
          {"only_there", count_of(comparison, Change::only_there)},
          {"time_ratio_geomean", json_of(geomean_of_ratios(comparison))},
          {"platform_differences", comparison.platform_differences},
          {"winners", std::move(rows)}};
}

Table comparison_table(const Comparison& comparison) {
  Table table{
      .name = "comparison",
      .columns = columns_of("platform_here, platform_there, problem, launch, here_us, there_us, "
                            "change_percent:2, noise_us:2, change, strategy_here, strategy_there")};
  const auto strategy = [](const std::optional<Winner>& winner) {
    return winner ? cell(strategy_of(winner->candidate.config)) : Cell();
  };
  const auto named = [](const std::string& platform) {
    return platform.empty() ? Cell() : Cell(platform);
  };
  for (const ComparedWinner& row : comparison.winners) {
    const auto change = relative_change(row);
    table.rows.push_back(
        {named(row.platform_here), named(row.platform_there), to_string(either(row).problem),
         cell(either(row).launch), cell(time_of(row.here)), cell(time_of(row.there)),
         change ? Cell(100 * *change) : Cell(), change ? Cell(row.noise.count()) : Cell(),
         cell(row.change), strategy(row.here), strategy(row.there)});
  }
  return table;
}

std::vector<const ComparedWinner*> slower_by(const Comparison& comparison, double fraction) {
  auto slower = rows_of(comparison, [fraction](const ComparedWinner& row) {
    const auto change = relative_change(row);
    return row.change == Change::slower && change && *change > fraction;
  });
  std::ranges::stable_sort(slower, std::greater{},
                           [](const auto* row) { return *relative_change(*row); });
  return slower;
}

std::vector<const ComparedWinner*> compared(const Comparison& comparison) {
  return rows_of(comparison,
                 [](const ComparedWinner& row) { return relative_change(row).has_value(); });
}

std::vector<const ComparedWinner*> missing_here(const Comparison& comparison) {
  return rows_of(comparison, [](const ComparedWinner& row) {
    return row.there.has_value() && !relative_change(row).has_value();
  });
}

}  // namespace overlaptune
