#pragma once
// The results for one platform that some databases had at one moment, ready to answer.

#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/answer.hpp"
#include "query/answer_cache.hpp"
#include "query/elsewhere.hpp"
#include "query/measured_configs.hpp"
#include "query/platform_choice.hpp"
#include "query/winner_index.hpp"

namespace overlaptune {

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

  /// The winner of a validated problem; null if there is none.
  [[nodiscard]] const IndexedWinner* winner(const Problem& problem, Launch launch) const {
    return winners_.find(ProblemKey(problem, launch));
  }
  [[nodiscard]] std::span<const std::int64_t> wave_groups(const IndexedWinner& winner) const {
    return winners_.wave_groups(winner);
  }
  /// The winner, where it answers: the terms allow it and leave all SMs to it. Null if not.
  [[nodiscard]] const IndexedWinner* winner(const Problem& problem, const Terms& terms) const {
    const IndexedWinner* const found = winner(problem, terms.launch);
    const bool answers =
        found != nullptr && terms.free_sms == 0 && allows(terms, strategy_of(found->config));
    return answers ? found : nullptr;
  }
  /// The answer where there is no winner of this platform, sound or damaged, that is allowed, and
  /// the system database has one that was tuned elsewhere, or a measured config. Its times there
  /// are predictions for here.
  [[nodiscard]] std::optional<Answer> from_elsewhere(const Problem& problem,
                                                     const Terms& terms) const;
  /// One line about the system database, for people; empty where there is none.
  [[nodiscard]] std::string about_system() const;

  [[nodiscard]] Answer exact_answer(const IndexedWinner& winner) const;
  /// The reason of an exact answer, without the time at its end.
  [[nodiscard]] const std::string& exact_reason() const { return exact_reason_; }

  /// The answer where no winner answers, computed once and then cached. The first call that needs
  /// them reads the measurements and candidates, and fits the model. If that fails, the failure is
  /// the reason in this answer and in all later ones. Error: as `answer_unmeasured`.
  [[nodiscard]] AnswerCache::Value without_winner(const Problem& problem, const Terms& terms) const;

  [[nodiscard]] const PlatformChoice& platform() const { return choice_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  [[nodiscard]] std::size_t winners() const { return winners_.size(); }

 private:
  /// What was read of measured configs, when the first question needed them.
  struct Measured {
    std::vector<MeasuredConfigs> files{};  ///< by file; the first that has one answers
    MeasuredConfigs elsewhere{};
    Expected<LearnedModel> model;
  };
  [[nodiscard]] const Measured& measured() const;
  [[nodiscard]] Measured read_measured() const;
  [[nodiscard]] Expected<Answer> made_without_winner(const Problem& problem,
                                                     const Terms& terms) const;
  [[nodiscard]] std::optional<Answer> measured_answer(const Problem& problem, const Terms& terms,
                                                      const IndexedWinner* winner) const;

  std::vector<std::filesystem::path> files_;
  PlatformChoice choice_;
  std::string exact_reason_;
  WinnerIndex winners_;
  std::optional<SystemDatabase> system_;
  std::optional<Elsewhere> elsewhere_;
  std::string why_not_elsewhere_;  ///< why the system database could not be read
  /// The faults of damaged winners, by the problem that they say they have.
  std::unordered_map<ProblemKey, std::string, ProblemKeyHash> damaged_;
  mutable AnswerCache cache_;
  mutable std::once_flag read_;
  mutable std::optional<Measured> measured_;
};

/// Text for people about the answer to one question: platform, files, config, times, reason. Throws
/// `Failure` where there is none.
[[nodiscard]] std::string explanation(const AnswerSnapshot& snapshot, const Problem& problem,
                                      const Terms& terms);

}  // namespace overlaptune
