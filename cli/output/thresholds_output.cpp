#include "cli/output/thresholds_output.hpp"

#include <fmt/format.h>

#include "cli/output/origin.hpp"
#include "core/base/readable.hpp"
#include "reports/json.hpp"

namespace overlaptune::cli {
namespace {

Cell from(const Threshold& threshold) {
  if (!threshold.tokens) return std::string("never");
  return readable_count(*threshold.tokens);
}

Table people_table(const std::vector<Threshold>& list) {
  Table table{.name = "thresholds",
              .columns = columns_of("tp, parallelism, operation, pays from, speedup there:2, "
                                    "largest, speedup at largest:2, answer")};
  for (const Threshold& each : list) {
    const bool pays = each.tokens.has_value();
    table.rows.push_back(
        {cell(each.tp), cell(each.parallelism), each.name, from(each),
         pays ? Cell(each.gain) : Cell(), readable_count(each.largest), each.gain_at_largest,
         pays ? Cell(std::string(each.measured ? "measured" : "predicted")) : Cell()});
  }
  return table;
}

/// Where a threshold comes from. A simulated machine measures, too, but not what GPUs do.
std::string origin_of(const Threshold& threshold, const Platform& platform) {
  if (is_simulated(platform)) return "simulated";
  return threshold.measured ? "measured" : "predicted";
}

/// The setting of vLLM's pass that replaces all-reduce by sequence parallelism.
std::string vllm_setting(std::int64_t tokens) {
  return fmt::format(
      R"({{"pass_config": {{"enable_sp": true, "fuse_gemm_comms": true, "sp_min_token_num": {}}}}})",
      tokens);
}

}  // namespace

std::string text_of_thresholds(const Advice& advice, const Platform& platform) {
  std::string text = fmt::format(
      "\nTokens from which overlap gains {:.0f} % or more, of those asked for:\n{}",
      100 * (kSureGain - 1), to_markdown(with_machine(people_table(thresholds(advice)), platform)));
  for (const SequenceThreshold& each : sequence_thresholds(advice)) {
    text += fmt::format(
        "vLLM{}, --tensor-parallel-size {}: {}\n", simulated_mark(platform), each.tp,
        each.tokens ? fmt::format("--compilation-config '{}'", vllm_setting(*each.tokens))
                    : std::string("sequence parallelism does not pay"));
  }
  return text;
}

Table launcher_table(const Advice& advice, const Platform& platform) {
  Table table{
      .name = "launcher",
      .columns = columns_of("tp, parallelism, product, op, n, k, dtype, from_tokens, origin")};
  for (const Threshold& each : thresholds(advice)) {
    if (!each.problem) continue;
    const Problem& problem = *each.problem;
    table.rows.push_back({cell(each.tp), cell(each.parallelism), each.name, cell(problem.op),
                          problem.n, problem.k, cell(problem.elements), cell(each.tokens),
                          origin_of(each, platform)});
  }
  return with_machine(table, platform);
}

void add_thresholds(OrderedJson& document, const Advice& advice) {
  OrderedJson list = OrderedJson::array();
  for (const Threshold& each : thresholds(advice)) {
    list.push_back({{"tp", each.tp},
                    {"parallelism", to_string(each.parallelism)},
                    {"operation", each.name},
                    {"from_tokens", each.tokens ? OrderedJson(*each.tokens) : OrderedJson()},
                    {"speedup", each.tokens ? OrderedJson(each.gain) : OrderedJson()},
                    {"measured", each.measured},
                    {"largest_tokens", each.largest},
                    {"speedup_at_largest", each.gain_at_largest}});
  }
  OrderedJson vllm = OrderedJson::array();
  for (const SequenceThreshold& each : sequence_thresholds(advice)) {
    vllm.push_back({{"tensor_parallel_size", each.tp},
                    {"sp_min_token_num", each.tokens ? OrderedJson(*each.tokens) : OrderedJson()}});
  }
  document["thresholds"] = std::move(list);
  document["vllm"] = std::move(vllm);
}

}  // namespace overlaptune::cli
