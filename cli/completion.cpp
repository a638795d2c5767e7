// overlaptune completion: a script by which a shell completes this program's command lines, made
// from the commands and options that CLI11 knows.

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/command.hpp"
#include "core/names.hpp"

namespace overlaptune {

namespace cli {
enum class Shell { bash, zsh, fish };
}

template <>
struct NamesOf<cli::Shell> {
  static constexpr std::string_view what = "shell";
  static constexpr std::array<Named<cli::Shell>, 3> all{
      {{cli::Shell::bash, "bash"}, {cli::Shell::zsh, "zsh"}, {cli::Shell::fish, "fish"}}};
};

namespace cli {
namespace {

struct Word {
  std::string name{};  ///< "tune", "--db"
  std::string description{};
  bool takes_value = false;
  bool takes_file = false;
};

struct Command {
  std::vector<std::string> path{};  ///< without the program: "db", "info"
  std::vector<Word> subcommands{};
  std::vector<Word> options{};
  bool takes_files = false;  ///< as arguments
  [[nodiscard]] std::string name() const { return fmt::format("{}", fmt::join(path, " ")); }
};

bool names_a_file(const CLI::Option& option) {
  return option.get_type_name() == "FILE";
}

/// All commands, each before its subcommands. Hidden options are left out.
void collect(const CLI::App& app, const std::vector<std::string>& path,
             std::vector<Command>& list) {
  Command command{.path = path};
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) {
      const bool takes_value = option->get_items_expected_max() > 0;
      command.options.push_back({"--" + name, option->get_description(), takes_value,
                                 takes_value && names_a_file(*option)});
    }
    command.takes_files =
        command.takes_files || (option->get_positional() && names_a_file(*option));
  }
  const auto subcommands = app.get_subcommands({});
  for (const CLI::App* each : subcommands) {
    command.subcommands.push_back({each->get_name(), each->get_description()});
  }
  list.push_back(std::move(command));
  for (const CLI::App* each : subcommands) {
    std::vector<std::string> longer = path;
    longer.push_back(each->get_name());
    collect(*each, longer, list);
  }
}

/// The text in single quotes, as the three shells read them.
std::string quoted(const std::string& text, Shell shell) {
  std::string made = "'";
  for (const char c : text) {
    if (c == '\'') {
      made += shell == Shell::fish ? "\\'" : "'\\''";
    } else if (c == '\\' && shell == Shell::fish) {
      made += "\\\\";
    } else {
      made += c;
    }
  }
  return made + "'";
}

/// A branch of `case`: the patterns, one for each text, and what is done; nothing without texts.
std::string branch(const std::vector<std::string>& texts, const std::string& action) {
  if (texts.empty()) return "";
  std::vector<std::string> patterns;
  patterns.reserve(texts.size());
  for (const std::string& text : texts) patterns.push_back(quoted(text, Shell::bash));
  return fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), action);
}

/// `case`s that bash and zsh share: the first finds the command that a line names so far, the
/// second completes values of options. Both match "COMMAND WORD".
struct Cases {
  std::string command{};
  std::string value{};
};

Cases cases_of(const std::vector<Command>& commands, const std::string& complete_file) {
  std::vector<std::string> deeper;
  std::vector<std::string> files;
  std::vector<std::string> others;
  for (const Command& command : commands) {
    for (const Word& word : command.subcommands) deeper.push_back(command.name() + " " + word.name);
    for (const Word& word : command.options) {
      if (!word.takes_value) continue;
      (word.takes_file ? files : others).push_back(command.name() + " " + word.name);
    }
  }
  return {branch(deeper, "command=${command:+$command }$word"),
          branch(files, complete_file + "; return") + branch(others, "return")};
}

std::string for_bash(const std::vector<Command>& commands) {
  const std::string file =
      "compopt -o filenames 2> /dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$current\")";
  const Cases cases = cases_of(commands, file);
  std::string words;
  for (const Command& command : commands) {
    std::vector<std::string> names;
    for (const Word& word : command.subcommands) names.push_back(word.name);
    for (const Word& word : command.options) names.push_back(word.name);
    words += branch({command.name()}, fmt::format("words='{}'{}", fmt::join(names, " "),
                                                  command.takes_files ? " files=1" : ""));
  }
  return fmt::format(
      R"(# Completion of overlaptune for bash, written by `overlaptune completion bash`.
_overlaptune() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} command='' words='' files='' word
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$command $word" in
{}    esac
  done
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{}  esac
  case $command in
{}  esac
  if [[ -n $files && $current != -* ]]; then
    {}
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
  fi
}}
complete -F _overlaptune overlaptune
)",
      cases.command, cases.value, words, file);
}

std::string for_zsh(const std::vector<Command>& commands) {
  const Cases cases = cases_of(commands, "_files");
  const auto described = [](const std::vector<Word>& list) {
    std::string text;
    for (const Word& word : list) {
      text += " " + quoted(word.name + ":" + word.description, Shell::zsh);
    }
    return text;
  };
  std::string words;
  for (const Command& command : commands) {
    words += branch({command.name()},
                    fmt::format("commands=({}) options=({}){}", described(command.subcommands),
                                described(command.options), command.takes_files ? " files=1" : ""));
  }
  return fmt::format(
      R"(#compdef overlaptune
# Completion of overlaptune for zsh, written by `overlaptune completion zsh`.
_overlaptune() {{
  local command='' files='' word none=1
  local -a commands options
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$command $word" in
{}    esac
  done
  case "$command ${{words[CURRENT-1]}}" in
{}  esac
  case $command in
{}  esac
  if (( $#commands )); then _describe -t commands command commands && none=0; fi
  if [[ -n $files ]]; then _files && none=0; fi
  _describe -o option options && none=0
  return none
}}
if [[ $funcstack[1] == _overlaptune ]]; then _overlaptune "$@"; else compdef _overlaptune overlaptune; fi
)",
      cases.command, cases.value, words);
}

/// The condition under which fish offers the words of a command.
std::string condition(const Command& command) {
  if (command.path.empty()) return "__fish_use_subcommand";
  std::string text;
  for (const std::string& word : command.path) {
    text += fmt::format("{}__fish_seen_subcommand_from {}", text.empty() ? "" : "; and ", word);
  }
  return text;
}

std::string for_fish(const std::vector<Command>& commands) {
  std::string text =
      "# Completion of overlaptune for fish, written by `overlaptune completion fish`.\n"
      "complete -c overlaptune -f\n";
  for (const Command& command : commands) {
    const std::string here = condition(command);
    std::vector<std::string> names;
    for (const Word& word : command.subcommands) names.push_back(word.name);
    const std::string none_yet = command.path.empty()
                                     ? here
                                     : fmt::format("{}; and not __fish_seen_subcommand_from {}",
                                                   here, fmt::join(names, " "));
    for (const Word& word : command.subcommands) {
      text +=
          fmt::format("complete -c overlaptune -n {} -a {} -d {}\n", quoted(none_yet, Shell::fish),
                      word.name, quoted(word.description, Shell::fish));
    }
    for (const Word& word : command.options) {
      text += fmt::format("complete -c overlaptune -n {} -l {}{} -d {}\n",
                          quoted(here, Shell::fish), word.name.substr(2),
                          word.takes_file    ? " -r -F"
                          : word.takes_value ? " -x"
                                             : "",
                          quoted(word.description, Shell::fish));
    }
    if (command.takes_files) {
      text += fmt::format("complete -c overlaptune -n {} -F\n", quoted(here, Shell::fish));
    }
  }
  return text;
}

}  // namespace

void add_completion(CLI::App& root, Session& session) {
  auto shell = std::make_shared<Shell>();
  CLI::App* command = root.add_subcommand(
      "completion", "Print a script by which a shell completes command lines of this program");
  command->footer(
      "Example:\n  overlaptune completion bash > ~/.local/share/bash-completion/completions/"
      "overlaptune");
  add_parsed(*command, "shell", *shell, parse_name<Shell>, names_of<Shell>())->required();
  command->callback([&root, &session, shell] {
    session.action = [&root, shell] {
      std::vector<Command> commands;
      collect(root, {}, commands);
      print_whole_lines(*shell == Shell::bash  ? for_bash(commands)
                        : *shell == Shell::zsh ? for_zsh(commands)
                                               : for_fish(commands));
      return kDone;
    };
  });
}

}  // namespace cli
}  // namespace overlaptune
