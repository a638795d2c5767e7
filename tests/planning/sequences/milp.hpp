#pragma once
// Plans of a batch by integer programming (CBC), as a reference.

#include <cstdint>
#include <optional>
#include <vector>

#include "planning/sequences/costs.hpp"
#include "planning/sequences/plan.hpp"

namespace overlaptune {

struct MilpResult {
  double time_us = 0;  ///< of the best plan found
  bool optimal = false;
};

/// The least time of a batch in at most `micro_batches` micro-batches. A variable for each sequence
/// and place (micro-batch, degree, number of the group) says whether it is there. Gives up after
/// `seconds`. None: no plan was found.
[[nodiscard]] std::optional<MilpResult> solve_milp(const Costs& costs, const Gpus& gpus,
                                                   const std::vector<std::int64_t>& lengths,
                                                   int micro_batches, double seconds);

}  // namespace overlaptune
