#include "reports/winners.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <type_traits>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/config_fields.hpp"
#include "core/statistics.hpp"
#include "reports/phases.hpp"
#include "reports/products.hpp"
#include "reports/table/config_columns.hpp"

namespace overlaptune {
namespace {

Cell cell_of(const ConfigValue& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) return *number;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* counts = std::get_if<std::vector<std::int64_t>>(&value)) {
    return fmt::format("{}", fmt::join(*counts, " "));
  }
  return {};
}

/// A field of each product, separated by semicolons; an empty cell where there is no product.
template <class T>
Cell listed(const std::vector<LayerGemm>& products, T LayerGemm::*field) {
  if (products.empty()) return {};
  const auto shown = [](const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return to_string(value);
    } else {
      return value;
    }
  };
  std::string text;
  for (const LayerGemm& product : products) {
    text += fmt::format("{}{}", text.empty() ? "" : ";", shown(product.*field));
  }
  return text;
}

/// The tokens of a forward pass; where products differ in them, one value for each.
Cell tokens_of(const std::vector<LayerGemm>& products) {
  const bool alike = std::all_of(products.begin(), products.end(), [&](const LayerGemm& gemm) {
    return gemm.tokens == products.front().tokens;
  });
  return alike && !products.empty() ? products.front().tokens
                                    : listed(products, &LayerGemm::tokens);
}

/// Inserts columns behind the problem, with the products of models that it comes from and their
/// tokens.
void insert_products(Table& table, const std::vector<Winner>& winners,
                     std::span<const LayerGemm> gemms) {
  std::vector<std::vector<Cell>> cells;
  bool known = false;
  for (const Winner& winner : winners) {
    const auto products = products_of(winner.candidate.problem, gemms);
    cells.push_back(
        {products.empty() ? Cell() : Cell(brief_products(products)), tokens_of(products)});
    known = known || !products.empty();
  }
  if (!known) return;
  const std::vector<Column> columns{{"product"}, {"tokens"}};
  table.columns.insert(table.columns.begin() + 1, columns.begin(), columns.end());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    table.rows[i].insert(table.rows[i].begin() + 1, cells[i].begin(), cells[i].end());
  }
}

struct Ratios {
  std::vector<double> speedups{};
  std::vector<double> hidden{};
};

/// The geometric mean; NaN where one of the values is not positive.
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
  std::string partition;
  with_field<config_field::Chunks>(
      config, [&](int chunks) { partition = fmt::format("{} chunks", chunks); });
  if (!partition.empty()) return partition;
  const auto groups = wave_groups_of(config);
  if (groups.empty()) return "-";
  partition =
      groups.size() <= kShown
          ? fmt::format("{}", fmt::join(groups, "+"))
          : fmt::format("{}+… ({} groups)", fmt::join(groups.begin(), groups.begin() + kShown, "+"),
                        groups.size());
  with_field<config_field::KChunks>(config, [&](int chunks) {
    if (chunks > 1) partition += fmt::format(", k/{}", chunks);
  });
  return partition;
}

std::string brief_exchange(const Config& config) {
  std::string text;
  with_field<config_field::Transport>(config,
                                      [&](const auto& transport) { text = to_string(transport); });
  if (text.empty()) text = to_string(transport_of(config));
  if (comm_ctas(config) != 0) text += fmt::format(" × {}", comm_ctas(config));
  if (tiles_push(config)) text += " by tiles";
  with_field<config_field::Wait>(config, [&](Wait wait) {
    if (wait == Wait::kernel) text += ", kernel waits";
  });
  return text;
}

Table winners_table(const std::vector<Winner>& winners, std::span<const LayerGemm> gemms) {
  Table table{
      .name = "winners",
      .columns = columns_of("problem, launch, strategy, tile, exchange, wave groups, predicted µs, "
                            "measured µs, sequential µs, speedup:3, hidden:2")};
  for (const Winner& winner : winners) {
    const Candidate& candidate = winner.candidate;
    const Config& config = candidate.config;
    table.rows.push_back(
        {to_string(candidate.problem), cell(candidate.launch), cell(strategy_of(config)),
         to_string(tile_of(config)), brief_exchange(config), brief_partition(config),
         candidate.predicted.count(), cell(part_of(candidate.measured, &Summary::median)),
         winner.sequential.count(), cell(speedup(winner)), cell(hidden_fraction(winner))});
  }
  insert_products(table, winners, gemms);
  return table;
}

Table winners_with_overlap(const std::vector<Winner>& winners, std::span<const LayerGemm> gemms) {
  Table table = winners_table(winners, gemms);
  table.columns.push_back({"overlap", 2});
  for (std::size_t i = 0; i < winners.size(); ++i) {
    table.rows[i].push_back(cell(winners[i].overlap_fraction));
  }
  return table;
}

Table winners_in_full(const Snapshot& snapshot) {
  Table table{.name = "winners",
              .columns = columns_of("platform, launch, op, m, n, k, dtype, ranks")};
  for (const ConfigColumn& column : config_columns({})) table.columns.push_back({column.name});
  const auto results = columns_of(
      "predicted_us, measured_us, measured_p10_us, measured_p90_us, repetitions, sequential_us, "
      "gemm_alone_us, collective_alone_us, speedup, hidden_fraction, overlap_fraction, "
      "sm_clock_mhz, power_w, cold_speedup, beside_speedup, validated_at, model, product, "
      "times_per_pass, parallelism, tokens, fingerprint");
  table.columns.insert(table.columns.end(), results.begin(), results.end());
  const WinnerPhases phases(snapshot);
  for (const StoredWinner& row : snapshot.winners) {
    const Candidate& candidate = row.winner.candidate;
    const Problem& problem = candidate.problem;
    const auto& measured = candidate.measured;
    const auto products = snapshot.products(row.platform, problem);
    std::vector<Cell>& cells = table.rows.emplace_back(std::vector<Cell>{
        snapshot.platform_name(row.platform), cell(candidate.launch), cell(problem.op), problem.m,
        problem.n, problem.k, cell(problem.elements), cell(problem.ranks)});
    for (const ConfigColumn& column : config_columns(candidate.config)) {
      cells.push_back(cell_of(column.value));
    }
    const std::vector<Cell> values{candidate.predicted.count(),
                                   cell(part_of(measured, &Summary::median)),
                                   cell(part_of(measured, &Summary::p10)),
                                   cell(part_of(measured, &Summary::p90)),
                                   cell(part_of(measured, &Summary::count)),
                                   row.winner.sequential.count(),
                                   row.winner.gemm_alone.count(),
                                   row.winner.collective_alone.count(),
                                   cell(speedup(row.winner)),
                                   cell(hidden_fraction(row.winner)),
                                   cell(row.winner.overlap_fraction),
                                   cell(candidate.conditions.sm_clock_mhz),
                                   cell(candidate.conditions.power_w),
                                   cell(phases.speedup(row, RunPhase::cold)),
                                   cell(phases.speedup(row, RunPhase::beside)),
                                   row.validated_at,
                                   listed(products, &LayerGemm::model),
                                   listed(products, &LayerGemm::product),
                                   listed(products, &LayerGemm::times_per_pass),
                                   listed(products, &LayerGemm::parallelism),
                                   listed(products, &LayerGemm::tokens),
                                   snapshot.fingerprint_of(row.platform)};
    cells.insert(cells.end(), values.begin(), values.end());
  }
  return table;
}

Table winner_means(const Snapshot& snapshot) {
  std::map<std::pair<PlatformId, std::string>, Ratios> groups;
  for (const StoredWinner& row : snapshot.winners) {
    const Problem& problem = row.winner.candidate.problem;
    for (const std::string& op : {std::string("all"), std::string(to_string(problem.op))}) {
      Ratios& ratios = groups[{row.platform, op}];
      if (const auto ratio = speedup(row.winner)) ratios.speedups.push_back(*ratio);
      if (const auto hidden = hidden_fraction(row.winner)) ratios.hidden.push_back(*hidden);
    }
  }
  Table table{.name = "means",
              .columns = columns_of("platform, op, winners, speedup_geomean:3, "
                                    "hidden_fraction_geomean:3, hidden_fraction_mean:3")};
  for (const auto& [key, ratios] : groups) {
    table.rows.push_back({snapshot.platform_name(key.first), key.second,
                          std::ssize(ratios.speedups), geometric_mean(ratios.speedups),
                          geometric_or_none(ratios.hidden), mean(ratios.hidden)});
  }
  return table;
}

}  // namespace overlaptune
