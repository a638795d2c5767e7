#pragma once
// Errors of a command line, or of the file of its --config, each in one line.

#include <string>

#include <CLI/CLI.hpp>

namespace overlaptune::cli {

/// The subcommand that was given, at any depth, or `app`.
[[nodiscard]] const CLI::App& given(const CLI::App& app);

/// The message of a parse error. CLI11 tells what is missing before it tells what it does not know;
/// often the one is the other, misspelled.
[[nodiscard]] std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error);

}  // namespace overlaptune::cli
