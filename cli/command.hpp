#pragma once
// What every subcommand is made of.

#include <charconv>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "core/error.hpp"
#include "db/store.hpp"

namespace overlaptune::cli {

/// Exit codes beside those of `ErrorKind` (docs/cli.md).
inline constexpr int kDone = 0;
inline constexpr int kInternalError = 1;  ///< a defect of this program
inline constexpr int kSignalBase = 128;   ///< plus the signal: 130 after Ctrl-C

[[nodiscard]] const char* version();

/// What the command line asked for; `action` does it and returns the exit code.
struct Session {
  std::string command_line{};
  std::function<int()> action{};
};

/// Flags that every subcommand has.
struct CommonFlags {
  std::uint64_t seed = 0;
  bool json = false;
  bool verbose = false;
};

/// The log, on standard error: from `info` on, or from what OVERLAPTUNE_LOG says; `--verbose` comes
/// before both. Throws `Failure` (`bad_input`) for a level that is not known.
void start_log();

/// A subcommand with its example and the flag `--verbose`; `flags` must outlive the parsing.
CLI::App* add_command(CLI::App& root, const std::string& name, const std::string& description,
                      const std::string& example, CommonFlags& flags);

/// An option whose text one of our own parsers reads, `parse(std::string) -> Expected<T>`, so that
/// its error is ours too.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& name, T& target, Parse parse,
                        const std::string& description) {
  return command.add_option_function<std::string>(
      name,
      [&target, parse, name](const std::string& text) {
        auto value = parse(text);
        if (!value) throw CLI::ValidationError(name, value.error().message);
        target = std::move(*value);
      },
      description);
}

/// For `add_parsed`: a whole number in least..most, or an error that says so.
template <class T>
[[nodiscard]] auto whole_number(T least, T most) {
  return [least, most](const std::string& text) -> Expected<T> {
    T number{};
    const char* end = text.data() + text.size();
    const auto [rest, failure] = std::from_chars(text.data(), end, number);
    if (failure != std::errc{} || rest != end || number < least || number > most) {
      return bad_input(
          fmt::format("'{}': expected a whole number from {} to {}", text, least, most));
    }
    return number;
  };
}

/// Keeps `flags` alive and runs `run(*flags)` once everything is parsed.
template <class Flags>
void on_parsed(CLI::App& command, Session& session, std::shared_ptr<Flags> flags,
               int (*run)(const Flags&, const Session&)) {
  command.callback([&session, flags = std::move(flags), run] {
    session.action = [&session, flags, run] { return run(*flags, session); };
  });
}

/// The one document on standard output. Throws `Failure` where it cannot be written.
void print(const std::string& text);

/// Writes a whole file, through a temporary one beside it. Throws `Failure` (`cannot_write`).
void write_file(const std::string& file, const std::string& text);

/// To standard output where no file is named.
void print_or_write(const std::string& text, const std::string& file);

[[nodiscard]] Provenance provenance(const Session& session, const CommonFlags& flags);

void add_machines(CLI::App& root, Session& session);
void add_probe(CLI::App& root, Session& session);
void add_tune(CLI::App& root, Session& session);
void add_run(CLI::App& root, Session& session);
void add_holdout(CLI::App& root, Session& session);
void add_predict(CLI::App& root, Session& session);
void add_query(CLI::App& root, Session& session);
void add_evaluate(CLI::App& root, Session& session);
void add_report(CLI::App& root, Session& session);
void add_export_nccl_tuner(CLI::App& root, Session& session);
void add_db(CLI::App& root, Session& session);
void add_kernels(CLI::App& root, Session& session);
void add_cache(CLI::App& root, Session& session);

}  // namespace overlaptune::cli
