#pragma once
// The assumptions of an answer about a model, said in the answer.

#include <string>
#include <vector>

#include "cli/command.hpp"
#include "reports/table.hpp"
#include "tuner/model_config.hpp"

namespace overlaptune::cli {

/// The flag `--assume-dense`, beside `--model`.
CLI::Option* add_assume_dense_flag(CLI::App& command, ReadingOptions& options);

struct Assumptions {
  std::vector<std::string> sentences{};
  bool dense = false;  ///< `--assume-dense` passed over fields that speak of the layers
};

[[nodiscard]] Assumptions assumptions_of(const ModelConfig& config);
/// Those of an answer that counts attention over all tokens of sequences of this length.
[[nodiscard]] Assumptions assumptions_of_attention(const ModelConfig& config, std::int64_t tokens);

/// "; assumed: …" with all sentences, for the first lines of an answer; empty where there are none.
[[nodiscard]] std::string assumed(const Assumptions& assumptions);

/// The text with a line "Note: …" for each sentence at its end, marked.
[[nodiscard]] std::string with_assumptions(std::string text, const Assumptions& assumptions);

/// The text with " (assumed dense)" at the end of each line under `--assume-dense`.
[[nodiscard]] std::string marked_lines(const std::string& text, const Assumptions& assumptions);

/// Adds `assumptions` and `assumed_dense` to the fields of a JSON document.
void add_assumptions(OrderedJson& document, const Assumptions& assumptions);

}  // namespace overlaptune::cli
