#pragma once
// The question of `query`: one problem on one stored platform.

#include "cli/flags/problem_flags.hpp"
#include "db/store.hpp"
#include "query/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

class Question {
 public:
  /// Throws `Failure` for a problem that is not valid or does not fit the platform, for a database
  /// or platform that does not exist, and where several platforms are stored and none is named.
  explicit Question(const QuestionFlags& flags) : Question(flags, read_problem(flags.problem)) {}

  /// The answer to these terms, for the launch of the flags. Throws `Failure` (`bad_input`) where
  /// nothing was ever probed on the platform and no winner is stored: an answer would only be a
  /// guess. Likewise where nothing is known of what is allowed.
  [[nodiscard]] Answer answer(Terms terms = {});

  /// The recipe of the problem's weight for up to as many rows as the problem has. Throws as
  /// `answer`.
  [[nodiscard]] RecipeAnswer recipe(Terms terms = {});

  /// The fitted model. Throws `Failure` (`bad_input`), naming what was not probed.
  [[nodiscard]] const LearnedModel& model();

  /// Whether the answer's plan may use NVLink multicast, and what that means for its times.
  [[nodiscard]] std::string multicast(const Answer& answer) const;
  /// The predicted time of a GEMM and NCCL's own ring, where the answer is another `sequential`
  /// that was predicted: its baseline is the answer itself, and tells nothing.
  [[nodiscard]] std::optional<Microseconds> nccl_ring(const Answer& answer);
  /// `reason`, `platform`, …, `ranges`, `text`: the fields of `query --family --json`.
  [[nodiscard]] OrderedJson document(const RecipeAnswer& answer) const;
  /// `source`, `reason`, `platform`, …, `multicast`: the fields of `query --json`.
  [[nodiscard]] OrderedJson document(const Answer& answer);

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Assumptions& assumptions() const { return assumptions_; }
  [[nodiscard]] Launch launch() const { return launch_; }
  [[nodiscard]] const Platform& platform() const { return platform_.platform; }

 private:
  Question(const QuestionFlags& flags, AskedProblem asked);

  Problem problem_;
  Assumptions assumptions_;
  Launch launch_;
  Store store_;
  StoredPlatform platform_;
  AnswerSnapshot answers_;
};

}  // namespace overlaptune::cli
