#pragma once
// Costs from a JSON document (docs/sequences.md): published or measured coefficients.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "planning/sequences/costs.hpp"

namespace overlaptune {

struct CostRequest {
  std::string model{};          ///< entry of the document; may be empty where there is one
  std::int64_t max_length = 0;  ///< chooses the parameter count, which grows with positions
  int gpus = 0;
};

struct PublishedCosts {
  Coefficients costs{};
  double memory_bytes = 0;           ///< budget of a GPU; 0: the document has none
  std::optional<int> heads{};        ///< of attention
  std::optional<int> per_node{};     ///< GPUs of a node where the bandwidths were measured
  std::vector<std::string> notes{};  ///< sentences for the user: what was assumed
};

/// Reads costs for groups of 1..gpus. Error, naming `origin` and the field: missing, negative or
/// not finite values, an unknown model, a degree without a bandwidth, a field that is not read or
/// stands twice.
[[nodiscard]] Expected<PublishedCosts> parse_published_costs(std::string_view text,
                                                             std::string_view origin,
                                                             const CostRequest& request);

}  // namespace overlaptune
