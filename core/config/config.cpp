#include "core/config/config.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/config/config_fields.hpp"

namespace overlaptune {
namespace {

void print(std::string& line, int value) {
  fmt::format_to(std::back_inserter(line), "{}", value);
}
void print(std::string& line, const Tile& tile) {
  line += to_string(tile);
}
void print(std::string& line, const std::vector<std::int64_t>& counts) {
  fmt::format_to(std::back_inserter(line), "{}", fmt::join(counts, ","));
}
template <HasNames Value>
void print(std::string& line, Value value) {
  line += to_string(value);
}

template <class Own>
void print_config(std::string& line, const Own& own) {
  const Own defaults{};
  each_field(own, [&](auto field, const auto& value, Presence presence) {
    if (presence == Presence::if_not_default) {
      bool is_default = false;
      with_field<decltype(field)>(defaults,
                                  [&](const auto& usual) { is_default = value == usual; });
      if (is_default) return;
    }
    fmt::format_to(std::back_inserter(line), " {}=", field.info.name);
    print(line, value);
  });
}

}  // namespace

std::string to_string(const Tile& tile) {
  if (tile.is_library()) return "library";
  return fmt::format("{}x{}x{}", tile.block_m, tile.block_n, tile.block_k);
}

Config default_config(Strategy strategy) {
  static const auto kDefaults =
      each_strategy([]<class Own>(std::type_identity<Own>) -> Config { return Own{}; });
  return kDefaults.at(static_cast<std::size_t>(strategy));
}

std::string to_string(const Config& config) {
  std::string line{to_string(strategy_of(config))};
  std::visit([&](const auto& own) { print_config(line, own); }, config);
  return line;
}

}  // namespace overlaptune
