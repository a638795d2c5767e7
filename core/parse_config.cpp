#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "core/config.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kBlanks = " \t\r\n\v\f";
constexpr int kLargestBlock = 65536;
constexpr int kMostStages = 64;
constexpr int kLargestCluster = 2;
constexpr int kLargestRaster = 1 << 30;
constexpr int kMostCtas = 65535;
constexpr int kMostChunks = 1 << 30;
/// Of all groups together, so that their sum cannot overflow.
constexpr std::int64_t kMostTiles = std::int64_t{1} << 62;

/// The text as it may stand in a message of one line.
std::string quoted(std::string_view text) {
  constexpr std::size_t kShown = 40;
  std::string shown(text.substr(0, kShown));
  for (char& c : shown) {
    if (c < ' ' || c > '~') c = '?';
  }
  return "'" + shown + (text.size() > kShown ? "…'" : "'");
}

tl::unexpected<Error> bad_field(std::string_view name, std::string_view value,
                                std::string_view allowed) {
  return bad_input(fmt::format("config: {} = {}: expected {}", name, quoted(value), allowed));
}

template <class T>
std::optional<T> whole(std::string_view text, T least, T most) {
  T number{};
  const char* end = text.data() + text.size();
  const auto [rest, failure] = std::from_chars(text.data(), end, number);
  if (failure != std::errc{} || rest != end || number < least || number > most) return {};
  return number;
}

/// Cuts off and returns what stands before the separator, or all.
std::string_view take(std::string_view& text, char separator) {
  const std::size_t end = text.find(separator);
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  return part;
}

bool read_tile(std::string_view text, Config& config) {
  if (text == "library") return true;
  for (int* const side : {&config.tile.block_m, &config.tile.block_n}) {
    if (text.find('x') == std::string_view::npos) return false;
    const auto size = whole(take(text, 'x'), 1, kLargestBlock);
    if (!size) return false;
    *side = *size;
  }
  const auto depth = whole(text, 1, kLargestBlock);
  if (depth) config.tile.block_k = *depth;
  return depth.has_value();
}

bool read_number(std::string_view text, int least, int most, int& number) {
  const auto value = whole(text, least, most);
  if (value) number = *value;
  return value.has_value();
}

bool read_transport(std::string_view text, Config& config) {
  const auto transport = parse_name<Transport>(text);
  if (transport) config.transport = *transport;
  return transport.has_value();
}

bool read_wait(std::string_view text, Config& config) {
  const auto wait = find_name<Wait>(text);
  if (wait) config.wait = *wait;
  return wait.has_value();
}

bool read_groups(std::string_view text, Config& config) {
  if (text.empty() || text.back() == ',') return false;
  for (std::int64_t left = kMostTiles; !text.empty();) {
    const auto tiles = whole<std::int64_t>(take(text, ','), 1, left);
    if (!tiles) return false;
    left -= *tiles;
    config.wave_groups.push_back(*tiles);
  }
  return true;
}

struct Field {
  std::string_view name;
  bool (*read)(std::string_view, Config&);
  std::string allowed;
};

const std::array<Field, 9>& fields() {
  static const std::array<Field, 9> kFields{
      {{"tile", read_tile, fmt::format("MxNxK with sides of 1 to {}, or library", kLargestBlock)},
       {"stages",
        [](std::string_view text, Config& config) {
          return read_number(text, 1, kMostStages, config.tile.stages);
        },
        fmt::format("1 to {}", kMostStages)},
       {"cluster",
        [](std::string_view text, Config& config) {
          return read_number(text, 1, kLargestCluster, config.tile.cluster);
        },
        fmt::format("1 to {}", kLargestCluster)},
       {"raster",
        [](std::string_view text, Config& config) {
          return read_number(text, 1, kLargestRaster, config.raster);
        },
        fmt::format("1 to {}", kLargestRaster)},
       {"ctas",
        [](std::string_view text, Config& config) {
          return read_number(text, 0, kMostCtas, config.comm_ctas);
        },
        fmt::format("0 to {}", kMostCtas)},
       {"transport", read_transport, "one of " + names_of<Transport>()},
       {"chunks",
        [](std::string_view text, Config& config) {
          return read_number(text, 1, kMostChunks, config.chunks);
        },
        fmt::format("1 to {}", kMostChunks)},
       {"wait", read_wait, "one of " + names_of<Wait>()},
       {"groups", read_groups, "tile counts of at least 1, as in 928,96"}}};
  return kFields;
}

const Field* find_field(std::string_view name) {
  for (const Field& field : fields()) {
    if (field.name == name) return &field;
  }
  return nullptr;
}

/// What the fields must be to one another.
Expected<Config> consistent(Config config) {
  const bool signaled = config.strategy == Strategy::signaled;
  const std::string strategy(to_string(config.strategy));
  const auto missing = [](std::string_view name, std::string_view who) {
    return bad_input(
        fmt::format("config: {}: missing: {} needs {}", name, who, find_field(name)->allowed));
  };
  const std::pair<std::string_view, int> of_a_tile[] = {
      {"stages", config.tile.stages}, {"cluster", config.tile.cluster}, {"raster", config.raster}};
  for (const auto& [name, value] : of_a_tile) {
    if (config.tile.is_library() && value != 0) {
      return bad_input(
          fmt::format("config: {} = {}: expected only beside a tile=MxNxK", name, value));
    }
    if (!config.tile.is_library() && value == 0) return missing(name, "a tile");
  }
  if (signaled && config.tile.is_library()) return missing("tile", "its own GEMM (signaled)");
  if (signaled && config.wave_groups.empty()) return missing("groups", strategy);
  if (!signaled && config.strategy != Strategy::copy_engine && !config.wave_groups.empty()) {
    return bad_input(fmt::format("config: groups: {} has none", strategy));
  }
  const bool chunked =
      config.strategy == Strategy::chunked || config.strategy == Strategy::copy_engine;
  if (!chunked && config.chunks != 1) {
    return bad_input(fmt::format("config: chunks = {}: {} has none", config.chunks, strategy));
  }
  if (const auto sound = waits(config); !sound) {
    return bad_input("config: " + sound.error().message);
  }
  if (config.comm_ctas == 0 && needs_ctas(config)) {
    return bad_input(fmt::format("config: ctas = 0: {} by {} needs 1 to {}", strategy,
                                 to_string(config.transport), kMostCtas));
  }
  return config;
}

}  // namespace

Expected<Config> parse_config(std::string_view text) {
  Config config;
  std::set<std::string_view> given;
  for (;;) {
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
    if (text.empty()) break;
    const std::string_view word = text.substr(0, text.find_first_of(kBlanks));
    text.remove_prefix(word.size());

    const std::size_t equals = word.find('=');
    const bool bare = equals == std::string_view::npos;
    const std::string_view name = bare ? "strategy" : word.substr(0, equals);
    const std::string_view value = bare ? word : word.substr(equals + 1);
    const Field* const field = find_field(name);
    if (name != "strategy" && field == nullptr) {
      return bad_input(fmt::format(
          "config: field {}: expected a strategy ({}) and fields tile, stages, cluster, raster, "
          "ctas, transport, chunks, wait, groups",
          quoted(name), names_of<Strategy>()));
    }
    if (!given.insert(name).second) {
      return bad_input(fmt::format("config: {} = {}: given twice", name, quoted(value)));
    }
    if (field == nullptr) {
      const auto strategy = parse_name<Strategy>(value);
      if (!strategy) return bad_field(name, value, "one of " + names_of<Strategy>());
      config.strategy = *strategy;
    } else if (!field->read(value, config)) {
      return bad_field(name, value, field->allowed);
    }
  }
  if (!given.contains("strategy")) {
    return bad_input("config: strategy: missing: expected one of " + names_of<Strategy>());
  }
  if (config.strategy == Strategy::signaled && !given.contains("ctas")) {
    return bad_input(fmt::format("config: ctas: missing: signaled needs {}, 0 for one CTA a tile",
                                 find_field("ctas")->allowed));
  }
  return consistent(std::move(config));
}

}  // namespace overlaptune
