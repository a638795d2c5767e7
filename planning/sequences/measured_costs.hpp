#pragma once
// Costs of a transformer from measurements of GEMMs and all-to-alls (docs/sequences.md has the
// formulas).

#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "model/model.hpp"
#include "planning/sequences/costs.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

/// Costs that no measurement tells, or that are known better.
struct KnownCosts {
  std::map<int, double> bytes_per_us{};      ///< all-to-all bandwidth of a GPU, by degree
  std::optional<double> attention_tflops{};  ///< of the two products of attention, on one GPU
  std::optional<double> fixed_us{};          ///< of a micro-batch
  std::optional<double> parameters{};
};

struct MeasuredRequest {
  int gpus = 0;
  /// GPUs of a node; wider groups take their rates from `known` alone.
  int per_node = std::numeric_limits<int>::max();
  bool recompute = false;  ///< every layer runs forward once more in the backward pass
  KnownCosts known{};
};

struct MeasuredCosts {
  Coefficients costs{};
  std::vector<std::string> sources{};  ///< sentences for the user: where each part comes from
};

/// Costs for groups of 1..`gpus`. The GEMMs come from the first model, the all-to-alls of each
/// degree from the first model that has them probed for so many ranks.
/// Error: a config whose layers are not dense and alike; a degree that neither a model nor `known`
/// has, or, where groups are wider than a node, that `known` does not have; GEMMs that were never
/// probed.
[[nodiscard]] Expected<MeasuredCosts> measured_costs(const ModelConfig& config,
                                                     std::span<const Model> models,
                                                     const MeasuredRequest& request);

/// Reads what is known from a JSON document with any of `bandwidth`, `attention_tflops`, `b1` and
/// `parameters`. Error, naming `origin` and the field: values that are not above 0, a field that is
/// not read or stands twice.
[[nodiscard]] Expected<KnownCosts> parse_known_costs(std::string_view text,
                                                     std::string_view origin);

}  // namespace overlaptune
