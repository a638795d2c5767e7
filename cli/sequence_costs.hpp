#pragma once
// The flags that say what sequence-parallel groups cost.

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "planner/costs.hpp"

namespace overlaptune::cli {

struct CostFlags {
  std::string costs{};
  std::string database{};
  std::string platform{};
  std::string model{};
  std::int64_t memory_bytes = 0;  ///< 0: not given
  bool recompute = false;
};

struct ChosenCosts {
  Coefficients costs{};
  double memory_bytes = 0;
  std::vector<std::string> source{};  ///< sentences for the user
};

/// Adds `--costs`, `--db`, `--platform`, `--model`, `--memory` and `--recompute`.
void add_cost_flags(CLI::App& command, CostFlags& flags);

/// Reads the costs. Throws `Failure` (`bad_input`): no source, an invalid one, or memory that the
/// state of the model alone fills.
[[nodiscard]] ChosenCosts choose_costs(const CostFlags& flags, int gpus, int gpus_per_node,
                                       std::int64_t max_length);

}  // namespace overlaptune::cli
