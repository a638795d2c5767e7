#pragma once
// What some databases knew of one platform at one moment, ready to answer.

#include <filesystem>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "query/answer.hpp"
#include "query/answer_cache.hpp"
#include "query/platform_choice.hpp"
#include "query/winner_index.hpp"

namespace overlaptune {

/// Any number of threads may ask. No file is open between the calls, so that nothing that happens
/// to the files, nor a fork, changes an exact answer.
class Snapshot {
 public:
  /// The first file's results hide those that later ones have for the same question. Throws
  /// `Failure` as `Store` does, and as `choose_platform` says.
  Snapshot(std::vector<std::filesystem::path> files, const PlatformWish& wish);

  /// The winner of a validated problem; null if there is none.
  [[nodiscard]] const IndexedWinner* winner(const Problem& problem, Launch launch) const {
    return winners_.find(ProblemKey(problem, launch));
  }
  [[nodiscard]] std::span<const std::int64_t> wave_groups(const IndexedWinner& winner) const {
    return winners_.wave_groups(winner);
  }
  /// The reason of an exact answer, but for the time that ends it.
  [[nodiscard]] const std::string& exact_reason() const { return exact_reason_; }

  /// The answer where there is no winner: computed once, then remembered. The first one reads the
  /// measurements and fits the model; what fails then is the reason of all that follow.
  [[nodiscard]] AnswerCache::Value without_winner(const Problem& problem, Launch launch) const;

  [[nodiscard]] const PlatformChoice& platform() const { return choice_; }
  [[nodiscard]] const std::vector<std::filesystem::path>& files() const { return files_; }
  [[nodiscard]] std::size_t winners() const { return winners_.size(); }

 private:
  [[nodiscard]] const Expected<Model>& model() const;

  std::vector<std::filesystem::path> files_;
  PlatformChoice choice_;
  std::string exact_reason_;
  WinnerIndex winners_;
  mutable AnswerCache cache_;
  mutable std::once_flag fitted_;
  mutable std::optional<Expected<Model>> model_;
};

/// Lines for people about the answer to one question: platform, files, config, times, reason.
[[nodiscard]] std::string explanation(const Snapshot& snapshot, const Problem& problem,
                                      Launch launch);

}  // namespace overlaptune
