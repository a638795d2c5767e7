#include "planning/advice/advice.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {
namespace {

/// Whether the layers of one kind have the product. Products are declared in the order of a layer:
/// those of attention, which all layers have, those of a dense MLP, those of experts.
bool is_in(Product product, bool dense) {
  return product <= Product::o || dense == (product <= Product::down);
}

Times sum_of(const std::vector<Operation>& operations, bool dense) {
  Times sum;
  for (const Operation& operation : operations) {
    if (!is_in(operation.product, dense)) continue;
    sum.sequential += operation.sequential;
    sum.overlapped += operation.time;
  }
  return sum;
}

/// Whether each layer has attention of one size, and a dense MLP of one width or experts.
bool has_two_kinds_at_most(const ModelConfig& config) {
  return main_attention_layers(config) == config.layers && config.other_dense.empty() &&
         config.dense_layers + config.expert_layers == config.layers;
}

void add_sums(const ModelConfig& config, Pass& pass) {
  for (const Operation& operation : pass.operations) {
    const auto times = static_cast<double>(operation.times_per_pass);
    pass.times.sequential += times * operation.sequential;
    pass.times.overlapped += times * operation.time;
  }
  if (!has_two_kinds_at_most(config)) return;
  for (const bool dense : {true, false}) {
    const std::int64_t layers = dense ? config.dense_layers : config.expert_layers;
    if (layers == 0) continue;
    pass.layers.push_back(
        {.dense = dense, .layers = layers * config.loops, .times = sum_of(pass.operations, dense)});
  }
}

std::string why_no_time(const Adviser& adviser, int tp, const std::string& reason) {
  const Platform& platform = adviser.platform;
  if (tp > platform.gpu_count) {
    return fmt::format(
        "{} has {} GPUs, and the rate between nodes was not probed: expected `overlaptune probe "
        "--ranks {}` on {} GPUs, into a database",
        full_name(platform), platform.gpu_count, tp, tp);
  }
  if (adviser.probed.count(tp) == 0) {
    return fmt::format(
        "no collective on {} ranks is stored for {}: run `overlaptune probe --ranks {}` first", tp,
        full_name(platform), tp);
  }
  return reason;
}

Expected<Operation> answered(const LayerGemm& gemm, const Adviser& adviser) {
  Answer answer = adviser.ask(gemm.problem);
  const auto time = answer.source == Source::exact ? answer.measured : answer.predicted;
  if (!time || !answer.baseline) {
    return bad_input(fmt::format("{}: {}", to_string(gemm.product), answer.reason));
  }
  const Microseconds sequential = *answer.baseline;
  return Operation{.product = gemm.product,
                   .times_per_pass = gemm.times_per_pass,
                   .problem = gemm.problem,
                   .answer = std::move(answer),
                   .sequential = sequential,
                   .time = *time};
}

/// Completes an operation that has no choice of configs.
Expected<Operation> answered(Operation operation, const Probe& probe, const char* reason,
                             const Adviser& adviser) {
  const auto time = adviser.alone(probe);
  if (!time) {
    return bad_input(fmt::format("{}: {}", to_string(operation.product), time.error().message));
  }
  operation.answer = {
      .source = Source::predicted, .reason = reason, .predicted = *time, .baseline = *time};
  operation.sequential = *time;
  operation.time = *time;
  return operation;
}

Expected<Operation> answered(const PlainGemm& gemm, int tp, const Adviser& adviser) {
  return answered(
      {.product = gemm.product,
       .kind = OperationKind::gemm,
       .times_per_pass = gemm.times_per_pass,
       .problem = {.m = gemm.m, .n = gemm.n, .k = gemm.k, .elements = gemm.elements, .ranks = tp}},
      GemmProbe{.m = gemm.m, .n = gemm.n, .k = gemm.k, .elements = gemm.elements},
      "the model's time of the GEMM alone", adviser);
}

Expected<Operation> answered(const PlainCollective& alone, const Adviser& adviser) {
  return answered(
      {.product = alone.product,
       .kind = OperationKind::collective,
       .times_per_pass = alone.times_per_pass,
       .problem = {.op = alone.collective == Collective::all_to_all ? Op::gemm_all_to_all
                                                                    : Op::gemm_all_reduce,
                   .m = alone.rows,
                   .n = alone.columns,
                   .elements = alone.elements,
                   .ranks = alone.ranks}},
      CollectiveProbe{
          .collective = alone.collective, .bytes = bytes_of(alone), .ranks = alone.ranks},
      "the model's time of the collective alone", adviser);
}

/// The operations of a pass. Error: the first product that has no time.
Expected<std::vector<Operation>> operations(const Workload& work, int tp, const Adviser& adviser) {
  std::vector<Operation> list;
  for (const LayerGemm& gemm : work.gemms) {
    auto operation = answered(gemm, adviser);
    if (!operation) return error_of(operation);
    list.push_back(std::move(*operation));
  }
  for (const PlainGemm& gemm : work.plain_gemms) {
    auto operation = answered(gemm, tp, adviser);
    if (!operation) return error_of(operation);
    list.push_back(std::move(*operation));
  }
  for (const PlainCollective& alone : work.plain_collectives) {
    auto operation = answered(alone, adviser);
    if (!operation) return error_of(operation);
    list.push_back(std::move(*operation));
  }
  std::ranges::stable_sort(list, {}, &Operation::product);  // declared in the order of a layer
  return list;
}

void add_note(std::vector<std::string>& notes, const std::string& note) {
  if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
}

/// The pass of one layout, or why there is none.
void add_pass(Advice& advice, const ModelConfig& config, int tp, const LayoutWork& layout,
              const Adviser& adviser) {
  const auto& [tokens, parallelism, work] = layout;
  if (!work) {
    advice.left_out.push_back({tp, parallelism, tokens, work.error().message});
    return;
  }
  auto list = operations(*work, tp, adviser);
  if (!list) {
    advice.left_out.push_back(
        {tp, parallelism, tokens, why_no_time(adviser, tp, list.error().message)});
    return;
  }
  Pass pass{tp, parallelism, tokens, std::move(*list)};
  add_sums(config, pass);
  advice.passes.push_back(std::move(pass));
}

}  // namespace

Expected<std::vector<LayoutWork>> layouts(const ModelConfig& config, const AdviceOptions& options,
                                          int tp) {
  // Plain TP has the fewest conditions: what it refuses, nothing serves.
  const auto any = workload(config, {.tp = tp, .tokens = options.tokens});
  if (!any) return error_of(any);
  std::vector<LayoutWork> list;
  for (const std::int64_t tokens : options.tokens) {
    for (const Parallelism parallelism : options.parallelism) {
      list.push_back(
          {tokens, parallelism,
           workload(config, {.tp = tp, .tokens = {tokens}, .parallelism = {parallelism}})});
    }
  }
  const auto served = [](const LayoutWork& each) { return each.work.has_value(); };
  if (std::none_of(list.begin(), list.end(), served)) return error_of(list.front().work);
  return list;
}

Advice advise(const ModelConfig& config, const AdviceOptions& options, const Adviser& adviser) {
  Advice advice;
  const bool named = !options.tp.empty();
  const std::vector<int> sizes =
      named ? options.tp : std::vector<int>(adviser.probed.begin(), adviser.probed.end());
  std::vector<std::pair<int, std::vector<LayoutWork>>> works;
  for (const int tp : sizes) {
    auto list = layouts(config, options, tp);
    if (list) {
      works.emplace_back(tp, std::move(*list));
    } else if (named) {
      throw Failure(list.error());
    } else {
      advice.left_out.push_back({.tp = tp, .reason = list.error().message});
    }
  }
  for (const std::int64_t tokens : options.tokens) {
    for (const auto& [tp, list] : works) {
      for (const LayoutWork& layout : list) {
        if (layout.tokens == tokens) add_pass(advice, config, tp, layout, adviser);
      }
    }
  }
  for (const auto& [tp, list] : works) {
    for (const std::string& note : workload_notes(
             config, {.tp = tp, .tokens = options.tokens, .parallelism = options.parallelism})) {
      add_note(advice.notes, note);
    }
  }
  add_note(advice.notes,
           "attention itself, norms and other work between the products are not here");
  return advice;
}

std::vector<const Pass*> fastest(const Advice& advice) {
  std::vector<const Pass*> list;
  for (const Pass& pass : advice.passes) {
    const auto same = std::ranges::find(list, pass.tokens, &Pass::tokens);
    if (same == list.end()) {
      list.push_back(&pass);
    } else if (pass.times.overlapped < (*same)->times.overlapped) {
      *same = &pass;
    }
  }
  return list;
}

}  // namespace overlaptune
