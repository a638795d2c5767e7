#pragma once
// The flags of `AskedLimits`.

#include <CLI/CLI.hpp>

#include "planning/sequences/limits.hpp"

namespace overlaptune::cli {

/// Adds `--heads`, `--least-degree`, `--most-degree`, `--group-sequences`,
/// `--micro-batch-multiple` and `--pad`.
void add_limit_flags(CLI::App& command, AskedLimits& flags);

}  // namespace overlaptune::cli
