#include "tuner/layer_shapes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {
namespace {

bool divides(const ModelConfig& config, int tp) {
  const bool kv_heads = config.kv_heads % tp == 0 || tp % config.kv_heads == 0;
  return kv_heads && config.heads % tp == 0 && config.intermediate % tp == 0 &&
         config.shared_intermediate % tp == 0;
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

std::string not_divisible(const char* field, std::int64_t value, int tp) {
  return fmt::format("{} = {}: expected a multiple of --tp {}", field, value, tp);
}

/// KV heads of each rank. With fewer KV heads than ranks, several ranks have the same head.
Expected<std::int64_t> kv_heads_per_rank(const ModelConfig& config, int tp) {
  if (config.kv_heads % tp == 0) return config.kv_heads / tp;
  if (tp % config.kv_heads == 0) return 1;
  return bad_input(
      fmt::format("num_key_value_heads = {}: expected a multiple or a divisor of --tp {}{}",
                  config.kv_heads, tp, other_tps(config)));
}

}  // namespace

Expected<std::vector<LayerShape>> layer_shapes(const ModelConfig& config, int tp,
                                               Parallelism parallelism, std::int64_t tokens) {
  const std::pair<const char*, std::int64_t> divided[] = {
      {"num_attention_heads", config.heads},
      {"intermediate_size", config.intermediate},
      {"width of the shared expert", config.shared_intermediate}};
  for (const auto& [field, size] : divided) {
    if (size % tp != 0) return bad_input(not_divisible(field, size, tp) + other_tps(config));
  }
  const auto kv_heads = kv_heads_per_rank(config, tp);
  if (!kv_heads) return error_of(kv_heads);

  const bool sequence = parallelism == Parallelism::sequence;
  const Op row_parallel = sequence ? Op::gemm_reduce_scatter : Op::gemm_all_reduce;
  const auto column_parallel = sequence ? std::optional(Op::all_gather_gemm) : std::nullopt;
  const std::int64_t heads = config.heads / tp;
  const std::int64_t width = config.intermediate / tp;
  const std::int64_t shared = config.shared_intermediate / tp;
  const std::int64_t dense = config.dense_layers;
  const std::int64_t sparse = config.layers - dense;
  std::vector<LayerShape> list;
  const auto add = [&](Product product, std::optional<Op> op, std::int64_t n, std::int64_t k,
                       std::int64_t layers) {
    if (layers > 0) list.push_back({product, op, tokens, n, k, layers});
  };
  add(Product::o, row_parallel, config.hidden, heads * config.value_head_dim, config.layers);
  add(Product::down, row_parallel, config.hidden, width, dense);
  if (shared > 0) add(Product::shared_down, row_parallel, config.hidden, shared, sparse);
  if (!config.latent_attention) {
    add(Product::qkv, column_parallel, (heads + 2 * *kv_heads) * config.head_dim, config.hidden,
        config.layers);
  }
  add(config.gated ? Product::gate_up : Product::up, column_parallel,
      config.gated ? 2 * width : width, config.hidden, dense);
  if (shared > 0) add(Product::shared_gate_up, column_parallel, 2 * shared, config.hidden, sparse);
  return list;
}

}  // namespace overlaptune
