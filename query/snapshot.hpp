#pragma once
// The results for one platform that some databases had at one moment, ready to answer.

#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/config/recipe.hpp"
#include "query/answer.hpp"
#include "query/elsewhere.hpp"
#include "query/measured_configs.hpp"
#include "query/platform_choice.hpp"
#include "query/problem_key.hpp"
#include "query/winners.hpp"

namespace overlaptune {

struct RecipeAnswer {
  Recipe recipe{};
  std::string reason{};  ///< where its configs come from, in one line
};

/// Answers for one platform, for any number of threads. No file is open between calls, so neither a
/// change of the files nor a fork changes an exact answer.
class AnswerSnapshot {
 public:
  /// Reads the files. Results of an earlier file hide those of later ones for the same question.
  /// The system database, if any, answers after all of them, for a platform that is alike; a
  /// platform that is named may also be one of its. Throws `Failure` as `Store` does, and with the
  /// errors of `choose_platform`.
  AnswerSnapshot(std::vector<std::filesystem::path> files, const PlatformWish& wish,
                 const std::optional<SystemDatabase>& system = {});

  /// The answer of what the terms allow. One that took a search is cached. The first that needs
  /// them reads the measurements and candidates, and fits the model; if that fails, the failure is
  /// the reason in this answer and in all later ones. Error: as `answer_unmeasured` and `fits`.
  [[nodiscard]] Expected<Answer> answer(const Problem& problem, const Terms& terms) const;
  /// The answer where all is allowed: there always is one.
  [[nodiscard]] Answer answer(const Problem& problem, Launch launch) const;

  /// How to run a weight with any number of rows up to `most_rows`, as far as the answers for
  /// single problems and the model say it. Numbers of rows with a winner have its config. Each call
  /// makes it anew, which takes up to a second. Error: as `answer`; sizes that no problem may have.
  [[nodiscard]] Expected<RecipeAnswer> recipe(const Weight& weight, std::int64_t most_rows,
                                              const Terms& terms) const;

  /// The model, fitted to the probes and taught by the candidates. Error: something was not probed;
  /// the message names it.
  [[nodiscard]] const Expected<LearnedModel>& model() const { return measured().model; }

  /// One line about the system database, for people; empty where there is none.
  [[nodiscard]] std::string about_system() const;

  [[nodiscard]] const PlatformChoice& platform() const { return choice_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  [[nodiscard]] std::size_t winners() const { return winners_.size(); }

 private:
  /// Measured configs, and the model that learned from them, read when the first question needs
  /// them.
  struct Measured {
    std::vector<MeasuredConfigs> files{};  ///< by file; the first that has one answers
    MeasuredConfigs elsewhere{};
    Expected<LearnedModel> model;
  };
  [[nodiscard]] const Measured& measured() const;
  [[nodiscard]] Measured read_measured() const;
  /// The winner of a problem and a launch, whether the terms of a question allow it or not; null if
  /// there is none.
  [[nodiscard]] const Answer* winner(const Problem& problem, Launch launch) const;
  /// The winner, where it answers: the terms allow it and leave all SMs to it. Null if not.
  [[nodiscard]] const Answer* winner(const Problem& problem, const Terms& terms) const;
  [[nodiscard]] Expected<Answer> made_without_winner(const Problem& problem,
                                                     const Terms& terms) const;
  /// The numbers of rows for which a winner of the weight is stored, for a launch, ascending.
  [[nodiscard]] std::set<std::int64_t> rows_of_winners(const Weight& weight, Launch launch) const;
  /// The answer of what was measured with all SMs; none where nothing allowed was.
  [[nodiscard]] std::optional<Answer> measured_answer(const Problem& problem,
                                                      const Terms& terms) const;
  /// The answer where there is no winner of this platform, sound or damaged, that is allowed, and
  /// the system database has one that was tuned elsewhere, or a measured config. Its times there
  /// are predictions for here.
  [[nodiscard]] std::optional<Answer> from_elsewhere(const Problem& problem,
                                                     const Terms& terms) const;

  std::vector<std::filesystem::path> files_;
  PlatformChoice choice_;
  Winners winners_;
  std::optional<SystemDatabase> system_;
  std::optional<Elsewhere> elsewhere_;
  std::string why_not_elsewhere_;  ///< why the system database could not be read
  /// The faults of damaged winners, by the problem that they say they have.
  std::unordered_map<PackedProblem, std::string, PackedProblemHash> damaged_;
  mutable std::mutex cache_mutex_;
  mutable std::unordered_map<QuestionKey, Expected<Answer>, QuestionKeyHash> cache_;
  mutable std::once_flag read_;
  mutable std::optional<Measured> measured_;
};

/// Text for people about the answer to one question: platform, files, config, times, reason. Throws
/// `Failure` where there is none.
[[nodiscard]] std::string explanation(const AnswerSnapshot& snapshot, const Problem& problem,
                                      const Terms& terms);

}  // namespace overlaptune
