#pragma once
// The flags that name a workload or a question.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/output/assumptions.hpp"
#include "core/layer_gemm.hpp"
#include "core/platform.hpp"
#include "core/problem.hpp"
#include "workload/workload.hpp"

namespace overlaptune::cli {

/// The flags that name one problem, in one of three ways.
struct ProblemFlags {
  /// `--problem OP:M,N,K:dtype:ranks`
  std::optional<Problem> problem{};

  /// `--op`, `--m`, `--n`, `--k`, `--dtype`, `--ranks`
  std::optional<Op> op{};
  std::optional<std::int64_t> m{};
  std::optional<std::int64_t> n{};
  std::optional<std::int64_t> k{};
  std::optional<Elements> elements{};
  std::optional<int> ranks{};

  /// `--model`, `--layer`, `--tokens`, `--tp`, `--sequence-parallel`, `--assume-dense`
  std::string model{};
  ReadingOptions reading{};
  std::optional<Product> layer{};
  std::optional<std::int64_t> tokens{};
  std::optional<int> tp{};
  bool sequence_parallel = false;
};

void add_problem_flags(CLI::App& command, ProblemFlags& flags);

/// A problem, and what was assumed of the model whose layer it is.
struct AskedProblem {
  Problem problem{};
  Assumptions assumptions{};
};

/// The problem that the flags name. Throws `Failure` (`bad_input`) where they name none, name one
/// in two ways or in part, and for a problem that is not valid; the message names the flags.
[[nodiscard]] AskedProblem read_problem(const ProblemFlags& flags);

/// `--model …`, `--problem …` or `--problems …`.
struct WorkloadFlags {
  std::string model{};
  ReadingOptions reading{};
  int tp = 0;
  std::vector<std::int64_t> tokens{};
  std::string sequence_parallel{};  ///< empty, "only" or "both"
  std::vector<std::string> problems{};
  std::string file{};
};

void add_workload_flags(CLI::App& command, WorkloadFlags& flags);

/// Throws `Failure` (`bad_input`) for wrong flags, configs or files.
[[nodiscard]] Workload read_workload(const WorkloadFlags& flags);

/// Parses sizes as in `1k,4k,16k`. Error: as `parse_size`.
[[nodiscard]] Expected<std::vector<std::int64_t>> parse_sizes(const std::string& text);

/// The model in a config.json; one that came through a pipe is called as that is. Throws `Failure`
/// (`bad_input`) that names the file.
[[nodiscard]] ModelConfig model_of(const std::string& file, const ReadingOptions& reading);

/// The problems of the model in a config.json. Throws `Failure` (`bad_input`); the message names
/// the file or the flag.
[[nodiscard]] Workload workload_of(const std::string& model, const WorkloadOptions& options,
                                   const ReadingOptions& reading);

/// Adds `--launch`, with the values `graph` and `eager`.
CLI::Option* add_launch_flag(CLI::App& command, Launch& launch);

/// `--db`, the flags of a problem, `--platform`, `--launch`.
struct QuestionFlags {
  std::string database{};
  ProblemFlags problem{};
  std::string platform{};
  Launch launch = Launch::graph;
};

void add_question_flags(CLI::App& command, QuestionFlags& flags);

/// The flag `--platform NAME`, for a stored platform.
CLI::Option* add_platform_flag(CLI::App& command, std::string& name);

/// The flag `--db FILE`, required unless `kDatabaseVariable` (core/base/environment.hpp) is set.
CLI::Option* add_database_flag(CLI::App& command, std::string& file);

}  // namespace overlaptune::cli
