#pragma once
// A platform, the measurements on it, and answers for problems on it: all that a plan for a whole
// model asks for.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "planning/advice/advice.hpp"
#include "planning/schedules/planned_step.hpp"
#include "query/snapshot.hpp"

namespace overlaptune {

/// Whatever it gives refers to it, and must not outlive it.
class MeasuredPlatform {
 public:
  /// A platform of a database, with the answers that `query` has for it. `platform`: a name or
  /// fingerprint; empty: the only one. Throws `Failure` as `Store` and `AnswerSnapshot`.
  static MeasuredPlatform of_database(const std::string& database, const std::string& platform);
  /// Measurements alone: nothing was tuned, and all answers are predicted.
  static MeasuredPlatform of_measurements(const Platform& platform,
                                          std::vector<Measurement> measurements);

  [[nodiscard]] const Platform& platform() const { return platform_; }
  [[nodiscard]] Answer answer(const Problem& problem, Launch launch) const;

  /// The source of times for `advise`.
  [[nodiscard]] Adviser adviser(Launch launch) const;
  /// The source of times for `plan_model_step`. Throws `Failure` (`bad_input`) that names what was
  /// not probed.
  [[nodiscard]] StepGrounds step_grounds() const;

 private:
  MeasuredPlatform(Platform platform, std::vector<Measurement> measurements);
  [[nodiscard]] const Expected<LearnedModel>& model() const;

  Platform platform_;
  std::vector<Measurement> measurements_;
  std::unique_ptr<AnswerSnapshot> stored_;       ///< none: measurements alone
  std::unique_ptr<Expected<LearnedModel>> own_;  ///< theirs, then
};

}  // namespace overlaptune
