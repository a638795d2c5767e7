// Configs from text. There is one reader for each kind of value; it serves both the canonical line
// of a database, whose words have a fixed order, and the text of people, in any order.

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/config/check.hpp"
#include "core/config/config_fields.hpp"
#include "core/config/strategies.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";

/// The text in quotes, made fit for a one-line message.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + shown + (text.size() > kShown ? "…'" : "'");
}

/// The part of a text that is not read yet.
struct Rest {
  const char* at;
  const char* end;
  bool as_printed = true;  ///< every number so far stands as it is printed, without leading zeros

  explicit Rest(std::string_view text) : at(text.data()), end(text.data() + text.size()) {}

  [[nodiscard]] bool empty() const { return at == end; }
  bool skip(char wanted) {
    if (at == end || *at != wanted) return false;
    ++at;
    return true;
  }
  bool skip(std::string_view wanted) {
    if (!std::string_view(at, end).starts_with(wanted)) return false;
    at += wanted.size();
    return true;
  }
  /// Cuts off and returns what stands before the next space.
  std::string_view word() {
    const char* const start = at;
    at = std::find(at, end, ' ');
    return {start, static_cast<std::size_t>(at - start)};
  }
};

/// Reads digits, as many as an integer of 64 bits holds. It is written out because opening a
/// database reads numbers by the hundred thousand; std::from_chars took twice the instructions.
template <class T>
bool read_number(Rest& text, T least, T most, T& number) {
  constexpr std::ptrdiff_t kMostDigits = std::numeric_limits<std::uint64_t>::digits10;
  const char* const first = text.at;
  const char* const last = text.end - first > kMostDigits ? first + kMostDigits : text.end;
  std::uint64_t value = 0;
  for (; text.at != last && *text.at >= '0' && *text.at <= '9'; ++text.at) {
    value = 10 * value + static_cast<std::uint64_t>(*text.at - '0');
  }
  if (text.at == first || value < static_cast<std::uint64_t>(least) ||
      value > static_cast<std::uint64_t>(most)) {
    return false;
  }
  text.as_printed &= *first != '0' || text.at == first + 1;
  number = static_cast<T>(value);
  return true;
}

// Each overload of `read` returns whether a value of the field comes next, and stores the value.

bool read(Rest& text, const FieldInfo& info, int& number) {
  return read_number(text, info.least, info.most, number);
}

bool read(Rest& text, const FieldInfo& info, Tile& tile) {
  return read(text, info, tile.block_m) && text.skip('x') && read(text, info, tile.block_n) &&
         text.skip('x') && read(text, info, tile.block_k);
}

bool read(Rest& text, const FieldInfo&, std::vector<std::int64_t>& groups) {
  std::int64_t left = kMostTiles;
  do {
    std::int64_t& tiles = groups.emplace_back();
    if (!read_number<std::int64_t>(text, 1, left, tiles)) return false;
    left -= tiles;
  } while (text.skip(','));
  return true;
}

template <HasNames Value>
bool read(Rest& text, const FieldInfo&, Value& value) {
  const auto found = find_name<Value>(text.word());
  if (found) value = *found;
  return found.has_value();
}

// Each overload of `allowed` says for messages which values of the field a strategy may have.

std::string allowed(const FieldInfo& info, const int&, const StrategyTraits& traits) {
  const bool is_ctas = info.name == config_field::CommCtas::info.name;
  return fmt::format("{} to {}", is_ctas ? traits.least_ctas : info.least, info.most);
}
std::string allowed(const FieldInfo& info, const Tile&, const StrategyTraits&) {
  return fmt::format("MxNxK with sides of {} to {}", info.least, info.most);
}
std::string allowed(const FieldInfo&, const std::vector<std::int64_t>&, const StrategyTraits&) {
  return "tile counts of at least 1, as in 928,96";
}
template <HasNames Value>
std::string allowed(const FieldInfo&, const Value&, const StrategyTraits&) {
  return "one of " + names_of<Value>();
}
std::string allowed(const FieldInfo&, const Transport&, const StrategyTraits& traits) {
  const auto has = [&](Transport transport) { return traits.transports.contains(transport); };
  return "one of " + names_of<Transport>(has);
}

/// The words of a line: a strategy, and `name=value`s.
struct Words {
  std::optional<std::string_view> strategy{};
  std::vector<std::pair<std::string_view, std::string_view>> values{};

  /// Cuts off and returns the value of a field.
  std::optional<std::string_view> take(std::string_view name) {
    const auto found = std::ranges::find(values, name, [](const auto& each) { return each.first; });
    if (found == values.end()) return std::nullopt;
    const std::string_view value = found->second;
    values.erase(found);
    return value;
  }
};

std::string field_names() {
  std::string list;
  each_field_type([&](auto field) {
    list += (list.empty() ? "" : ", ") + std::string(decltype(field)::info.name);
  });
  return list;
}

/// The field of this name; null if there is none.
const FieldInfo* find_field(std::string_view name) {
  const FieldInfo* found = nullptr;
  each_field_type([&](auto field) {
    if (decltype(field)::info.name == name) found = &decltype(field)::info;
  });
  return found;
}

Expected<Words> words_of(std::string_view text) {
  Words words;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) return words;
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());

    const std::size_t equals = word.find('=');
    const bool bare = equals == std::string_view::npos;
    const std::string_view name = bare ? "strategy" : word.substr(0, equals);
    const std::string_view value = bare ? word : word.substr(equals + 1);
    const auto given_twice = [&] {
      return bad_input(fmt::format("config: {} = {}: given twice", name, quoted(value)));
    };
    if (name == "strategy") {
      if (words.strategy) return given_twice();
      words.strategy = value;
      continue;
    }
    if (find_field(name) == nullptr) {
      return bad_input(fmt::format("config: field {}: expected a strategy ({}) and fields {}",
                                   quoted(name), names_of<Strategy>(), field_names()));
    }
    for (const auto& [known, other] : words.values) {
      if (known == name) return given_twice();
    }
    words.values.emplace_back(name, value);
  }
}

/// Fills in the fields of the strategy that are given. Error: a value that the field cannot have,
/// or a field that is missing.
Expected<void> read_fields(Words& words, Config& config) {
  Expected<void> outcome;
  const StrategyTraits& traits = traits_of(strategy_of(config));
  each_field(config, [&](auto field, auto& value, Presence presence) {
    if (!outcome) return;
    const FieldInfo& info = field.info;
    if (const auto text = words.take(info.name)) {
      Rest rest(*text);
      if (!read(rest, info, value) || !rest.empty()) {
        outcome = bad_input(fmt::format("config: {} = {}: expected {}", info.name, quoted(*text),
                                        allowed(info, value, traits)));
      }
    } else if (presence == Presence::required) {
      outcome = bad_input(fmt::format("config: {}: missing: {} needs {}", info.name,
                                      to_string(traits.strategy), allowed(info, value, traits)));
    }
  });
  return outcome;
}

/// Skips " name=" if it comes next.
template <class Field>
bool skip_name(Rest& line) {
  constexpr std::string_view kName = Field::info.name;
  const char* const start = line.at;
  if (line.skip(' ') && line.skip(kName) && line.skip('=')) return true;
  line.at = start;
  return false;
}

template <class Own>
bool read_canonical_fields(Rest line, Own& own) {
  [[maybe_unused]] static const Own kDefaults{};
  bool good = true;
  each_field(own, [&](auto field, auto& value, Presence presence) {
    if (!good) return;
    if (!skip_name<decltype(field)>(line)) {
      good = presence == Presence::if_not_default;
      return;
    }
    good = read(line, field.info, value);
    if (good && presence == Presence::if_not_default) {
      with_field<decltype(field)>(kDefaults, [&](const auto& usual) { good = value != usual; });
    }
  });
  return good && line.empty() && line.as_printed;
}

/// Sets every field to its default; wave groups keep their memory.
void reset(Config& config, Strategy strategy) {
  if (strategy_of(config) != strategy) {
    config = default_config(strategy);
    return;
  }
  const auto reset_own = [](auto& own) {
    std::remove_reference_t<decltype(own)> fresh;
    if constexpr (requires { own.wave_groups; }) {
      own.wave_groups.clear();
      fresh.wave_groups.swap(own.wave_groups);
    }
    own = std::move(fresh);
  };
  std::visit(reset_own, config);
}

}  // namespace

Expected<Config> parse_config(std::string_view text) {
  auto words = words_of(text);
  if (!words) return error_of(words);
  if (!words->strategy) {
    return bad_input("config: strategy: missing: expected one of " + names_of<Strategy>());
  }
  const auto strategy = find_name<Strategy>(*words->strategy);
  if (!strategy) {
    return bad_input(fmt::format("config: strategy = {}: expected one of {}",
                                 quoted(*words->strategy), names_of<Strategy>()));
  }
  Config config = default_config(*strategy);
  if (const auto whole = read_fields(*words, config); !whole) return error_of(whole);
  for (const auto& [name, value] : words->values) {
    const std::string_view none = find_field(name)->none;
    if (none.empty() || value != none) {
      return bad_input(
          fmt::format("config: {} = {}: {} has none", name, quoted(value), to_string(*strategy)));
    }
  }
  if (const auto legal = check(config); !legal) {
    return bad_input("config: " + legal.error().message);
  }
  return config;
}

bool read_canonical(std::string_view line, Config& config) {
  Rest fields(line);
  const auto strategy = find_name<Strategy>(fields.word());
  if (!strategy) return false;
  reset(config, *strategy);
  return std::visit([&](auto& own) { return read_canonical_fields(fields, own); }, config);
}

std::string why_not_canonical(std::string_view line) {
  const auto config = parse_config(line);
  if (!config) return config.error().message;
  constexpr std::size_t kShown = 200;
  return "config: expected it as it is printed: '" + to_string(*config).substr(0, kShown) + "'";
}

}  // namespace overlaptune
