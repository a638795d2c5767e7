#pragma once
// The answers to questions about a platform: exact, predicted, or the baseline.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/answer.hpp"
#include "core/base/error.hpp"
#include "core/fit.hpp"
#include "core/platform.hpp"
#include "core/problem.hpp"
#include "db/store.hpp"
#include "model/learned_model.hpp"
#include "query/terms.hpp"

namespace overlaptune {

/// A model fitted to measurements, or made from a stored fit of the same measurements, and taught
/// by candidates. Error: as `Model::fit`.
[[nodiscard]] Expected<LearnedModel> learned_model(const Platform& platform,
                                                   std::span<const Measurement> measurements,
                                                   std::span<const Candidate> candidates,
                                                   std::span<const Fit> stored = {});

/// Whether a GPU of the platform has more SMs than are to be left free. Error: it has not.
[[nodiscard]] Expected<void> fits(const Terms& terms, const Platform& platform);

/// Why no winner answers, where none is stored.
inline constexpr std::string_view kNoWinner = "no winner is stored for this problem and launch";

/// The knowledge that is left where no measured time answers.
struct Unmeasured {
  const Platform& platform;
  /// Called only where it is needed.
  std::function<const Expected<LearnedModel>&()> model;
  /// Why no winner answers.
  std::string why{kNoWinner};
  /// With free SMs: the answer for all SMs, if there is one.
  std::optional<Answer> on_all_sms{};
};

/// The answer where no measured time answers: predicted, or the baseline. The reason says why no
/// winner answers, and why nothing better is known. Error (`bad_input`): nothing is known of the
/// strategies that the terms allow, and `sequential` is not one of them.
[[nodiscard]] Expected<Answer> answer_unmeasured(const Unmeasured& known, const Problem& problem,
                                                 const Terms& terms);

/// The strategies that the model may propose: those that were measured on the platform, of those
/// that are allowed. Empty: all. Error: none of the allowed ones was measured.
[[nodiscard]] Expected<std::vector<Strategy>> proposed(const LearnedModel& model, Op op,
                                                       const Terms& terms);

/// The baseline with a reason. Error: as above.
[[nodiscard]] Expected<Answer> baseline_answer(std::string why, const Terms& terms);

}  // namespace overlaptune
