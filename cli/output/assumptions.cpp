#include "cli/output/assumptions.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune::cli {

CLI::Option* add_assume_dense_flag(CLI::App& command, ReadingOptions& options) {
  return command.add_flag(
      "--assume-dense", options.assume_dense,
      "Answer for a --model of a type that is not known as if fields that are not known were not "
      "there; each line of the answer says so");
}

std::string assumed(const Assumptions& assumptions) {
  if (assumptions.sentences.empty()) return {};
  return fmt::format("; assumed: {}", fmt::join(assumptions.sentences, "; "));
}

std::string marked_lines(const std::string& text, const Assumptions& assumptions) {
  if (!assumptions.dense) return text;
  std::string made;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    made += line.empty() ? line : line + " (assumed dense)";
    if (end < text.size()) made += '\n';
    at = end + 1;
  }
  return made;
}

std::string with_assumptions(std::string text, const Assumptions& assumptions) {
  for (const std::string& sentence : assumptions.sentences) {
    text += fmt::format("Note: {}\n", sentence);
  }
  return marked_lines(text, assumptions);
}

void add_assumptions(OrderedJson& document, const Assumptions& assumptions) {
  document["assumptions"] = assumptions.sentences;
  document["assumed_dense"] = assumptions.dense;
}

}  // namespace overlaptune::cli
