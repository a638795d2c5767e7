#include "cli/output/step_output.hpp"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/output/assumptions.hpp"
#include "cli/output/origin.hpp"
#include "core/base/readable.hpp"
#include "reports/plans/step.hpp"

namespace overlaptune::cli {
namespace {

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

}  // namespace

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

}  // namespace overlaptune::cli
