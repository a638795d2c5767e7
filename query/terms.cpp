#include "query/terms.hpp"

#include "core/base/printable.hpp"

namespace overlaptune {

std::string names_of(const EnumSet<Strategy>& strategies) {
  std::string text;
  for (const StrategyTraits& traits : kStrategies) {
    if (!strategies.contains(traits.strategy)) continue;
    if (!text.empty()) text += ", ";
    text += to_string(traits.strategy);
  }
  return text;
}

Expected<EnumSet<Strategy>> parse_strategies(std::string_view text) {
  EnumSet<Strategy> strategies;
  for (std::size_t comma = 0; comma != text.npos;) {
    comma = text.find(',');
    const std::string_view name = text.substr(0, comma);
    text.remove_prefix(comma == text.npos ? text.size() : comma + 1);
    const auto strategy = parse_name<Strategy>(printable(name));
    if (!strategy) return error_of(strategy);
    strategies.insert(*strategy);
  }
  return strategies;
}

}  // namespace overlaptune
