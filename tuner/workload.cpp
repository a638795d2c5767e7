#include "tuner/workload.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {
namespace {

/// A product with the `n` and `k` of one rank.
struct Shape {
  Product product;
  std::optional<Op> op;  ///< none: a plain GEMM
  std::int64_t n;
  std::int64_t k;
  std::int64_t layers;  ///< that have it
};

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

Expected<std::vector<Shape>> shapes(const ModelConfig& config, int tp, Parallelism parallelism) {
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
  std::vector<Shape> list{
      {Product::o, row_parallel, config.hidden, heads * config.value_head_dim, config.layers}};
  if (dense > 0) list.push_back({Product::down, row_parallel, config.hidden, width, dense});
  if (shared > 0) {
    list.push_back({Product::shared_down, row_parallel, config.hidden, shared, sparse});
  }
  if (!config.latent_attention) {
    list.push_back({Product::qkv, column_parallel, (heads + 2 * *kv_heads) * config.head_dim,
                    config.hidden, config.layers});
  }
  if (dense > 0) {
    list.push_back({config.gated ? Product::gate_up : Product::up, column_parallel,
                    config.gated ? 2 * width : width, config.hidden, dense});
  }
  if (shared > 0) {
    list.push_back({Product::shared_gate_up, column_parallel, 2 * shared, config.hidden, sparse});
  }
  return list;
}

std::vector<std::string> skipped(const ModelConfig& config, const WorkloadOptions& options) {
  std::vector<std::string> notes = config.notes;
  if (config.experts > 0) {
    notes.push_back(
        fmt::format("MoE experts ({}) are skipped in {} layers: their sizes depend on the routing",
                    config.experts, config.layers - config.dense_layers));
    if (config.experts_per_token > 0) {
      notes.push_back(fmt::format(
          "dispatch and combine of the experts are skipped, too: with balanced routing over the "
          "--tp ranks each exchanges {} rows of {} for each token; tune the combine as a problem "
          "of gemm_all_to_all",
          config.experts_per_token, config.hidden));
    }
  }
  const auto& ways = options.parallelism;
  const bool sequence = std::find(ways.begin(), ways.end(), Parallelism::sequence) != ways.end();
  if (!sequence) notes.emplace_back("plain TP has no collective beside qkv, gate and up");
  if (config.latent_attention) {
    notes.emplace_back("q, k and v are skipped: latent attention has no single projection");
  }
  notes.emplace_back("embedding and lm_head are skipped: once a model, not once a layer");
  return notes;
}

Expected<void> check(const WorkloadOptions& options) {
  if (options.tp < 2 || options.tp > kMostRanks) {
    return bad_input(fmt::format("--tp {}: expected 2 to {}", options.tp, kMostRanks));
  }
  if (options.tokens.empty()) {
    return bad_input("--tokens: expected at least one number of tokens, as in --tokens 1k,4k");
  }
  for (auto it = options.tokens.begin(); it != options.tokens.end(); ++it) {
    if (*it < 1 || *it > kLargestSize) {
      return bad_input(fmt::format("--tokens {}: expected 1 to 2^31 - 1", *it));
    }
    if (std::find(options.tokens.begin(), it, *it) != it) {
      return bad_input(fmt::format("--tokens {}: given twice: expected each number once", *it));
    }
  }
  return {};
}

/// The problem if it is `validated`. Errors name the flags and the fields of config.json.
Expected<Problem> named(const Problem& problem, Product product) {
  if (problem.op != Op::gemm_all_reduce && problem.m % problem.ranks != 0) {
    return bad_input(not_divisible("--tokens", problem.m, problem.ranks));
  }
  auto valid = validated(problem);
  if (!valid) return bad_input(fmt::format("{}: {}", to_string(product), valid.error().message));
  return valid;
}

}  // namespace

Expected<Workload> workload(const ModelConfig& config, const WorkloadOptions& options) {
  if (const auto checked = check(options); !checked) return error_of(checked);
  Workload result{.notes = skipped(config, options)};
  for (const Parallelism parallelism : options.parallelism) {
    const auto list = shapes(config, options.tp, parallelism);
    if (!list) return error_of(list);
    for (const std::int64_t tokens : options.tokens) {
      for (const Shape& shape : *list) {
        if (!shape.op) {
          result.plain_gemms.push_back({.product = shape.product,
                                        .tokens = tokens,
                                        .times_per_pass = shape.layers,
                                        .n = shape.n,
                                        .k = shape.k,
                                        .dtype = options.dtype.value_or(config.dtype)});
          continue;
        }
        const auto problem = named({.op = *shape.op,
                                    .m = tokens,
                                    .n = shape.n,
                                    .k = shape.k,
                                    .dtype = options.dtype.value_or(config.dtype),
                                    .ranks = options.tp},
                                   shape.product);
        if (!problem) return error_of(problem);
        result.gemms.push_back({.model = config.name,
                                .product = shape.product,
                                .parallelism = parallelism,
                                .tokens = tokens,
                                .times_per_pass = shape.layers,
                                .problem = *problem});
        auto& problems = result.problems;
        // Two products of one shape are one problem.
        if (std::find(problems.begin(), problems.end(), *problem) == problems.end()) {
          problems.push_back(*problem);
        } else {
          result.notes.push_back(
              fmt::format("{} at {} tokens is the same problem as another "
                          "product of the layer",
                          to_string(shape.product), tokens));
        }
      }
    }
  }
  return result;
}

}  // namespace overlaptune
