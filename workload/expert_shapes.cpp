#include "workload/expert_shapes.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {
namespace {

/// Why the experts cannot be shared out; empty where they can.
std::string why_not(const ModelConfig& config, int tp) {
  if (config.experts_per_token == 0) {
    return "config.json does not say how many of them a token passes (num_experts_per_tok)";
  }
  if (config.experts % tp != 0) return fmt::format("--tp {} does not divide their number", tp);
  return {};
}

bool are_shared_out(const ModelConfig& config, int tp) {
  return config.experts > 0 && config.expert_layers > 0 && why_not(config, tp).empty();
}

/// Rows that the experts of one rank compute: a multiple of `tp`, because each rank sends as many.
std::int64_t rows_of_rank(const ModelConfig& config, int tp, std::int64_t tokens) {
  const std::int64_t pairs = std::int64_t{tp} * tp;
  return (tokens * config.experts_per_token + pairs - 1) / pairs * tp;
}

}  // namespace

Bytes bytes_of(const PlainCollective& collective) {
  return {collective.rows * collective.columns * result_bytes(collective.elements)};
}

std::vector<LayerShape> expert_shapes(const ModelConfig& config, int tp, Parallelism parallelism,
                                      std::int64_t tokens) {
  if (!are_shared_out(config, tp)) return {};
  const std::int64_t rows = rows_of_rank(config, tp, tokens);
  const std::int64_t width = config.expert_intermediate;
  const std::int64_t layers = config.expert_layers * config.loops;
  const std::int64_t into = config.gated ? 2 * width : width;
  const bool sequence = parallelism == Parallelism::sequence;
  return {{Product::experts_gate_up, std::nullopt, rows, into, config.expert_hidden, layers},
          {sequence ? Product::combine : Product::experts_down,
           sequence ? std::optional(Op::gemm_all_to_all) : std::nullopt, rows, config.expert_hidden,
           width, layers}};
}

std::optional<PlainCollective> expert_collective(const ModelConfig& config, int tp,
                                                 Parallelism parallelism, std::int64_t tokens,
                                                 Elements elements) {
  if (!are_shared_out(config, tp)) return std::nullopt;
  const bool sequence = parallelism == Parallelism::sequence;
  if (!sequence && config.shared_intermediate > 0) return std::nullopt;
  return PlainCollective{.product = sequence ? Product::dispatch : Product::combine,
                         .parallelism = parallelism,
                         .tokens = tokens,
                         .times_per_pass = config.expert_layers * config.loops,
                         .collective = sequence ? Collective::all_to_all : Collective::all_reduce,
                         .rows = sequence ? rows_of_rank(config, tp, tokens) : tokens,
                         .columns = config.expert_hidden,
                         .elements = elements,
                         .ranks = tp};
}

std::vector<std::string> expert_notes(const ModelConfig& config, int tp,
                                      const std::vector<Parallelism>& parallelism) {
  if (config.experts == 0 || config.expert_layers == 0) return {};
  const std::string experts =
      fmt::format("the experts ({} in each of {} layers)", config.experts, config.expert_layers);
  if (const std::string reason = why_not(config, tp); !reason.empty()) {
    return {fmt::format("{} are left out: {}", experts, reason)};
  }
  std::vector<std::string> notes{
      fmt::format(
          "{} are shared out among the ranks, and the routing is taken to be balanced: each "
          "rank has tokens x {} / --tp rows of {}, rounded up to a multiple of --tp",
          experts, config.experts_per_token, config.expert_hidden),
      "the products of a rank's experts are taken as one dense GEMM of these rows, which takes no "
      "longer than a grouped one; the router, and sorting and weighting the rows, are left out"};
  const auto has = [&](Parallelism way) {
    return std::find(parallelism.begin(), parallelism.end(), way) != parallelism.end();
  };
  if (has(Parallelism::sequence)) {
    notes.emplace_back(
        "dispatch is an all-to-all without a GEMM: there is nothing to tune, and advise counts its "
        "time; combine is the down product of the experts and the all-to-all behind it");
  }
  if (has(Parallelism::tensor)) {
    notes.push_back(fmt::format(
        "plain TP: each rank has all tokens, so nothing is dispatched; {} adds up the rows of the "
        "experts",
        config.shared_intermediate > 0 ? "the all-reduce of shared_down also"
                                       : "combine is an all-reduce without overlap, which"));
  }
  return notes;
}

}  // namespace overlaptune
