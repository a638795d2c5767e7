// overlaptune advise: what overlap gains for a whole model.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/advice_headline.hpp"
#include "cli/output/advice_output.hpp"
#include "cli/output/assumptions.hpp"
#include "cli/output/thresholds_output.hpp"
#include "cli/quick_probes.hpp"
#include "core/base/environment.hpp"
#include "query/measured_platform.hpp"

namespace overlaptune::cli {
namespace {

struct AdviseFlags {
  CommonFlags common{};
  MachineFlags machine{.name = ""};
  std::string database{};
  std::string platform{};
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

/// Predictions from a quick probing of the machine. Nothing is stored.
MeasuredPlatform from_machine(const AdviseFlags& flags, const ModelConfig& config) {
  const auto machine = open(flags.machine, flags.common);
  const Platform platform = machine->platform();
  std::vector<int> ranks;
  for (const int tp : flags.options.tp.empty() ? std::vector{2, 4, 8} : flags.options.tp) {
    if (tp <= platform.gpu_count) ranks.push_back(tp);
  }
  catch_interrupts();
  warn_if_simulated(flags.machine, *machine);
  return MeasuredPlatform::of_measurements(
      platform, quick_measurements(*machine, ranks, elements_of(config)));
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

int run_advise(const AdviseFlags& flags, const Session& /*session*/) {
  if (flags.database.empty() == flags.machine.name.empty()) {
    throw Failure(ErrorKind::bad_input,
                  "expected --db FILE with results, or --machine NAME to probe it now");
  }
  if (flags.options.tokens.empty()) {
    throw Failure(ErrorKind::bad_input,
                  "--tokens: missing: expected numbers of tokens, as in --tokens 1k,16k, or "
                  "--thresholds");
  }
  if (!flags.csv.empty() && !flags.thresholds) {
    throw Failure(ErrorKind::bad_input, "--csv: expected beside --thresholds");
  }
  const ModelConfig config = model_of(flags.model, flags.reading);
  check_sizes(config, flags);
  // Answers of a database are those that `query` has.
  const MeasuredPlatform measured =
      flags.database.empty() ? from_machine(flags, config)
                             : MeasuredPlatform::of_database(flags.database, flags.platform);
  const Platform& platform = measured.platform();
  const Advice advice = advise(config, flags.options, measured.adviser(flags.launch));
  if (advice.passes.empty()) {
    throw Failure(ErrorKind::bad_input,
                  advice.left_out.empty()
                      ? fmt::format("{}: no collective is stored: run `overlaptune probe` into "
                                    "this database first",
                                    full_name(platform))
                      : fmt::format("no answer for --tp {}: {}", advice.left_out.front().tp,
                                    advice.left_out.front().reason));
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
  print(flags.common.json ? json_text(json) : marked_lines(words, assumptions));
  return kDone;
}

}  // namespace

void add_advise(CLI::App& root, Session& session) {
  auto flags = std::make_shared<AdviseFlags>();
  CLI::App* command = add_command(
      root, "advise", "What overlap gains for a whole model: by operation, layer and pass",
      "overlaptune advise --model examples/models/llama-3-70b.json --tp 2,4,8 \\\n"
      "    --tokens 1k,4k,16k --machine sim:h200-nvlink-x8",
      flags->common);
  command->add_option("--model", flags->model, "Hugging Face config.json of the model")
      ->type_name("FILE")
      ->required();
  add_assume_dense_flag(*command, flags->reading);
  add_parsed(*command, "--tp", flags->options.tp, list_of(whole_number(2, kMostRanks)),
             "GPUs that the model is divided over (what was probed; with --machine 2,4,8)")
      ->type_name("N,...");
  add_parsed(*command, "--tokens", flags->options.tokens, list_of(parse_size),
             "Tokens of a pass, as in 1k,4k,16k (with --thresholds: 64 to 32k)")
      ->type_name("SIZE,...");
  command->add_flag("--thresholds", flags->thresholds,
                    "From which number of tokens overlap pays, for each product");
  command->add_option("--csv", flags->csv, "File for the thresholds, for a launcher")
      ->type_name("FILE");
  // --machine goes before the variable with the default of --db.
  auto* database = add_database_flag(*command, flags->database)->required(false)->envname("");
  auto* platform =
      command
          ->add_option(
              "--platform", flags->platform,
              "Stored platform, as in sim:h200-nvlink-x8, or its fingerprint (default: the "
              "only one)")
          ->type_name("NAME");
  auto* machine = command
                      ->add_option("--machine", flags->machine.name,
                                   "Machine to probe quickly now, instead of a database")
                      ->type_name("NAME")
                      ->excludes(database)
                      ->excludes(platform);
  add_profile_flag(*command, flags->machine);
  command->get_option("--profile")->needs(machine);
  command
      ->add_option("--sequence-parallel", flags->sequence_parallel,
                   "yes: all-gather and reduce-scatter; no: all-reduce (plain TP); both (the "
                   "default)")
      ->type_name("yes|no|both")
      ->check(CLI::IsMember({"yes", "no", "both"}));
  add_launch_flag(*command, flags->launch);
  command->callback([&session, flags] {
    if (flags->database.empty() && flags->machine.name.empty()) {
      flags->database = environment().database.value_or("");
    }
    if (flags->thresholds && flags->options.tokens.empty()) flags->options.tokens = usual_tokens();
    flags->options.parallelism = parallelism(flags->sequence_parallel);
    session.action = [&session, flags] { return run_advise(*flags, session); };
  });
}

}  // namespace overlaptune::cli
