#include "cli/flags/problem_flags.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/environment.hpp"
#include "core/base/text_file.hpp"
#include "workload/problem_file.hpp"

namespace overlaptune::cli {
namespace {

Workload of_model(const WorkloadFlags& flags) {
  if (flags.tp == 0) refuse("--model needs --tp N: over how many GPUs the model is divided");
  if (flags.tokens.empty()) refuse("--model needs --tokens, as in --tokens 1k,4k,16k");
  WorkloadOptions options{.tp = flags.tp, .tokens = flags.tokens};
  if (flags.sequence_parallel == "only") options.parallelism = {Parallelism::sequence};
  if (flags.sequence_parallel == "both") options.parallelism.push_back(Parallelism::sequence);
  return workload_of(flags.model, options, flags.reading);
}

std::vector<Problem> parse_all(const std::vector<std::string>& texts) {
  std::vector<Problem> problems;
  for (const std::string& text : texts) {
    const Problem problem = value_or_throw(parse_problem(text));
    if (std::find(problems.begin(), problems.end(), problem) != problems.end()) {
      refuse("--problem {}: given twice: expected each problem once", text);
    }
    problems.push_back(problem);
  }
  return problems;
}

}  // namespace

void add_workload_flags(CLI::App& command, WorkloadFlags& flags) {
  auto* model =
      add_text(command, "--model FILE", flags.model, "Hugging Face config.json of a model");
  auto* problem = add_text(command, "--problem OP:M,N,K:dtype:ranks", flags.problems,
                           "One problem; may be repeated")
                      ->allow_extra_args(false);
  auto* file =
      add_text(command, "--problems FILE", flags.file, "CSV with the header op,m,n,k,dtype,ranks");
  model->excludes(problem)->excludes(file);
  problem->excludes(file);
  add_parsed(command, "--tp N", flags.tp, whole_number(2, kMostRanks),
             "GPUs that --model is divided over")
      ->needs(model);
  add_parsed(command, "--tokens SIZE,...", flags.tokens, parse_sizes,
             "Tokens of a pass, as in 1k,4k,16k")
      ->needs(model);
  command
      .add_option("--sequence-parallel", flags.sequence_parallel,
                  "Problems of --model under sequence parallelism instead of plain TP; both: under "
                  "each")
      ->expected(0, 1)
      ->default_str("only")
      ->type_name("[only|both]")
      ->check(CLI::IsMember({"only", "both"}))
      ->needs(model);
  add_assume_dense_flag(command, flags.reading)->needs(model);
}

Expected<std::vector<std::int64_t>> parse_sizes(const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    const auto size = parse_size(part);
    if (!size) return error_of(size);
    sizes.push_back(*size);
  }
  return sizes;
}

ModelConfig model_of(const std::string& file, const ReadingOptions& reading) {
  ModelConfig config = value_or_throw(read_model_config(file, reading));
  if (called(file) != file) config.name = called(file);
  return config;
}

Workload workload_of(const std::string& model, const WorkloadOptions& options,
                     const ReadingOptions& reading) {
  const ModelConfig config = model_of(model, reading);
  auto result = workload(config, options);
  if (!result) {
    // A flag is not the file's fault.
    const std::string& message = result.error().message;
    refuse("{}", message.starts_with("--") ? message : fmt::format("{}: {}", model, message));
  }
  return std::move(*result);
}

Workload read_workload(const WorkloadFlags& flags) {
  if (!flags.model.empty()) return of_model(flags);
  if (!flags.file.empty()) return {.problems = value_or_throw(read_problems(flags.file))};
  if (!flags.problems.empty()) return {.problems = parse_all(flags.problems)};
  refuse("no problem given: expected --model, --problem or --problems");
}

CLI::Option* add_launch_flag(CLI::App& command, Launch& launch) {
  return add_parsed(command, "--launch LAUNCH", launch, parse_name<Launch>,
                    "graph (the default), eager, exclusive_graph or exclusive_eager");
}

void add_question_flags(CLI::App& command, QuestionFlags& flags) {
  add_database_flag(command, flags.database);
  add_problem_flags(command, flags.problem);
  add_platform_flag(command, flags.platform);
  add_launch_flag(command, flags.launch);
}

CLI::Option* add_platform_flag(CLI::App& command, std::string& name) {
  return add_text(
      command, "--platform NAME", name,
      "Stored platform, as in sim:h200-nvlink-x8, or its fingerprint (default: the only one)");
}

CLI::Option* add_database_flag(CLI::App& command, std::string& file) {
  return add_text(command, "--db FILE", file, "Database")
      ->required()
      ->envname(kDatabaseVariable)
      ->check(CLI::Validator(
          [](const std::string& name) {
            return name.empty() ? std::string("expected the name of a file") : std::string();
          },
          ""));
}

}  // namespace overlaptune::cli
