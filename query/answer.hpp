#pragma once
// The config that answers a query, with its source: exact, predicted, or the baseline.

#include <functional>
#include <memory>
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

namespace overlaptune {

enum class Source {
  exact,      ///< a winner validated on this platform
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

/// The answer where no winner answers: predicted, or the baseline. The reason says why there is no
/// winner (`why`), and why nothing better is known. `model` is called only where it is needed.
[[nodiscard]] Answer answer_without_winner(
    const Platform& platform, const Problem& problem, Launch launch,
    const std::function<const Expected<LearnedModel>&()>& model,
    std::string_view why = "no winner is stored for this problem and launch");

class AnswerSnapshot;

/// What the system database has for a platform (query/system_database.hpp); null where there is
/// none. Throws `Failure`, as `Store` does, if the user named the file and it cannot be read.
[[nodiscard]] std::shared_ptr<const AnswerSnapshot> system_answers(const Platform& platform);

/// Answers for one platform of an open database. The first question that needs the model fits it;
/// later predictions take under a millisecond. One thread at a time may use it and the store, which
/// must outlive it.
class Lookup {
 public:
  /// `system`: what the system database has for the platform (`system_answers`); null: nothing.
  Lookup(const Store& store, StoredPlatform platform,
         std::shared_ptr<const AnswerSnapshot> system = nullptr);

  /// Always an answer: where there is no better one, a `baseline` with the reason. Throws `Failure`
  /// as `Store` does.
  [[nodiscard]] Answer operator()(const Problem& problem, Launch launch);

  /// The model, fitted to the probes and taught by the candidates. Error: something was not probed;
  /// the message names it.
  [[nodiscard]] const Expected<LearnedModel>& model();

 private:
  const Store* store_;
  StoredPlatform platform_;
  std::shared_ptr<const AnswerSnapshot> system_;
  std::optional<Expected<LearnedModel>> model_;
};

}  // namespace overlaptune
