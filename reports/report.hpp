#pragma once
// The whole report on a database, in the format asked for.

#include <optional>
#include <string>

#include "core/names.hpp"
#include "reports/snapshot.hpp"

namespace overlaptune {

enum class ReportFormat { markdown, csv, json, html };

template <>
struct NamesOf<ReportFormat> {
  static constexpr std::string_view what = "format";
  static constexpr std::array<Named<ReportFormat>, 4> all{
      {{ReportFormat::markdown, "md"}, {ReportFormat::csv, "csv"}, {ReportFormat::json, "json"}, {ReportFormat::html, "html"}}};
};

struct ReportOptions {
  ReportFormat format = ReportFormat::markdown;
  int shortlist = 5;  ///< as in `evaluate`
};

/// The report: winners, means, prediction error and regret, comparison with `other` if there is
/// one, conditions, probe curves. As CSV, each table follows a line `# name` and ends with a blank
/// line; as JSON, the document has one field for each table (docs/reports.md).
[[nodiscard]] std::string report(const Snapshot& snapshot, const std::optional<Snapshot>& other,
                                 const ReportOptions& options);

}  // namespace overlaptune
