// The canonical text of a recipe.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/base/text.hpp"
#include "core/config/recipe.hpp"

namespace overlaptune {
namespace {

/// The last field of configs with wave groups. A range has shares in its place.
constexpr std::string_view kGroups = " groups=";
constexpr std::string_view kShares = " shares=";
/// Most lines of a text.
constexpr std::size_t kMostRanges = 4096;

std::string header(const Recipe& recipe) {
  const Weight& weight = recipe.weight;
  return fmt::format("recipe={} op={} n={} k={} dtype={} ranks={} launch={} sms={}",
                     Recipe::kVersion, to_string(weight.op), weight.n, weight.k,
                     to_string(weight.elements), weight.ranks, to_string(recipe.launch),
                     recipe.sms);
}

std::string line_of(const RecipeRange& range) {
  return fmt::format("from={} to={} {}", range.from, range.to, config_text(range));
}

/// Cuts off "name=value ", or "name=value" at the end of the text, and reads the value.
template <class Value>
bool read(std::string_view& text, std::string_view name, Value& value) {
  if (!text.starts_with(name) || !text.substr(name.size()).starts_with('=')) return false;
  text.remove_prefix(name.size() + 1);
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(std::min(word.size() + 1, text.size()));
  std::optional<Value> found;
  if constexpr (HasNames<Value>) {
    found = find_name<Value>(word);
  } else {
    found = parsed<Value>(word);
  }
  if (found) value = *found;
  return found.has_value();
}

bool read_header(std::string_view line, Recipe& recipe) {
  Weight& weight = recipe.weight;
  int version = 0;
  return read(line, "recipe", version) && version == Recipe::kVersion &&
         read(line, "op", weight.op) && read(line, "n", weight.n) && read(line, "k", weight.k) &&
         read(line, "dtype", weight.elements) && read(line, "ranks", weight.ranks) &&
         read(line, "launch", recipe.launch) && read(line, "sms", recipe.sms) && line.empty();
}

Expected<RecipeRange> parse_range(std::string_view line) {
  RecipeRange range;
  std::string_view rest = line;
  if (!read(rest, "from", range.from) || !read(rest, "to", range.to)) {
    return bad_input("expected from=ROWS to=ROWS and a config");
  }
  std::string config(rest);
  if (const std::size_t at = config.rfind(kShares); at != std::string::npos) {
    auto shares = parse_shares(std::string_view(config).substr(at + kShares.size()));
    if (!shares) return error_of(shares);
    range.shares = std::move(*shares);
    config.resize(at);
    config += std::string(kGroups) + "1";
  }
  if (!read_canonical(config, range.config)) return bad_input(why_not_canonical(config));
  auto* groups = wave_groups_of(range.config);
  if (groups != nullptr && !range.shares.empty()) groups->clear();
  return range;
}

tl::unexpected<Error> wrong_line(std::size_t number, std::string_view line, std::string_view why) {
  constexpr std::size_t kShown = 120;
  return bad_input(
      fmt::format("recipe: line {} '{}': {}", number, printable(line.substr(0, kShown)), why));
}

}  // namespace

std::string config_text(const RecipeRange& range) {
  if (range.shares.empty()) return to_string(range.config);
  std::string line = to_string(range.config);
  line.resize(line.rfind(kGroups));
  return line + std::string(kShares) + shares_text(range.shares);
}

std::string to_string(const Recipe& recipe) {
  std::string text = header(recipe);
  for (const RecipeRange& range : recipe.ranges) text += "\n" + line_of(range);
  return text;
}

Expected<Recipe> parse_recipe(std::string_view text) {
  Recipe recipe;
  std::size_t number = 0;
  for (std::string_view rest = text; number == 0 || !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    const bool is_last = line.size() == rest.size();
    rest.remove_prefix(is_last ? rest.size() : line.size() + 1);
    ++number;
    if (number == 1) {
      if (read_header(line, recipe) && line == header(recipe)) continue;
      return wrong_line(
          number, line,
          fmt::format("expected 'recipe={} op=… n=… k=… dtype=… ranks=… launch=… sms=…'",
                      Recipe::kVersion));
    }
    auto range = parse_range(line);
    if (!range) return wrong_line(number, line, range.error().message);
    if (number > kMostRanges) return wrong_line(number, line, "too many lines");
    if (line != line_of(*range)) return wrong_line(number, line, "expected it as it is printed");
    recipe.ranges.push_back(std::move(*range));
  }
  if (text.ends_with('\n')) return bad_input("recipe: a newline at the end: expected none");
  return validated(std::move(recipe));
}

}  // namespace overlaptune
