// overlaptune whatif --model: does a training step hide the all-reduce of its gradients?

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/flags/problem_flags.hpp"
#include "cli/whatif.hpp"
#include "core/base/readable.hpp"
#include "planning/whatif/cluster_file.hpp"
#include "planning/whatif/gradients.hpp"

namespace overlaptune::cli {
namespace {

using Step = cluster::HiddenAllReduce;

OrderedJson json_of_step(const Step& step, const WhatIfFlags& flags) {
  return {{"cluster", step.all_reduce.cluster},
          {"parameters", step.synchronisation.parameters},
          {"data_parallel", flags.data_parallel},
          {"tensor_parallel", flags.tensor_parallel},
          {"gradient_bytes", static_cast<std::int64_t>(step.synchronisation.gradient_bytes)},
          {"all_reduce_us", step.all_reduce.estimate.us},
          {"compute_us_per_token", step.synchronisation.us_per_token},
          {"hiding_tokens_per_replica", step.tokens},
          {"hiding_tokens", step.tokens * flags.data_parallel},
          {"all_reduce", json_of(step.all_reduce)}};
}

/// The answer for one cluster, in a line.
std::string sentence(const Step& step, const std::string& model, int replicas) {
  return fmt::format(
      "A step of {} hides the all-reduce of its gradients on {} from {:.0f} tokens a replica "
      "({:.0f} in all): {} take {}{}\n",
      model, step.all_reduce.cluster, step.tokens, step.tokens * replicas,
      readable(Bytes{static_cast<std::int64_t>(step.synchronisation.gradient_bytes)}),
      time_of(step.all_reduce), grounds(step.all_reduce.calibrated_by));
}

}  // namespace

int whatif_of_model(const WhatIfFlags& flags) {
  if (flags.data_parallel == 0) {
    refuse("--data-parallel: missing beside --model: expected a number of replicas");
  }
  const ModelConfig config = model_of(flags.model, flags.reading);
  OrderedJson list = OrderedJson::array();
  Table table{.name = "step",
              .columns = columns_of("cluster, gradients GB:2, all-reduce ms:2, algorithm, bound "
                                    "by, compute us/token:2, tokens a replica:0, tokens a step:0")};
  std::int64_t parameters = 0;
  std::string sentences;
  std::string source;
  for (const std::string& name : flags.clusters) {
    const auto cluster = value_or_throw(cluster::find_cluster(name));
    const MeasuredTimes measured = measured_times(flags, cluster::Operation::all_reduce);
    warn_of(cluster, measured);
    const Step step = cluster::hidden_all_reduce(
        config, cluster, measured,
        {.tensor_parallel = flags.tensor_parallel, .utilisation = flags.utilisation},
        flags.data_parallel);
    const cluster::AlgorithmTime& best = step.all_reduce.estimate.algorithms.front();
    parameters = step.synchronisation.parameters;
    source = step.all_reduce.calibrated_by;
    list.push_back(json_of_step(step, flags));
    sentences += sentence(step, config.name, flags.data_parallel);
    table.rows.push_back({step.all_reduce.cluster, step.synchronisation.gradient_bytes / 1e9,
                          step.all_reduce.estimate.us / 1e3, cell(best.algorithm), best.bound_by,
                          step.synchronisation.us_per_token, step.tokens,
                          step.tokens * flags.data_parallel});
  }
  Assumptions assumptions = assumptions_of(config);
  if (config.vocabulary == 0) {
    assumptions.sentences.emplace_back(
        "vocab_size is not in the file: the weights of embeddings are not counted");
  }
  if (flags.common.json) {
    for (OrderedJson& answer : list) add_assumptions(answer, assumptions);
    print_json(list.size() == 1 ? list.front() : OrderedJson{{"answers", std::move(list)}});
    return kDone;
  }
  const std::string text = fmt::format(
      "{}{} replicas of {}, {:.2f} billion weights; assumed: a step reaches {:.0f} % of the data "
      "sheet's rate, and the backward pass, two thirds of it, hides{}{}\n\n{}",
      sentences, flags.data_parallel,
      flags.tensor_parallel == 1 ? "1 GPU" : fmt::format("{} GPUs", flags.tensor_parallel),
      static_cast<double>(parameters) / 1e9, 100 * flags.utilisation,
      assumptions.sentences.empty() ? "" : "; ", fmt::join(assumptions.sentences, "; "),
      to_markdown(with_calibration(std::move(table), source)));
  print(marked_lines(text, assumptions));
  return kDone;
}

}  // namespace overlaptune::cli
