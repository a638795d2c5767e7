#pragma once
// The config that answers a query, with its source: exact, predicted, or the baseline.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/error.hpp"
#include "core/names.hpp"
#include "core/platform.hpp"
#include "core/problem.hpp"
#include "db/store.hpp"
#include "model/learned_model.hpp"
#include "query/terms.hpp"

namespace overlaptune {

enum class Source {
  exact,  ///< a winner validated on this platform, or the fastest measured config of those allowed
  predicted,  ///< the model's choice, or a winner of another host with the same GPUs
  baseline,   ///< `sequential`: nothing better is known
};

template <>
struct NamesOf<Source> {
  static constexpr std::string_view what = "source";
  static constexpr std::array<Named<Source>, 3> all{
      {{Source::exact, "exact"}, {Source::predicted, "predicted"}, {Source::baseline, "baseline"}}};
};

struct Answer {
  Source source = Source::baseline;
  std::string reason{};  ///< why the answer has this source, in one line
  Config config{};
  std::optional<Microseconds> predicted{};
  std::optional<Microseconds> measured{};  ///< `exact` only
  /// `sequential` on the same problem: measured for `exact`, predicted otherwise; absent where the
  /// model cannot tell.
  std::optional<Microseconds> baseline{};
};

/// A model fitted to measurements, and taught by candidates. Error: as `Model::fit`.
[[nodiscard]] Expected<LearnedModel> learned_model(const Platform& platform,
                                                   std::span<const Measurement> measurements,
                                                   std::span<const Candidate> candidates);

/// The reason for which a stored winner does not answer; `fault` says what is wrong with it.
[[nodiscard]] std::string damaged_winner(std::string_view fault);

/// The reason for which a winner of this strategy does not answer: the terms do not allow it.
[[nodiscard]] std::string winner_not_allowed(Strategy strategy, const Terms& terms);

/// Whether a GPU of the platform has more SMs than are to be left free. Error: it has not.
[[nodiscard]] Expected<void> fits(const Terms& terms, const Platform& platform);

/// Why no winner answers, where none is stored.
inline constexpr std::string_view kNoWinner = "no winner is stored for this problem and launch";

struct MeasuredConfig;
class MeasuredConfigs;

/// The answer that a measured config of the platform is; `where` is the platform's name.
[[nodiscard]] Answer fastest_allowed(const MeasuredConfig& measured, const Terms& terms,
                                     std::string_view where);

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

/// The answer for an exclusive world, where nothing was measured without a gate, from the one for
/// the other worlds: its times are predictions.
[[nodiscard]] Expected<Answer> without_gate(Expected<Answer> behind_a_gate);

/// `answer_unmeasured` for a question that allows all, which always has an answer.
[[nodiscard]] Answer answer_without_winner(
    const Platform& platform, const Problem& problem, Launch launch,
    const std::function<const Expected<LearnedModel>&()>& model, std::string_view why);

/// The baseline with a reason. Error: as above.
[[nodiscard]] Expected<Answer> baseline_answer(std::string why, const Terms& terms);

}  // namespace overlaptune
