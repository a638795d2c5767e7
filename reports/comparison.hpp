#pragma once
// Comparison of two databases: which winners are faster or slower, and whether the difference is
// more than noise.

#include <optional>
#include <string>
#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

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
  std::string platform_here{};   ///< empty without a winner here
  std::string platform_there{};  ///< the same for there
  std::string validated_here{};  ///< UTC, ISO 8601; empty without a winner here
  std::string validated_there{};
  std::optional<Winner> here{};
  std::optional<Winner> there{};
  Microseconds difference{};  ///< here - there; 0 unless both are measured
  /// The difference that counts as noise: the root of the sum of squares of half of p90 - p10 on
  /// each side. Two single repetitions of one config often differ by this much. Run-to-run drift is
  /// of this order, whereas the error of a median is smaller.
  Microseconds noise{};
  Change change = Change::within_noise;
};

/// A thing in which two compared platforms, or the runs on them, differ.
struct PlatformDifference {
  std::string field{};  ///< of `Platform`; "overlaptune" is the program's version
  std::string here{};
  std::string there{};

  friend bool operator==(const PlatformDifference&, const PlatformDifference&) = default;
};

struct Comparison {
  std::vector<ComparedWinner> winners{};
  /// When the newest of the winners that are in both was validated: UTC, ISO 8601. Empty where none
  /// is in both.
  std::string newest_here{};
  std::string newest_there{};
  std::vector<PlatformDifference> differing{};  ///< each once
  /// Platforms that were compared though they differ: the name, then "field: X here, Y there".
  std::vector<std::string> platform_differences{};
};

/// Compares winners of equal platform, problem and launch. A platform here stands for the one there
/// with the same fingerprint, else (after a driver update, for example) for the only one there with
/// the same name. Where each side then has one platform left, and they have problems in common,
/// these two are compared as well. `platform_differences` says what differs. Winners that changed
/// by more than the noise come first, the greatest change foremost.
[[nodiscard]] Comparison compare(const Snapshot& here, const Snapshot& there);

/// here / there - 1; none unless both times are measured.
[[nodiscard]] std::optional<double> relative_change(const ComparedWinner& row);

/// The winners that are slower here by more than the noise and by more than a fraction of the time
/// there, the slowest first.
[[nodiscard]] std::vector<const ComparedWinner*> slower_by(const Comparison& comparison,
                                                           double fraction);

/// The winners there that have a time to compare with here.
[[nodiscard]] std::vector<const ComparedWinner*> compared(const Comparison& comparison);

/// The winners there without a time to compare with: tuning ended early here, or a whole platform
/// is missing.
[[nodiscard]] std::vector<const ComparedWinner*> missing_here(const Comparison& comparison);

[[nodiscard]] OrderedJson json_of(const Comparison& comparison);
[[nodiscard]] Table comparison_table(const Comparison& comparison);

}  // namespace overlaptune
