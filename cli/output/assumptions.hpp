#pragma once
// The assumptions of an answer about a model, as the answer says them.

#include <string>

#include "cli/command.hpp"
#include "reports/table/table.hpp"
#include "workload/assumptions.hpp"

namespace overlaptune::cli {

/// The flag `--assume-dense`, beside `--model`.
CLI::Option* add_assume_dense_flag(CLI::App& command, ReadingOptions& options);

/// "; assumed: …" with all sentences, for the first lines of an answer; empty where there are none.
[[nodiscard]] std::string assumed(const Assumptions& assumptions);

/// The text with a line "Note: …" for each sentence at its end, marked.
[[nodiscard]] std::string with_assumptions(std::string text, const Assumptions& assumptions);

/// The text with " (assumed dense)" at the end of each line under `--assume-dense`.
[[nodiscard]] std::string marked_lines(const std::string& text, const Assumptions& assumptions);

/// Adds `assumptions` and `assumed_dense` to the fields of a JSON document.
void add_assumptions(OrderedJson& document, const Assumptions& assumptions);

}  // namespace overlaptune::cli
