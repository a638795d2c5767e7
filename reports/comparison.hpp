#pragma once
// Two databases: which winners became faster or slower, and whether that is more than noise.

#include <optional>
#include <string>
#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table.hpp"

namespace overlaptune {

enum class Change { faster, slower, within_noise, only_here, only_there };

template <>
struct NamesOf<Change> {
  static constexpr std::string_view what = "change";
  static constexpr std::array<Named<Change>, 5> all{{{Change::faster, "faster"},
                                                     {Change::slower, "slower"},
                                                     {Change::within_noise, "within_noise"},
                                                     {Change::only_here, "only_here"},
                                                     {Change::only_there, "only_there"}}};
};

struct ComparedWinner {
  std::string platform{};
  std::optional<Winner> here{};
  std::optional<Winner> there{};
  Microseconds difference{};  ///< here - there; 0 unless both are measured
  /// Root of the summed squares of half of p90 - p10 on each side: the difference that two single
  /// repetitions of the same thing often show. Run-to-run drift is of that order, the error of a
  /// median is not, so it is what a difference must exceed.
  Microseconds noise{};
  Change change = Change::within_noise;
};

struct Comparison {
  std::vector<ComparedWinner> winners{};
  /// Platforms of equal name that are not the same: name, then "field: X here, Y there".
  std::vector<std::string> platform_differences{};
};

/// Winners meet by platform, problem and launch. A platform meets the one of equal fingerprint over
/// there, else (a new driver, say) the only one of its name; what differs is then told.
[[nodiscard]] Comparison compare(const Snapshot& here, const Snapshot& there);

[[nodiscard]] OrderedJson json_of(const Comparison& comparison);
[[nodiscard]] Table comparison_table(const Comparison& comparison);

}  // namespace overlaptune
