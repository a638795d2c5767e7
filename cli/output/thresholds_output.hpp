#pragma once
// The forms of thresholds: a table for people, a table for launchers, lines for vLLM, JSON.

#include <string>

#include "core/platform.hpp"
#include "planning/advice/thresholds.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

/// A table for people, and the setting of vLLM's pass for sequence parallelism.
[[nodiscard]] std::string text_of_thresholds(const Advice& advice, const Platform& platform);

/// A row for each product, for programs that choose by the number of tokens; `from_tokens` is empty
/// where overlap never pays. `origin` is measured, predicted or simulated, `machine` the full name.
[[nodiscard]] Table launcher_table(const Advice& advice, const Platform& platform);

/// `thresholds[]` and `vllm[]` (docs/cli.md).
void add_thresholds(OrderedJson& document, const Advice& advice);

}  // namespace overlaptune::cli
