#pragma once
// Pieces that every subcommand uses.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"
#include "db/store.hpp"

namespace overlaptune::cli {

/// Exit codes beside those of `ErrorKind` (docs/cli.md).
inline constexpr int kDone = 0;
inline constexpr int kInternalError = 1;  ///< a defect of this program
inline constexpr int kSignalBase = 128;   ///< plus the signal: 130 after Ctrl-C

[[nodiscard]] const char* version();

/// The version and the commit: `0.1.0+0afe391`.
[[nodiscard]] std::string build();

/// Exception that ends the program with a code: on a launcher's rank that does not run the command,
/// once its worker has ended; and where nobody reads standard output any more.
struct Ended {
  int code = 0;
};

/// The parsed command line; `action` does what it asks for and returns the exit code.
struct Session {
  std::string command_line{};
  std::string program = "overlaptune";  ///< as it was called, for commands that are printed
  std::function<int()> action{};
};

/// Flags that every subcommand has.
struct CommonFlags {
  std::uint64_t seed = 0;
  bool json = false;
  bool verbose = false;
};

/// Starts the log on standard error, from level `info` or from the level in OVERLAPTUNE_LOG;
/// `--verbose` overrides both. Throws `Failure` (`bad_input`) for an unknown level.
void start_log();

/// A subcommand and its flags, which live as long.
template <class Flags>
struct Command {
  CLI::App& app;
  Flags& flags;
};

/// Adds a subcommand with its example and the flags that every subcommand has.
CLI::App& add_subcommand(CLI::App& root, const std::string& name, const std::string& description,
                         const std::string& example, CommonFlags& flags);

/// Adds a subcommand whose action is `run(flags, session)`.
template <class Flags>
Command<Flags> add_command(CLI::App& root, Session& session, const std::string& name,
                           const std::string& description, const std::string& example,
                           int (*run)(const Flags&, const Session&)) {
  const auto flags = std::make_shared<Flags>();
  CLI::App& app = add_subcommand(root, name, description, example, flags->common);
  app.callback([&session, flags, run] {
    session.action = [&session, flags, run] { return run(*flags, session); };
  });
  return {app, *flags};
}

/// Throws `Failure` (`bad_input`) with a message, whose values are put in as by `fmt::format`.
template <class... Values>
[[noreturn]] void refuse(fmt::format_string<Values...> message, Values&&... values) {
  throw Failure(ErrorKind::bad_input, fmt::format(message, std::forward<Values>(values)...));
}

/// The name and the type in the usage of an option: "--keep N".
[[nodiscard]] inline std::pair<std::string, std::string> name_and_type(const std::string& usage) {
  const std::size_t blank = usage.find(' ');
  return {usage.substr(0, blank), usage.substr(blank + 1)};
}

/// Adds an option of texts or names of files.
template <class T>
CLI::Option* add_text(CLI::App& command, const std::string& usage, T& target,
                      const std::string& description) {
  const auto [name, type] = name_and_type(usage);
  return command.add_option(name, target, description)->type_name(type);
}

/// Adds an option whose text is read, and whose errors are worded, by `parse(std::string) ->
/// Expected<T>`.
template <class T, class Parse>
CLI::Option* add_parsed(CLI::App& command, const std::string& usage, T& target, Parse parse,
                        const std::string& description) {
  const auto [name, type] = name_and_type(usage);
  const auto read = [&target, parse, option = name](const std::string& text) {
    auto value = parse(text);
    if (!value) throw CLI::ValidationError(option, value.error().message);
    target = std::move(*value);
  };
  return command.add_option_function<std::string>(name, read, description)->type_name(type);
}

/// A parser for `add_parsed` that reads a whole number in least..most. Error: the text is none; the
/// message names the range.
template <class T>
[[nodiscard]] auto whole_number(T least, T most) {
  return [least, most](const std::string& text) -> Expected<T> {
    const auto number = parsed<T>(text);
    if (number && *number >= least && *number <= most) return *number;
    return bad_input(fmt::format("'{}': expected a whole number from {} to {}", text, least, most));
  };
}

/// A parser for `add_parsed` that reads a size from 1 to 2^bits - 1, as in 8k.
[[nodiscard]] inline auto size_of_bits(int bits) {
  return [bits](const std::string& text) -> Expected<std::int64_t> {
    auto size = parse_size(text);
    if (!size || (*size >= 1 && *size >> bits == 0)) return size;
    return bad_input(fmt::format("'{}': expected 1 to 2^{} - 1", text, bits));
  };
}

/// A parser for `add_parsed` that reads values separated by commas. Error: that of `parse`, or a
/// value that is given twice.
template <class Parse>
[[nodiscard]] auto list_of(Parse parse) {
  using Value = typename std::invoke_result_t<Parse, const std::string&>::value_type;
  return [parse](const std::string& text) -> Expected<std::vector<Value>> {
    std::vector<Value> list;
    for (const std::string& part : CLI::detail::split(text, ',')) {
      auto value = parse(part);
      if (!value) return error_of(value);
      if (std::find(list.begin(), list.end(), *value) != list.end()) {
        return bad_input(fmt::format("{} given twice: expected each once", part));
      }
      list.push_back(std::move(*value));
    }
    return list;
  };
}

/// Writes the command's output for people to standard output, made safe to show
/// (`printable_lines`): names in it may come from files of others. On a terminal it is made to fit
/// (`fitted`), unless --wide or --json is given. Throws `Failure` where that fails.
void print(const std::string& output);

/// `print` for output that programs read: lines stay as they are.
void print_whole_lines(const std::string& output);

/// Writes text that holds nothing from files to standard output; its colours stay.
void print_own(const std::string& text);

/// The lines of a JSON document. Bytes that are not UTF-8 (a path may hold any) become U+FFFD.
[[nodiscard]] std::string json_text(const nlohmann::ordered_json& document);

/// Prints `json_text(document)`.
void print_json(const nlohmann::ordered_json& document);

/// Prints the document under --json, otherwise the text. Returns `kDone`.
int print_either(const CommonFlags& flags, const nlohmann::ordered_json& document,
                 const std::string& text);

/// Writes a file with what `print` would write, whole or not at all; a device or a pipe is written
/// to. Throws `Failure`
/// (`cannot_write`; `bad_input` for a database, which would be lost).
void write_file(const std::string& file, const std::string& output);

/// Whether the file begins as every SQLite file does (SQLite's documentation, "Database File
/// Format", 1.3).
[[nodiscard]] bool is_database(const std::string& file);

/// Writes to the file, or to standard output where `file` is empty.
void print_or_write(const std::string& text, const std::string& file);

[[nodiscard]] Provenance provenance(const Session& session, const CommonFlags& flags);

void add_machines(CLI::App& root, Session& session);
void add_probe(CLI::App& root, Session& session);
void add_tune(CLI::App& root, Session& session);
void add_run(CLI::App& root, Session& session);
void add_query(CLI::App& root, Session& session);
void add_advise(CLI::App& root, Session& session);
void add_evaluate(CLI::App& root, Session& session);
void add_report(CLI::App& root, Session& session);
void add_sequences(CLI::App& root, Session& session);
void add_status(CLI::App& root, Session& session);
void add_whatif(CLI::App& root, Session& session);
void add_step(CLI::App& root, Session& session);
void add_db(CLI::App& root, Session& session);
void add_kernels(CLI::App& root, Session& session);
void add_cache(CLI::App& root, Session& session);

}  // namespace overlaptune::cli
