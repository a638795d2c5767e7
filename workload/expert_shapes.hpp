#pragma once
// The part that a mixture of experts adds to a layer where the ranks share the experts out among
// them (expert parallelism). Each rank has whole experts, and as many rows of tokens as each other
// one (balanced routing). As in Megatron-LM with sequence parallelism, a rank has its own tokens
// only: all-to-alls bring their rows to the experts and back. Under plain TP each rank has all
// tokens, and an all-reduce adds up what the experts made of them.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/units.hpp"
#include "workload/layer_shapes.hpp"

namespace overlaptune {

/// A collective that has no GEMM to overlap with. The sizes are those of `collective_bytes`.
struct PlainCollective {
  Product product = Product::dispatch;
  Parallelism parallelism = Parallelism::sequence;
  std::int64_t tokens = 0;
  std::int64_t times_per_pass = 0;
  Collective collective = Collective::all_to_all;
  std::int64_t rows = 0;  ///< rows of the buffer of one rank
  std::int64_t columns = 0;
  Elements elements = Elements::bf16;
  int ranks = 0;
};

[[nodiscard]] Bytes bytes_of(const PlainCollective& collective);

/// The products of the experts, each as one dense GEMM of all rows of a rank. Empty for a dense
/// model, and where the experts are left out (`expert_notes` says why).
[[nodiscard]] std::vector<LayerShape> expert_shapes(const ModelConfig& config, int tp,
                                                    Parallelism parallelism, std::int64_t tokens);

/// The dispatch of sequence parallelism, or the all-reduce of plain TP. None in the latter where
/// there is a shared expert: its all-reduce adds up the rows of all experts.
[[nodiscard]] std::optional<PlainCollective> expert_collective(const ModelConfig& config, int tp,
                                                               Parallelism parallelism,
                                                               std::int64_t tokens,
                                                               Elements elements);

/// Sentences that say what is assumed of the experts, and what is left out.
[[nodiscard]] std::vector<std::string> expert_notes(const ModelConfig& config, int tp,
                                                    const std::vector<Parallelism>& parallelism);

}  // namespace overlaptune
