#include "reports/winners.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/statistics.hpp"

namespace overlaptune {
namespace {

Cell count(std::int64_t value) {
  return value;
}

/// 0 stands for "not ours to choose" in a config.
Cell chosen(int value) {
  return value == 0 ? Cell() : Cell(std::int64_t{value});
}

Cell name(std::string_view text) {
  return std::string(text);
}

Cell median_of(const Candidate& candidate) {
  return candidate.measured ? Cell(candidate.measured->median.count()) : Cell();
}

struct Ratios {
  std::vector<double> speedups{};
  std::vector<double> hidden{};
};

/// Geometric; NaN where one of the values is not positive.
double geometric_or_none(const std::vector<double>& values) {
  for (const double value : values) {
    if (value <= 0) return std::nan("");
  }
  return geometric_mean(values);
}

}  // namespace

std::optional<double> speedup(const Winner& winner) {
  const Candidate& candidate = winner.candidate;
  if (candidate.speedup) return candidate.speedup->median;
  if (!candidate.measured || candidate.measured->median.count() <= 0) return std::nullopt;
  return winner.sequential / candidate.measured->median;
}

std::string brief_partition(const Config& config) {
  constexpr std::size_t kShown = 4;
  const auto& groups = config.wave_groups;
  if (config.strategy == Strategy::chunked) return fmt::format("{} chunks", config.chunks);
  if (groups.empty()) return "-";
  if (groups.size() <= kShown) return fmt::format("{}", fmt::join(groups, "+"));
  return fmt::format("{}+… ({} groups)", fmt::join(groups.begin(), groups.begin() + kShown, "+"),
                     groups.size());
}

std::string brief_exchange(const Config& config) {
  std::string text(to_string(config.transport));
  if (config.comm_ctas != 0) text += fmt::format(" × {}", config.comm_ctas);
  if (config.wait == Wait::kernel) text += ", kernel waits";
  return text;
}

Table winners_table(const std::vector<Winner>& winners) {
  Table table{.name = "winners",
              .columns = {{"problem"},
                          {"launch"},
                          {"strategy"},
                          {"tile"},
                          {"exchange"},
                          {"wave groups"},
                          {"predicted µs"},
                          {"measured µs"},
                          {"sequential µs"},
                          {"speedup", 3},
                          {"hidden", 2}}};
  for (const Winner& winner : winners) {
    const Candidate& candidate = winner.candidate;
    const Config& config = candidate.config;
    table.rows.push_back(
        {to_string(candidate.problem), name(to_string(candidate.launch)),
         name(to_string(config.strategy)), to_string(config.tile), brief_exchange(config),
         brief_partition(config), candidate.predicted.count(), median_of(candidate),
         winner.sequential.count(), cell(speedup(winner)), cell(hidden_fraction(winner))});
  }
  return table;
}

Table winners_with_overlap(const std::vector<Winner>& winners) {
  Table table = winners_table(winners);
  table.columns.push_back({"overlap", 2});
  for (std::size_t i = 0; i < winners.size(); ++i) {
    table.rows[i].push_back(cell(winners[i].overlap_fraction));
  }
  return table;
}

Table winners_in_full(const Snapshot& snapshot) {
  Table table{.name = "winners",
              .columns = {{"platform"},
                          {"launch"},
                          {"op"},
                          {"m"},
                          {"n"},
                          {"k"},
                          {"dtype"},
                          {"ranks"},
                          {"strategy"},
                          {"block_m"},
                          {"block_n"},
                          {"block_k"},
                          {"stages"},
                          {"cluster"},
                          {"raster"},
                          {"comm_ctas"},
                          {"wave_groups"},
                          {"chunks"},
                          {"transport"},
                          {"wait"},
                          {"predicted_us"},
                          {"measured_us"},
                          {"measured_p10_us"},
                          {"measured_p90_us"},
                          {"repetitions"},
                          {"sequential_us"},
                          {"gemm_alone_us"},
                          {"collective_alone_us"},
                          {"speedup"},
                          {"hidden_fraction"},
                          {"overlap_fraction"},
                          {"sm_clock_mhz"},
                          {"power_w"},
                          {"validated_at"}}};
  for (const StoredWinner& row : snapshot.winners) {
    const Candidate& candidate = row.winner.candidate;
    const Problem& problem = candidate.problem;
    const Config& config = candidate.config;
    const auto& measured = candidate.measured;
    const bool signaled = config.strategy == Strategy::signaled;
    table.rows.push_back({snapshot.platform_name(row.platform),
                          name(to_string(candidate.launch)),
                          name(to_string(problem.op)),
                          problem.m,
                          problem.n,
                          problem.k,
                          name(to_string(problem.dtype)),
                          count(problem.ranks),
                          name(to_string(config.strategy)),
                          chosen(config.tile.block_m),
                          chosen(config.tile.block_n),
                          chosen(config.tile.block_k),
                          chosen(config.tile.stages),
                          chosen(config.tile.cluster),
                          chosen(config.raster),
                          chosen(config.comm_ctas),
                          config.wave_groups.empty()
                              ? Cell()
                              : Cell(fmt::format("{}", fmt::join(config.wave_groups, " "))),
                          config.strategy == Strategy::chunked ? count(config.chunks) : Cell(),
                          name(to_string(config.transport)),
                          signaled ? name(to_string(config.wait)) : Cell(),
                          candidate.predicted.count(),
                          median_of(candidate),
                          measured ? Cell(measured->p10.count()) : Cell(),
                          measured ? Cell(measured->p90.count()) : Cell(),
                          measured ? count(measured->count) : Cell(),
                          row.winner.sequential.count(),
                          row.winner.gemm_alone.count(),
                          row.winner.collective_alone.count(),
                          cell(speedup(row.winner)),
                          cell(hidden_fraction(row.winner)),
                          cell(row.winner.overlap_fraction),
                          cell(candidate.conditions.sm_clock_mhz),
                          cell(candidate.conditions.power_w),
                          row.validated_at});
  }
  return table;
}

Table winner_means(const Snapshot& snapshot) {
  std::map<std::pair<std::string, std::string>, Ratios> groups;
  for (const StoredWinner& row : snapshot.winners) {
    const std::string platform = snapshot.platform_name(row.platform);
    const Problem& problem = row.winner.candidate.problem;
    for (const std::string& op : {std::string("all"), std::string(to_string(problem.op))}) {
      Ratios& ratios = groups[{platform, op}];
      if (const auto ratio = speedup(row.winner)) ratios.speedups.push_back(*ratio);
      if (const auto hidden = hidden_fraction(row.winner)) ratios.hidden.push_back(*hidden);
    }
  }
  Table table{.name = "means",
              .columns = {{"platform"},
                          {"op"},
                          {"winners"},
                          {"speedup_geomean", 3},
                          {"hidden_fraction_geomean", 3},
                          {"hidden_fraction_mean", 3}}};
  for (const auto& [key, ratios] : groups) {
    table.rows.push_back(
        {key.first, key.second, count(static_cast<std::int64_t>(ratios.speedups.size())),
         geometric_mean(ratios.speedups), geometric_or_none(ratios.hidden), mean(ratios.hidden)});
  }
  return table;
}

}  // namespace overlaptune
