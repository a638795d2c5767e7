#pragma once
// The advice for a model as text and as JSON.

#include <string>

#include "cli/output/assumptions.hpp"
#include "planning/advice/advice.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

struct Advised {
  const ModelConfig& config;
  const Platform& platform;
  Launch launch = Launch::graph;
  const Advice& advice;
};

/// Three lines: what overlap gains, how to divide the model, what that rests on. They speak of the
/// largest and the smallest number of tokens that were asked for. Needs a pass.
[[nodiscard]] std::string headline(const Advised& advised, const Assumptions& assumptions);

/// A table of the passes, a table of the operations, and what is left out.
[[nodiscard]] std::string text(const Advised& advised);

/// "Left out: …", one line for each rank count and reason.
[[nodiscard]] std::string left_out_lines(const Advice& advice);

/// A line for each note that the first lines do not say.
[[nodiscard]] std::string note_lines(const Advised& advised);

/// The document of `advise --json` (docs/cli.md).
[[nodiscard]] OrderedJson document(const Advised& advised);

}  // namespace overlaptune::cli
