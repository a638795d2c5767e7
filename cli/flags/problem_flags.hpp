#pragma once
// The flags that name a workload or a question.

#include <cstdint>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/flags/one_problem.hpp"
#include "core/platform.hpp"
#include "core/problem.hpp"
#include "workload/workload.hpp"

namespace overlaptune::cli {

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
