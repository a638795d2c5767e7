// overlaptune step: which operation of a layer, a pass or a training step runs when.

#include "reports/plans/step.hpp"

#include <cmath>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "cli/flags/measured_flags.hpp"
#include "cli/flags/problem_flags.hpp"
#include "cli/output/assumptions.hpp"
#include "cli/output/origin.hpp"
#include "core/base/readable.hpp"
#include "core/base/text.hpp"
#include "core/base/text_file.hpp"
#include "core/base/units.hpp"
#include "planning/schedules/planned_step.hpp"

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
  MeasuredFlags measured{};
  std::string sequence_parallel = "yes";
  std::string gradient_norm = "yes";
  std::string trace{};
  StepShape shape{};
  KnownRates known{};
};

std::string_view words_for(Scope scope) {
  switch (scope) {
    case Scope::layer:
      return "a layer of ";
    case Scope::forward:
      return "a forward pass of ";
    case Scope::step:
      return "a training step of ";
  }
  return {};
}

double total(const std::map<std::string, double>& exposed) {
  double sum = 0;
  for (const auto& [traffic, time] : exposed) sum += time;
  return sum;
}

/// Communication that nothing hides, and what it was without overlap.
std::string exposure(const StepPlan& plan) {
  return fmt::format("{} of {} of communication stay exposed", readable(us(total(plan.exposed_us))),
                     readable(us(total(plan.sequential_exposed_us))));
}

std::string place(const PlannedStep& planned) {
  const StepShape& shape = planned.shape;
  return fmt::format("On {}, --tp {}{}, --dp {}, {} x {} tokens: ", full_name(*planned.platform),
                     shape.tp,
                     shape.sequence_parallel && shape.tp > 1 ? " with sequence parallelism" : "",
                     shape.dp, shape.micro_batch, readable_count(shape.tokens));
}

std::string headline(const PlannedStep& planned, std::string_view mark) {
  const bool model = planned.platform.has_value();
  std::string text =
      headline_of(planned.plan,
                  std::string(model ? words_for(planned.shape.scope) : "") + planned.name) +
      fmt::format("{}\n", mark);
  text += fmt::format("{}{}{}\n", model ? place(planned) : "", exposure(planned.plan), mark);
  if (model) {
    text += fmt::format("Costs: {}{}{}\n", fmt::join(planned.costs, "; "),
                        assumed(planned.assumptions), mark);
  }
  return text;
}

/// Lines that say what overlap gains, on what, and what was assumed; then tables and notes.
std::string text(const PlannedStep& planned) {
  const std::string_view mark = planned.platform ? simulated_mark(*planned.platform) : "";
  std::string text = headline(planned, mark);
  if (planned.plan.bucket_layers > 0) {
    text += fmt::format("Gradients in buckets of {} layers{}\n", planned.plan.bucket_layers, mark);
  }
  for (const Table& table :
       tables_of(planned.plan, planned.platform ? full_name(*planned.platform) : "")) {
    text += "\n" + to_markdown(table);
  }
  if (!planned.notes.empty()) text += "\n";
  for (const std::string& note : planned.notes) text += fmt::format("Note: {}{}\n", note, mark);
  return marked_lines(text, planned.assumptions);
}

/// The document of `step --json` (docs/step.md).
OrderedJson document(const PlannedStep& planned) {
  OrderedJson document = OrderedJson::object();
  if (planned.platform) {
    const StepShape& shape = planned.shape;
    document = {{"model", planned.source},
                {"scope", to_string(shape.scope)},
                {"tp", shape.tp},
                {"dp", shape.dp},
                {"sequence_parallel", shape.sequence_parallel},
                {"micro_batch", shape.micro_batch},
                {"tokens", shape.tokens},
                {"platform", planned.platform->name},
                {"fingerprint", fingerprint(*planned.platform)}};
    add_origin(document, *planned.platform);
  }
  document.update(json_of(planned.plan));
  document["notes"] = planned.costs;
  for (const std::string& note : planned.notes) document["notes"].push_back(note);
  if (planned.platform) add_assumptions(document, planned.assumptions);
  return document;
}

PlannedStep from_graph(const StepFlags& flags) {
  const std::string text = value_or_throw(read_text_file(flags.graph));
  return {.source = flags.graph,
          .name = called(flags.graph),
          .plan = plan_graph(value_or_throw(parse_task_graph(text, flags.graph)))};
}

/// The rank counts to probe for a step on a machine of so many GPUs.
std::vector<int> probed_ranks(const StepShape& shape, int gpus) {
  std::vector<int> ranks;
  for (const int count : {shape.tp, shape.dp}) {
    const bool is_known = !ranks.empty() && ranks.back() == count;
    if (count >= 2 && count <= gpus && !is_known) ranks.push_back(count);
  }
  if (ranks.empty()) ranks.push_back(2);  // the model needs some collective
  return ranks;
}

PlannedStep from_model(const StepFlags& flags) {
  const ModelConfig config = model_of(flags.model, flags.reading);
  const MeasuredPlatform measured =
      measured_platform(flags.measured, flags.common, config,
                        [&](int gpus) { return probed_ranks(flags.shape, gpus); });
  PlannedStep made = plan_model_step(config, flags.shape, flags.known, measured.step_grounds());
  made.source = flags.model;
  return made;
}

void check_flags(const StepFlags& flags) {
  if (flags.graph.empty() == flags.model.empty()) {
    refuse("expected --model FILE with --db or --machine, or --graph FILE");
  }
  if (!flags.graph.empty()) return;
  if (flags.measured.database.empty() && flags.measured.machine.name.empty()) {
    refuse("--db: missing beside --model: expected a database, or --machine NAME to probe it now");
  }
  if (flags.shape.tokens == 0) refuse("--tokens: missing beside --model: expected a number");
}

int run_step(const StepFlags& given, const Session& /*session*/) {
  StepFlags flags = given;
  flags.measured = with_default(given.measured);
  flags.shape.sequence_parallel = flags.sequence_parallel == "yes";
  flags.shape.gradient_norm = flags.gradient_norm == "yes";
  check_flags(flags);
  const PlannedStep planned = flags.graph.empty() ? from_model(flags) : from_graph(flags);
  if (!flags.trace.empty()) {
    write_file(flags.trace, trace_of(planned.plan, "step of " + planned.source));
  }
  return print_either(flags.common, document(planned), text(planned));
}

Expected<std::optional<double>> read_rate(const std::string& text) {
  const auto rate = parsed<double>(text);
  if (rate && *rate > 0 && *rate < 1e6) return rate;
  return bad_input(fmt::format("'{}': expected a number above 0 and below 10^6", text));
}

}  // namespace

void add_step(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "step",
      "Schedules a layer, a pass or a training step to hide its communication",
      "overlaptune step --db f.db --model examples/models/llama-3-70b.json --tp 8 --dp 16 \\\n"
      "    --tokens 8k --data-parallel-gb-per-s 50 --trace step.json",
      run_step);
  add_text(command, "--model FILE", flags.model, "Hugging Face config.json of the model");
  add_assume_dense_flag(command, flags.reading);
  add_measured_flags(command, flags.measured);
  add_parsed(command, "--tp N", flags.shape.tp, whole_number(1, kMostRanks),
             "GPUs that a layer is divided over (1)");
  add_parsed(command, "--dp N", flags.shape.dp, whole_number(1, kMostReplicas),
             "Replicas of the model, whose gradients are summed (1)");
  add_text(command, "--sequence-parallel yes|no", flags.sequence_parallel,
           "yes (the default): all-gather and reduce-scatter; no: all-reduce (plain TP)")
      ->check(CLI::IsMember({"yes", "no"}));
  add_text(command, "--gradient-norm yes|no", flags.gradient_norm,
           "yes (the default): the optimiser waits for the norm of all gradients")
      ->check(CLI::IsMember({"yes", "no"}));
  add_parsed(command, "--micro-batch N", flags.shape.micro_batch,
             whole_number(std::int64_t{1}, kMostSequences), "Sequences of a micro-batch (1)");
  add_parsed(command, "--tokens SIZE", flags.shape.tokens, size_of_bits(31),
             "Tokens of a sequence, as in 8k");
  add_parsed(command, "--put-off LAYERS", flags.shape.put_off_layers, whole_number(0, kMostPutOff),
             "Layers by which weight gradients may be put off, which costs memory (1)");
  add_parsed(command, "--scope SCOPE", flags.shape.scope, parse_name<Scope>,
             "What is planned: " + names_of<Scope>() + " (a training step, the default)");
  add_parsed(command, "--memory-gb-per-s RATE", flags.known.memory_gb_per_s, read_rate,
             "Rate of the GPU's memory (default: times stored by scripts/compare-step --store, "
             "else 0.9 of the data sheet's, else as probed)");
  add_parsed(command, "--attention-tflops RATE", flags.known.attention_tflops, read_rate,
             "Rate of attention's two products (default: times stored by scripts/compare-step "
             "--store, else 0.7 of a large GEMM's)");
  add_parsed(
      command, "--data-parallel-gb-per-s RATE", flags.known.data_parallel_gb_per_s, read_rate,
      "Rate of a GPU's links between replicas (default: collectives of --dp ranks as probed)");
  add_text(command, "--graph FILE", flags.graph, "A graph of tasks as JSON, instead of a model");
  add_text(command, "--trace FILE", flags.trace,
           "File for the schedule, to open with ui.perfetto.dev");
}

}  // namespace overlaptune::cli
