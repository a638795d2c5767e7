// overlaptune advise: what overlap gains for a whole model.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/measured_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/output/advice_output.hpp"
#include "cli/output/assumptions.hpp"
#include "cli/output/thresholds_output.hpp"

namespace overlaptune::cli {
namespace {

struct AdviseFlags {
  CommonFlags common{};
  MeasuredFlags measured{};
  std::string model{};
  ReadingOptions reading{};
  std::string sequence_parallel = "both";
  AdviceOptions options{};
  Launch launch = Launch::graph;
  bool thresholds = false;
  std::string csv{};
};

/// The powers of two of `--thresholds` without `--tokens`.
std::vector<std::int64_t> usual_tokens() {
  std::vector<std::int64_t> list;
  for (std::int64_t tokens = 64; tokens <= 32'768; tokens *= 2) list.push_back(tokens);
  return list;
}

std::vector<Parallelism> parallelism(const std::string& text) {
  if (text == "yes") return {Parallelism::sequence};
  if (text == "no") return {Parallelism::tensor};
  return {Parallelism::sequence, Parallelism::tensor};
}

/// Refuses a workload before anything is opened or measured.
void check_sizes(const ModelConfig& config, const AdviseFlags& flags) {
  for (const int tp : flags.options.tp) {
    const auto list = layouts(config, flags.options, tp);
    if (list) continue;
    // A flag is not the file's fault.
    const std::string& message = list.error().message;
    throw Failure(ErrorKind::bad_input, message.starts_with("--")
                                            ? message
                                            : fmt::format("{}: {}", flags.model, message));
  }
}

int run_advise(const AdviseFlags& given, const Session& /*session*/) {
  AdviseFlags flags = given;
  flags.measured = with_default(given.measured);
  if (flags.thresholds && flags.options.tokens.empty()) flags.options.tokens = usual_tokens();
  flags.options.parallelism = parallelism(flags.sequence_parallel);
  if (flags.measured.database.empty() == flags.measured.machine.name.empty()) {
    refuse("expected --db FILE with results, or --machine NAME to probe it now");
  }
  if (flags.options.tokens.empty()) {
    refuse("--tokens: missing: expected numbers of tokens, as in --tokens 1k,16k, or --thresholds");
  }
  if (!flags.csv.empty() && !flags.thresholds) refuse("--csv: expected beside --thresholds");
  const ModelConfig config = model_of(flags.model, flags.reading);
  check_sizes(config, flags);
  // Answers of a database are those that `query` has.
  const MeasuredPlatform measured =
      measured_platform(flags.measured, flags.common, config, [&](int gpus) {
        std::vector<int> ranks = flags.options.tp;
        if (ranks.empty()) ranks = {2, 4, 8};
        std::erase_if(ranks, [&](int tp) { return tp > gpus; });
        return ranks;
      });
  const Platform& platform = measured.platform();
  const Advice advice = advise(config, flags.options, measured.adviser(flags.launch));
  if (advice.passes.empty() && advice.left_out.empty()) {
    refuse("{}: no collective is stored: run `overlaptune probe` into this database first",
           full_name(platform));
  }
  if (advice.passes.empty()) {
    const PassLeftOut& first = advice.left_out.front();
    refuse("no answer for --tp {}: {}", first.tp, first.reason);
  }
  const Advised advised{config, platform, flags.launch, advice};
  const Assumptions assumptions = assumptions_of(config);
  OrderedJson json = document(advised);
  add_assumptions(json, assumptions);
  std::string words = headline(advised, assumptions);
  if (flags.thresholds) {
    add_thresholds(json, advice);
    words += text_of_thresholds(advice, platform) + left_out_lines(advice) + note_lines(advised);
    if (!flags.csv.empty()) write_file(flags.csv, to_csv(launcher_table(advice, platform)));
  } else {
    words += "\n" + text(advised);
  }
  return print_either(flags.common, json, marked_lines(words, assumptions));
}

}  // namespace

void add_advise(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "advise", "What overlap gains for a whole model: by operation, layer and pass",
      "overlaptune advise --model examples/models/llama-3-70b.json --tp 2,4,8 \\\n"
      "    --tokens 1k,4k,16k --machine sim:h200-nvlink-x8",
      run_advise);
  add_text(command, "--model FILE", flags.model, "Hugging Face config.json of the model")
      ->required();
  add_assume_dense_flag(command, flags.reading);
  add_parsed(command, "--tp N,...", flags.options.tp, list_of(whole_number(2, kMostRanks)),
             "GPUs that the model is divided over (what was probed; with --machine 2,4,8)");
  add_parsed(command, "--tokens SIZE,...", flags.options.tokens, list_of(parse_size),
             "Tokens of a pass, as in 1k,4k,16k (with --thresholds: 64 to 32k)");
  command.add_flag("--thresholds", flags.thresholds,
                   "From which number of tokens overlap pays, for each product");
  add_text(command, "--csv FILE", flags.csv, "File for the thresholds, for a launcher");
  add_measured_flags(command, flags.measured);
  add_text(command, "--sequence-parallel yes|no|both", flags.sequence_parallel,
           "yes: all-gather and reduce-scatter; no: all-reduce (plain TP); both (the default)")
      ->check(CLI::IsMember({"yes", "no", "both"}));
  add_launch_flag(command, flags.launch);
}

}  // namespace overlaptune::cli
