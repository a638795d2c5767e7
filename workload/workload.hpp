#pragma once
// The problems of a model: the products of a transformer layer that have a collective beside them,
// and their sizes. What a layer does besides, as far as its time is known: products without a
// collective, and collectives without a product.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/layer_gemm.hpp"
#include "core/problem.hpp"
#include "workload/expert_shapes.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

struct WorkloadOptions {
  int tp = 0;
  std::vector<std::int64_t> tokens{};  ///< of a forward pass: the m of problems without experts
  std::vector<Parallelism> parallelism{Parallelism::tensor};
  std::optional<Elements> elements{};  ///< absent: the dtype of the config
};

/// A product that has no collective beside it: qkv, gate and up of plain TP, products of experts.
/// `m`, `n` and `k` are those of one rank.
struct PlainGemm {
  Product product = Product::qkv;
  Parallelism parallelism = Parallelism::tensor;
  std::int64_t tokens = 0;
  std::int64_t times_per_pass = 0;  ///< how often a forward pass runs the product
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
};

struct Workload {
  std::vector<Problem> problems{};  ///< each problem once, in the order of `gemms`
  /// By parallelism, tokens, then o, down, shared_down, qkv, gate_up, shared_gate_up, combine.
  std::vector<LayerGemm> gemms{};
  /// By parallelism, tokens, then qkv, gate_up, shared_gate_up, experts_gate_up, experts_down.
  std::vector<PlainGemm> plain_gemms{};
  std::vector<PlainCollective> plain_collectives{};  ///< by parallelism, then tokens
  std::vector<std::string> notes{};        ///< sentences that say what was skipped or assumed
  std::vector<std::string> assumptions{};  ///< those of the config among them
  bool assumed_dense = false;              ///< as in `ModelConfig`
};

/// Sentences that say what was assumed of a model, and what is skipped.
[[nodiscard]] std::vector<std::string> workload_notes(const ModelConfig& config,
                                                      const WorkloadOptions& options);

/// The problems of a model. Error: a size that `tp` does not divide, tokens that are out of range
/// or given twice, a `tp` outside 2..kMostRanks; the message names the field or flag.
[[nodiscard]] Expected<Workload> workload(const ModelConfig& config,
                                          const WorkloadOptions& options);

}  // namespace overlaptune
