#pragma once
// The problems of a model: which products of a transformer layer meet a collective, and their
// sizes.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/names.hpp"
#include "core/problem.hpp"
#include "tuner/model_config.hpp"

namespace overlaptune {

/// How a layer is divided (Megatron-LM: Shoeybi et al. 2019, Korthikanti et al. 2022).
enum class Parallelism {
  tensor,    ///< o and down end in an all-reduce
  sequence,  ///< o and down end in a reduce-scatter; an all-gather precedes qkv and gate+up
};

template <>
struct NamesOf<Parallelism> {
  static constexpr std::string_view what = "parallelism";
  static constexpr std::array<Named<Parallelism>, 2> all{
      {{Parallelism::tensor, "tp"}, {Parallelism::sequence, "sp"}}};
};

struct WorkloadOptions {
  int tp = 0;
  std::vector<std::int64_t> tokens{};  ///< tokens of a forward pass: the m of every problem
  std::vector<Parallelism> parallelism{Parallelism::tensor};
  std::optional<Dtype> dtype{};  ///< absent: the config's own
};

struct Workload {
  std::vector<Problem> problems{};   ///< by parallelism, then tokens, then o, down, qkv, gate+up
  std::vector<std::string> notes{};  ///< what was skipped or assumed, each a sentence
};

/// Error: a size that `tp` does not divide, tokens that are out of range or given twice, a `tp`
/// outside 2..kMostRanks; the message names the field or flag.
[[nodiscard]] Expected<Workload> workload(const ModelConfig& config,
                                          const WorkloadOptions& options);

}  // namespace overlaptune
