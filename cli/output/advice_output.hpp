#pragma once
// The advice for a model as text and as JSON.

#include <cstddef>
#include <string>

#include "planning/advice/advice.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

struct Advised {
  const ModelConfig& config;
  const Platform& platform;
  Launch launch = Launch::graph;
  const Advice& advice;
};

/// A table of the passes, a table of the operations, and what is left out.
[[nodiscard]] std::string text(const Advised& advised);

/// The operations of a pass whose times are measured.
[[nodiscard]] std::ptrdiff_t exact_operations(const Pass& pass);

/// "Left out: …", one line for each rank count and reason.
[[nodiscard]] std::string left_out_lines(const Advice& advice);

/// A line for each note that the first lines do not say.
[[nodiscard]] std::string note_lines(const Advised& advised);

/// The document of `advise --json` (docs/cli.md).
[[nodiscard]] OrderedJson document(const Advised& advised);

}  // namespace overlaptune::cli
