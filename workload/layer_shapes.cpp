#include "workload/layer_shapes.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {
namespace {

/// A size that the ranks share out, with the name of its field.
struct Divided {
  const char* field;
  std::int64_t size;
};

std::vector<Divided> divided_sizes(const ModelConfig& config) {
  std::vector<Divided> sizes;
  for (const AttentionLayers& each : attention_of(config)) {
    sizes.push_back({"num_attention_heads", each.heads});
  }
  if (config.ranks.output_groups > 0) sizes.push_back({"o_groups", config.ranks.output_groups});
  for (const DenseLayers& each : dense_of(config)) {
    sizes.push_back({"intermediate_size", each.intermediate});
  }
  sizes.push_back({"width of the shared expert", config.shared_intermediate});
  return sizes;
}

bool divides(const ModelConfig& config, int tp) {
  const auto sizes = divided_sizes(config);
  const auto attention = attention_of(config);
  return std::all_of(sizes.begin(), sizes.end(),
                     [&](const Divided& each) { return each.size % tp == 0; }) &&
         std::all_of(attention.begin(), attention.end(), [&](const AttentionLayers& each) {
           return each.kv_heads % tp == 0 || tp % each.kv_heads == 0;
         });
}

/// "; --tp 2, 4, 8 divide all sizes of this model", or nothing where none does.
std::string other_tps(const ModelConfig& config) {
  constexpr int kMostUsual = 64;
  std::vector<int> fitting;
  for (int tp = 2; tp <= kMostUsual; ++tp) {
    if (divides(config, tp)) fitting.push_back(tp);
  }
  return fitting.empty() ? ""
                         : fmt::format("; --tp {} would divide all sizes of this model",
                                       fmt::join(fitting, ", "));
}

/// KV heads of each rank. With fewer KV heads than ranks, several ranks have the same head.
Expected<std::int64_t> kv_heads_per_rank(const ModelConfig& config, std::int64_t kv_heads, int tp) {
  if (kv_heads % tp == 0) return kv_heads / tp;
  if (tp % kv_heads == 0) return 1;
  return bad_input(
      fmt::format("num_key_value_heads = {}: expected a multiple or a divisor of --tp {}{}",
                  kv_heads, tp, other_tps(config)));
}

Expected<void> check_divisible(const ModelConfig& config, int tp) {
  for (const auto& [field, size] : divided_sizes(config)) {
    if (size % tp == 0) continue;
    return bad_input(fmt::format("{} = {}: expected a multiple of --tp {}{}", field, size, tp,
                                 other_tps(config)));
  }
  return {};
}

/// Rows of the output projection on one rank.
std::int64_t output_rows(const ModelConfig& config, const AttentionLayers& attention, int tp) {
  const LatentRanks& ranks = config.ranks;
  if (ranks.output_rank > 0) return ranks.output_rank * ranks.output_groups / tp;
  return attention.heads / tp * attention.value_head_dim;
}

}  // namespace

std::int64_t qkv_width(const ModelConfig& config, const AttentionLayers& attention,
                       std::int64_t heads, std::int64_t kv_heads) {
  const std::int64_t queries = heads * attention.head_dim * (config.query_gate ? 2 : 1);
  const std::int64_t keys = attention.key_projections > 0 ? kv_heads * attention.head_dim : 0;
  const std::int64_t values =
      attention.key_projections > 1 ? kv_heads * attention.value_head_dim : 0;
  return queries + keys + values;
}

Expected<std::vector<LayerShape>> layer_shapes(const ModelConfig& config, int tp,
                                               Parallelism parallelism, std::int64_t tokens) {
  if (const auto checked = check_divisible(config, tp); !checked) return error_of(checked);
  const bool sequence = parallelism == Parallelism::sequence;
  const Op row_parallel = sequence ? Op::gemm_reduce_scatter : Op::gemm_all_reduce;
  const auto column_parallel = sequence ? std::optional(Op::all_gather_gemm) : std::nullopt;
  const auto attention = attention_of(config);
  const auto dense = dense_of(config);
  const std::int64_t shared = config.shared_intermediate / tp;
  const std::int64_t with_gate = config.gated ? 2 : 1;
  std::vector<LayerShape> list;
  // Attention that differs in keys alone has one output projection.
  const auto add = [&](Product product, std::optional<Op> op, std::int64_t n, std::int64_t k,
                       std::int64_t layers) {
    if (layers <= 0) return;
    const auto same = std::find_if(list.begin(), list.end(), [&](const LayerShape& each) {
      return each.product == product && each.n == n && each.k == k;
    });
    if (same != list.end()) {
      same->layers += layers * config.loops;
    } else {
      list.push_back({product, op, tokens, n, k, layers * config.loops});
    }
  };
  for (const AttentionLayers& each : attention) {
    add(Product::o, row_parallel, config.hidden, output_rows(config, each, tp), each.layers);
  }
  for (const DenseLayers& each : dense) {
    add(Product::down, row_parallel, config.hidden, each.intermediate / tp, each.layers);
  }
  if (shared > 0) {
    add(Product::shared_down, row_parallel, config.hidden, shared, config.expert_layers);
  }
  for (const AttentionLayers& each : attention) {
    const auto kv_heads = kv_heads_per_rank(config, each.kv_heads, tp);
    if (!kv_heads) return error_of(kv_heads);
    if (config.latent_attention) continue;
    add(Product::qkv, column_parallel, qkv_width(config, each, each.heads / tp, *kv_heads),
        config.hidden, each.layers);
  }
  for (const DenseLayers& each : dense) {
    add(config.gated ? Product::gate_up : Product::up, column_parallel,
        with_gate * each.intermediate / tp, config.hidden, each.layers);
  }
  if (shared > 0) {
    add(Product::shared_gate_up, column_parallel, with_gate * shared, config.hidden,
        config.expert_layers);
  }
  return list;
}

}  // namespace overlaptune
