#include "cli/flags/problem_flags.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

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

/// A way to name a problem: flags that belong together, and whether each is given.
using Way = std::vector<std::pair<std::string, bool>>;

std::vector<std::string> named(const Way& way, bool given) {
  std::vector<std::string> names;
  for (const auto& [flag, is_given] : way) {
    if (is_given == given) names.push_back(flag);
  }
  return names;
}

constexpr const char* kWays =
    "--problem OP:M,N,K:dtype:ranks, or --op, --m, --n, --k, --dtype and --ranks, or --model, "
    "--layer, --tokens and --tp";

/// The product that most layers have. The sentences name those of other sizes.
AskedProblem most_frequent(const std::vector<LayerGemm>& gemms, Assumptions assumptions) {
  const LayerGemm& most = *std::ranges::max_element(gemms, {}, &LayerGemm::times_per_pass);
  for (const LayerGemm& other : gemms) {
    if (other.problem == most.problem) continue;
    assumptions.sentences.push_back(fmt::format(
        "{} has other sizes in some layers: this is the one that a pass runs {} times; {} times it "
        "is {}",
        to_string(most.product), most.times_per_pass, other.times_per_pass,
        to_string(other.problem)));
  }
  return {.problem = most.problem, .assumptions = std::move(assumptions)};
}

AskedProblem of_layer(const ProblemFlags& flags) {
  const Workload work = workload_of(
      flags.model,
      {.tp = *flags.tp,
       .tokens = {*flags.tokens},
       .parallelism = {flags.sequence_parallel ? Parallelism::sequence : Parallelism::tensor}},
      flags.reading);
  std::vector<std::string_view> layers;
  std::vector<LayerGemm> own;
  for (const LayerGemm& gemm : work.gemms) {
    if (gemm.product == *flags.layer) own.push_back(gemm);
    layers.push_back(to_string(gemm.product));
  }
  if (!own.empty()) return most_frequent(own, {work.assumptions, work.assumed_dense});
  refuse("--layer {}: expected one of {}{}", to_string(*flags.layer), fmt::join(layers, ", "),
         flags.sequence_parallel
             ? ""
             : ", or --sequence-parallel, under which more products have a collective");
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

void add_problem_flags(CLI::App& command, ProblemFlags& flags) {
  add_parsed(command, "--problem OP:M,N,K:dtype:ranks", flags.problem, parse_problem,
             "The problem, as reports print it; or give the flags from --op to --ranks, or those "
             "from --model to --tp");
  add_parsed(command, "--op OP", flags.op, parse_name<Op>, names_of<Op>());
  const std::pair<const char*, std::optional<std::int64_t> ProblemFlags::*> sizes[] = {
      {"--m SIZE", &ProblemFlags::m},
      {"--n SIZE", &ProblemFlags::n},
      {"--k SIZE", &ProblemFlags::k}};
  for (const auto& [usage, size] : sizes) {
    add_parsed(command, usage, flags.*size, parse_size, "Size that one rank computes");
  }
  add_parsed(command, "--dtype DTYPE", flags.elements, parse_name<Elements>, names_of<Elements>());
  add_parsed(command, "--ranks N", flags.ranks, whole_number(2, kMostRanks),
             "GPUs of the tensor-parallel group");
  add_text(command, "--model FILE", flags.model, "Hugging Face config.json of a model");
  add_parsed(command, "--layer NAME", flags.layer, parse_name<Product>,
             "Product of a layer of --model: o, down, qkv, gate_up, combine, ...");
  add_parsed(command, "--tokens SIZE", flags.tokens, parse_size, "Tokens of a pass of --model");
  add_parsed(command, "--tp N", flags.tp, whole_number(2, kMostRanks),
             "GPUs that --model is divided over");
  command.add_flag("--sequence-parallel", flags.sequence_parallel,
                   "The layer of --model under sequence parallelism instead of plain TP");
  add_assume_dense_flag(command, flags.reading);
}

AskedProblem read_problem(const ProblemFlags& flags) {
  const std::array<Way, 3> ways{{{{"--problem", flags.problem.has_value()}},
                                 {{"--op", flags.op.has_value()},
                                  {"--m", flags.m.has_value()},
                                  {"--n", flags.n.has_value()},
                                  {"--k", flags.k.has_value()},
                                  {"--dtype", flags.elements.has_value()},
                                  {"--ranks", flags.ranks.has_value()}},
                                 {{"--model", !flags.model.empty()},
                                  {"--layer", flags.layer.has_value()},
                                  {"--tokens", flags.tokens.has_value()},
                                  {"--tp", flags.tp.has_value()}}}};
  std::vector<const Way*> begun;
  for (const Way& way : ways) {
    if (!named(way, true).empty()) begun.push_back(&way);
  }
  if (begun.empty()) refuse("no problem given: expected {}", kWays);
  if (begun.size() > 1) {
    refuse("{} and {}: give one of {}", named(*begun[0], true).front(),
           named(*begun[1], true).front(), kWays);
  }
  if (const auto missing = named(*begun.front(), false); !missing.empty()) {
    refuse("{}: missing beside {}", fmt::join(missing, ", "),
           fmt::join(named(*begun.front(), true), ", "));
  }
  if (flags.sequence_parallel && flags.model.empty()) {
    refuse("--sequence-parallel: expected only beside --model");
  }
  if (flags.problem) return {.problem = *flags.problem};
  if (!flags.model.empty()) return of_layer(flags);
  return {.problem = value_or_throw(validated({.op = *flags.op,
                                               .m = *flags.m,
                                               .n = *flags.n,
                                               .k = *flags.k,
                                               .elements = *flags.elements,
                                               .ranks = *flags.ranks}))};
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
