#pragma once
// The flags that say what sequence-parallel groups cost.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/output/assumptions.hpp"
#include "planning/sequences/costs.hpp"

namespace overlaptune::cli {

struct CostFlags {
  std::string costs{};
  std::string database{};
  std::string platform{};
  std::string model{};
  ReadingOptions reading{};
  std::int64_t memory_bytes = 0;  ///< 0: not given
  bool recompute = false;
};

struct ChosenCosts {
  Coefficients costs{};
  double memory_bytes = 0;
  std::vector<std::string> sources{};   ///< sentences for the user
  std::optional<std::int64_t> heads{};  ///< of attention, where the source says so
  bool simulated = false;
  Assumptions assumptions{};  ///< of a --model's config
};

/// Adds `--costs`, `--db`, `--platform`, `--model`, `--assume-dense`, `--memory` and `--recompute`.
void add_cost_flags(CLI::App& command, CostFlags& flags);

/// The costs of coefficients in a file, or of a model on measured GPUs. `max_length` chooses among
/// the parameter counts of a file. Throws `Failure` (`bad_input`): no source, an invalid one, one
/// that does not hold for nodes of so many GPUs, or memory that the state of the model alone fills.
[[nodiscard]] ChosenCosts choose_costs(CostFlags flags, int gpus, int per_node,
                                       std::int64_t max_length);

}  // namespace overlaptune::cli
