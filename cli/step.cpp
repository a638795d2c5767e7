// overlaptune step: which operation of a layer, a pass or a training step runs when.

#include "reports/plans/step.hpp"

#include <cmath>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/flags/machine_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/flags/usage_errors.hpp"
#include "cli/interrupt.hpp"
#include "cli/output/assumptions.hpp"
#include "cli/output/step_output.hpp"
#include "cli/quick_probes.hpp"
#include "core/base/environment.hpp"
#include "core/base/text_file.hpp"
#include "core/base/units.hpp"
#include "query/measured_platform.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMostPutOff = 10'000;
constexpr int kMostReplicas = 1 << 20;
constexpr std::int64_t kMostSequences = 1 << 20;

struct StepFlags {
  CommonFlags common{};
  std::string model{};
  ReadingOptions reading{};
  std::string graph{};
  MachineFlags machine{.name = ""};
  std::string database{};
  std::string platform{};
  std::string sequence_parallel = "yes";
  std::string gradient_norm = "yes";
  std::string trace{};
  StepShape shape{};
  KnownRates known{};
};

PlannedStep from_graph(const StepFlags& flags) {
  const std::string text = value_or_throw(read_text_file(flags.graph));
  return {.source = flags.graph,
          .name = called(flags.graph),
          .plan = plan_graph(value_or_throw(parse_task_graph(text, flags.graph)))};
}

PlannedStep planned(const StepFlags& flags, const ModelConfig& config,
                    const MeasuredPlatform& measured) {
  PlannedStep made = plan_model_step(config, flags.shape, flags.known, measured.step_grounds());
  made.source = flags.model;
  return made;
}

PlannedStep from_database(const StepFlags& flags) {
  const ModelConfig config = model_of(flags.model, flags.reading);
  return planned(flags, config, MeasuredPlatform::of_database(flags.database, flags.platform));
}

/// From a quick probing of the machine. Nothing is stored.
PlannedStep from_machine(const StepFlags& flags) {
  const ModelConfig config = model_of(flags.model, flags.reading);
  const auto machine = open(flags.machine, flags.common);
  const Platform platform = machine->platform();
  std::vector<int> ranks;
  for (const int count : {flags.shape.tp, flags.shape.dp}) {
    if (count < 2 || count > platform.gpu_count || (!ranks.empty() && ranks.back() == count)) {
      continue;
    }
    ranks.push_back(count);
  }
  if (ranks.empty()) ranks.push_back(2);  // the model needs some collective
  catch_interrupts();
  warn_if_simulated(flags.machine, *machine);
  return planned(flags, config,
                 MeasuredPlatform::of_measurements(
                     platform, quick_measurements(*machine, ranks, elements_of(config))));
}

void check_flags(const StepFlags& flags) {
  if (flags.graph.empty() == flags.model.empty()) {
    refuse("expected --model FILE with --db or --machine, or --graph FILE");
  }
  if (!flags.graph.empty()) return;
  if (flags.database.empty() && flags.machine.name.empty()) {
    refuse("--db: missing beside --model: expected a database, or --machine NAME to probe it now");
  }
  if (flags.shape.tokens == 0) refuse("--tokens: missing beside --model: expected a number");
}

int run_step(const StepFlags& flags, const Session& /*session*/) {
  check_flags(flags);
  const PlannedStep planned = !flags.graph.empty()         ? from_graph(flags)
                              : flags.machine.name.empty() ? from_database(flags)
                                                           : from_machine(flags);
  if (!flags.trace.empty()) {
    write_file(flags.trace, trace_of(planned.plan, "step of " + planned.source));
  }
  if (flags.common.json) {
    print_json(cli::document(planned));
  } else {
    print(cli::text(planned));
  }
  return kDone;
}

Expected<std::optional<double>> read_rate(const std::string& text) {
  double value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || rest != text.data() + text.size() || !(value > 0 && value < 1e6)) {
    return bad_input(fmt::format("'{}': expected a number above 0 and below 10^6", text));
  }
  return std::optional(value);
}

Expected<std::int64_t> read_tokens(const std::string& text) {
  auto size = parse_size(text);
  if (size && (*size < 1 || *size > kLargestSize)) {
    return bad_input(fmt::format("'{}': expected 1 to 2^31 - 1", text));
  }
  return size;
}

}  // namespace

void add_step(CLI::App& root, Session& session) {
  auto flags = std::make_shared<StepFlags>();
  CLI::App* command = add_command(
      root, "step", "Schedules a layer, a pass or a training step to hide its communication",
      "overlaptune step --db f.db --model examples/models/llama-3-70b.json --tp 8 --dp 16 \\\n"
      "    --tokens 8k --data-parallel-gb-per-s 50 --trace step.json",
      flags->common);
  command->add_option("--model", flags->model, "Hugging Face config.json of the model")
      ->type_name("FILE");
  add_assume_dense_flag(*command, flags->reading);
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
  add_parsed(*command, "--tp", flags->shape.tp, whole_number(1, kMostRanks),
             "GPUs that a layer is divided over (1)")
      ->type_name("N");
  add_parsed(*command, "--dp", flags->shape.dp, whole_number(1, kMostReplicas),
             "Replicas of the model, whose gradients are summed (1)")
      ->type_name("N");
  command
      ->add_option("--sequence-parallel", flags->sequence_parallel,
                   "yes (the default): all-gather and reduce-scatter; no: all-reduce (plain TP)")
      ->type_name("yes|no")
      ->check(CLI::IsMember({"yes", "no"}));
  command
      ->add_option("--gradient-norm", flags->gradient_norm,
                   "yes (the default): the optimiser waits for the norm of all gradients")
      ->type_name("yes|no")
      ->check(CLI::IsMember({"yes", "no"}));
  add_parsed(*command, "--micro-batch", flags->shape.micro_batch,
             whole_number(std::int64_t{1}, kMostSequences), "Sequences of a micro-batch (1)")
      ->type_name("N");
  add_parsed(*command, "--tokens", flags->shape.tokens, read_tokens,
             "Tokens of a sequence, as in 8k")
      ->type_name("SIZE");
  add_parsed(*command, "--put-off", flags->shape.put_off_layers, whole_number(0, kMostPutOff),
             "Layers by which weight gradients may be put off, which costs memory (1)")
      ->type_name("LAYERS");
  add_parsed(*command, "--scope", flags->shape.scope, parse_name<Scope>,
             "What is planned: " + names_of<Scope>() + " (a training step, the default)")
      ->type_name("SCOPE");
  add_parsed(
      *command, "--memory-gb-per-s", flags->known.memory_gb_per_s, read_rate,
      "Rate of the GPU's memory (default: times stored by scripts/compare-step --store, else "
      "0.9 of the data sheet's, else as probed)")
      ->type_name("RATE");
  add_parsed(*command, "--attention-tflops", flags->known.attention_tflops, read_rate,
             "Rate of attention's two products (default: times stored by scripts/compare-step "
             "--store, else 0.7 of a large GEMM's)")
      ->type_name("RATE");
  add_parsed(
      *command, "--data-parallel-gb-per-s", flags->known.data_parallel_gb_per_s, read_rate,
      "Rate of a GPU's links between replicas (default: collectives of --dp ranks as probed)")
      ->type_name("RATE");
  command->add_option("--graph", flags->graph, "A graph of tasks as JSON, instead of a model")
      ->type_name("FILE");
  command
      ->add_option("--trace", flags->trace, "File for the schedule, to open with ui.perfetto.dev")
      ->type_name("FILE");
  command->callback([&session, flags] {
    if (flags->database.empty() && flags->machine.name.empty()) {
      flags->database = environment().database.value_or("");
    }
    flags->shape.sequence_parallel = flags->sequence_parallel == "yes";
    flags->shape.gradient_norm = flags->gradient_norm == "yes";
    session.action = [&session, flags] { return run_step(*flags, session); };
  });
}

}  // namespace overlaptune::cli
