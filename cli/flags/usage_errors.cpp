#include "cli/flags/usage_errors.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/suggestion.hpp"

namespace overlaptune::cli {
namespace {

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

std::vector<std::string> names_of_options(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The error for a word that the command does not know.
std::string unknown(const CLI::App& command, const std::string& word) {
  if (word.starts_with('-')) {
    const std::string name = word.substr(0, word.find('='));
    const auto options = names_of_options(command);
    if (std::find(options.begin(), options.end(), name) != options.end()) {
      return fmt::format("{}: expected behind the command, as in {} {}", name, command.get_name(),
                         name);
    }
    return fmt::format("{}: {}: unknown option{}", command.get_name(), name,
                       did_you_mean(name, options));
  }
  const auto subcommands = names_of_subcommands(command);
  if (subcommands.empty()) {
    return fmt::format("'{}': not expected here; a list is written with commas, as in 1k,4k", word);
  }
  return fmt::format("subcommand '{}': expected one of {}{}", word, fmt::join(subcommands, ", "),
                     did_you_mean(word, subcommands));
}

/// The error for an entry of a --config file, which CLI11 calls "query.json", "query.++" (the
/// section itself) or, outside of sections, by the line.
std::string wrong_entry(const CLI::App& app, const std::string& entry) {
  const auto point = entry.find('.');
  if (point == std::string::npos) {
    return fmt::format("'{}': expected a section, as [tune], and below it lines as db = \"f.db\"",
                       entry);
  }
  const std::string section = entry.substr(0, point);
  const std::string flag = entry.substr(point + 1);
  const auto commands = names_of_subcommands(app);
  if (std::find(commands.begin(), commands.end(), section) == commands.end()) {
    return fmt::format("[{}]: expected a command: {}{}", section, fmt::join(commands, ", "),
                       did_you_mean(section, commands));
  }
  return fmt::format("[{}]: {}: unknown flag{}", section, flag,
                     did_you_mean("--" + flag, names_of_options(*app.get_subcommand(section))));
}

/// The message where an error is of the file of --config.
std::optional<std::string> wrong_file(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::Option* config = app.get_config_ptr();
  if (config == nullptr || config->empty()) return std::nullopt;
  const std::string file = config->results().front();
  const std::string_view words = error.what();
  if (error.get_name() == "FileError") {
    return fmt::format("--config {}: cannot be read: expected a file that exists", file);
  }
  if (error.get_name() != "ConfigError") return std::nullopt;
  constexpr std::string_view kUnknown = "INI was not able to parse ";
  if (words.starts_with(kUnknown)) {
    return fmt::format("--config {}: {}", file,
                       wrong_entry(app, std::string(words.substr(kUnknown.size()))));
  }
  return fmt::format("--config {}: {}: not a flag that a file may have", file,
                     words.substr(0, words.find(':')));
}

}  // namespace

const CLI::App& given(const CLI::App& app) {
  const auto commands = app.get_subcommands();
  return commands.empty() ? app : given(*commands.front());
}

std::string what_is_wrong(const CLI::App& app, const CLI::ParseError& error) {
  if (const auto message = wrong_file(app, error)) return *message;
  const CLI::App& command = given(app);
  const auto words = app.remaining(true);
  if (!words.empty()) return unknown(command, words.front());
  std::string message = error.what();
  constexpr std::string_view kNoConversion = "Could not convert: ";
  if (message.starts_with(kNoConversion)) {  // a flag that takes no value, as in --json=maybe
    message = message.substr(kNoConversion.size());
    const auto equals = message.find(" = ");
    if (equals != std::string::npos) {
      return fmt::format("{}: '{}': expected true or false", message.substr(0, equals),
                         message.substr(equals + 3));
    }
  }
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_required() && option->empty() && !option->get_envname().empty() &&
        message.starts_with(option->get_name())) {
      message += fmt::format(" where {} is not set", option->get_envname());
    }
  }
  return message;
}

}  // namespace overlaptune::cli
