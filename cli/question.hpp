#pragma once
// One problem on one stored platform: what `query` and `predict` ask about.

#include "cli/problem_flags.hpp"
#include "db/store.hpp"
#include "query/answer.hpp"
#include "reports/table.hpp"

namespace overlaptune::cli {

class Question {
 public:
  /// Throws `Failure`: a problem that is not valid or does not fit the platform, no such database
  /// or platform, several platforms and none named.
  explicit Question(const QuestionFlags& flags);

  /// Throws `Failure` (`bad_input`) where nothing was ever probed on the platform and no winner is
  /// stored: an answer would only be a guess.
  [[nodiscard]] Answer answer();

  /// Throws `Failure` (`bad_input`): what was not probed.
  [[nodiscard]] const Model& model();

  /// `source`, `reason`, `platform`, …, `baseline_us`: the fields of `query --json`.
  [[nodiscard]] OrderedJson document(const Answer& answer) const;

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] Launch launch() const { return launch_; }
  [[nodiscard]] const Platform& platform() const { return platform_.platform; }

 private:
  Problem problem_;
  Launch launch_;
  Store store_;
  StoredPlatform platform_;
  Lookup lookup_;
};

}  // namespace overlaptune::cli
