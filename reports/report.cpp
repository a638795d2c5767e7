#include "reports/report.hpp"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "reports/comparison.hpp"
#include "reports/conditions.hpp"
#include "reports/evaluation.hpp"
#include "reports/failures.hpp"
#include "reports/json.hpp"
#include "reports/probe_curves.hpp"
#include "reports/products.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

struct Parts {
  const Snapshot& snapshot;
  Evaluation evaluation{};
  std::optional<Comparison> comparison{};
};

void append_section(std::string& text, std::string_view title, const Table& table) {
  text += fmt::format("\n## {}\n\n", title);
  text += table.rows.empty() ? "None.\n" : to_markdown(table);
}

std::string as_markdown(const Parts& parts) {
  std::string text = "# overlaptune report\n";
  for (const PlatformRecord& record : parts.snapshot.platforms) {
    const StoredPlatform& stored = record.stored;
    std::vector<Winner> winners;
    for (const StoredWinner& row : parts.snapshot.winners) {
      if (row.platform == stored.id) winners.push_back(row.winner);
    }
    append_section(text,
                   fmt::format("Winners on {} ({})", stored.platform.name, stored.platform.machine),
                   winners_with_overlap(winners, record.layer_gemms));
  }
  append_section(text, "Means", winner_means(parts.snapshot));
  append_section(text, "Prediction error", error_table(parts.evaluation));
  append_section(text, "Regret", regret_table(parts.evaluation.regret, parts.evaluation.shortlist));
  if (parts.comparison) {
    append_section(text, "Comparison", comparison_table(*parts.comparison));
    for (const std::string& line : parts.comparison->platform_differences) {
      text += fmt::format("\nPlatforms differ: {}\n", line);
    }
  }
  append_section(text, "Failures", failures(parts.snapshot));
  append_section(text, "Conditions", conditions(parts.snapshot));
  for (const Table& table : probe_curves(parts.snapshot)) {
    std::string title = "Probes: " + table.name;
    std::replace(title.begin(), title.end(), '_', ' ');
    append_section(text, title, table);
  }
  return text;
}

std::string as_csv(const Parts& parts) {
  std::vector<Table> tables{winners_in_full(parts.snapshot), winner_means(parts.snapshot),
                            error_table(parts.evaluation),
                            regret_table(parts.evaluation.regret, parts.evaluation.shortlist)};
  if (parts.comparison) tables.push_back(comparison_table(*parts.comparison));
  tables.push_back(failures(parts.snapshot));
  tables.push_back(conditions(parts.snapshot));
  for (Table& table : probe_curves(parts.snapshot)) tables.push_back(std::move(table));
  std::string text;
  for (const Table& table : tables) {
    text += fmt::format("{}# {}\n{}", text.empty() ? "" : "\n", table.name, to_csv(table));
  }
  return text;
}

std::string as_json(const Parts& parts) {
  OrderedJson document;
  document["platforms"] = OrderedJson::array();
  for (const PlatformRecord& record : parts.snapshot.platforms) {
    document["platforms"].push_back(json_of(record.stored.platform));
  }
  document["winners"] = OrderedJson::array();
  for (const StoredWinner& row : parts.snapshot.winners) {
    OrderedJson winner = {{"platform", parts.snapshot.platform_name(row.platform)}};
    winner.update(json_of(row.winner));
    winner["validated_at"] = row.validated_at;
    winner["layer_gemms"] =
        json_of(parts.snapshot.products(row.platform, row.winner.candidate.problem));
    document["winners"].push_back(std::move(winner));
  }
  document["means"] = to_json_rows(winner_means(parts.snapshot));
  document["evaluation"] = json_of(parts.evaluation);
  document["comparison"] = parts.comparison ? json_of(*parts.comparison) : OrderedJson();
  document["failures"] = to_json_rows(failures(parts.snapshot));
  document["conditions"] = to_json_rows(conditions(parts.snapshot));
  OrderedJson& probes = document["probes"];
  for (const Table& table : probe_curves(parts.snapshot)) probes[table.name] = to_json_rows(table);
  return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

std::string report(const Snapshot& snapshot, const std::optional<Snapshot>& other,
                   const ReportOptions& options) {
  Parts parts{.snapshot = snapshot, .evaluation = evaluate(snapshot, options.shortlist)};
  if (other) parts.comparison = compare(snapshot, *other);
  switch (options.format) {
    case ReportFormat::markdown:
      return as_markdown(parts);
    case ReportFormat::csv:
      return as_csv(parts);
    case ReportFormat::json:
      return as_json(parts);
    case ReportFormat::html:
      break;  // `html_report`
  }
  return {};
}

}  // namespace overlaptune
