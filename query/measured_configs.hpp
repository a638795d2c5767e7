#pragma once
// The fastest measured config of each strategy, for questions that do not allow the winner.

#include <array>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/capabilities.hpp"
#include "core/config/candidate.hpp"
#include "query/problem_key.hpp"
#include "query/terms.hpp"

namespace overlaptune {

/// A valid config that was measured.
struct MeasuredConfig {
  Config config{};
  Microseconds predicted{};
  Microseconds measured{};
  /// The time of `sequential` beside it; absent where it was not measured.
  std::optional<Microseconds> sequential{};
  Microseconds paired{};  ///< by which configs of one problem are compared (`paired_time`)
};

/// The measured configs of one platform in one database. It is filled once; after that any number
/// of threads may ask it.
class MeasuredConfigs {
 public:
  MeasuredConfigs() = default;
  /// Candidates that are not valid, or that a machine with these capabilities cannot run, are left
  /// out.
  MeasuredConfigs(std::span<const Candidate> candidates, const Capabilities& capabilities);

  /// The fastest one of the strategies that the terms allow; null where none was measured.
  [[nodiscard]] const MeasuredConfig* fastest(const Problem& problem, const Terms& terms) const;

 private:
  /// The fastest of each strategy, in the order of `Strategy`.
  struct OfProblem {
    Microseconds sequential = us(1);  ///< as `fastest` of core/config/candidate.hpp has it
    std::array<std::unique_ptr<MeasuredConfig>, kStrategies.size()> fastest{};
  };
  std::unordered_map<PackedProblem, OfProblem, PackedProblemHash> problems_{};
};

}  // namespace overlaptune
