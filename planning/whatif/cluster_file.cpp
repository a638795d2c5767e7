#include "planning/whatif/cluster_file.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/suggestion.hpp"
#include "core/base/text_file.hpp"
#include "json/asked_fields.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"
#include "planning/whatif/algorithms.hpp"

namespace overlaptune::cluster {
namespace {

constexpr double kLeastRate = 1e-3;  // GB/s
constexpr double kMostRate = 1e6;
constexpr double kMostTime = 1e6;  // us
constexpr int kMostMembers = 65536;
constexpr int kMostDimensions = 6;
constexpr double kMostTflops = 1e6;

/// The value of {"value": ..., "source": "..."}, read by `read`. Throws: no source.
template <class Read>
auto sourced(const JsonReader& at, std::string_view key, Read read) {
  const JsonReader figure = at[key];
  if (!figure.is_object()) figure.fail("expected {\"value\": ..., \"source\": \"...\"}");
  const JsonReader source = figure["source"];
  if (source.text().empty()) source.fail("expected where the value comes from");
  return read(figure["value"]);
}

double number(const JsonReader& at, std::string_view key, double least, double most) {
  return sourced(at, key, [&](const JsonReader& value) { return value.number(least, most); });
}

/// A torus may have several, one for each dimension.
std::vector<int> sizes(const JsonReader& at, LevelKind kind) {
  const JsonReader value = at["size"];
  if (!value.is_array()) return {value.small(1, kMostMembers)};
  if (kind != LevelKind::torus) {
    value.fail(
        fmt::format("expected one whole number from 1 to {}: only a torus has several dimensions",
                    kMostMembers));
  }
  auto list = value.list([](const JsonReader& size) { return size.small(1, kMostMembers); });
  if (list.empty() || list.size() > kMostDimensions) {
    value.fail(fmt::format("expected 1 to {} sizes", kMostDimensions));
  }
  return list;
}

/// [[bytes, share], ...], bytes ascending.
ByBytes curve(const JsonReader& value) {
  ByBytes points;
  value.each([&](const JsonReader& point) {
    std::vector<double> pair;
    point.each([&](const JsonReader& each) { pair.push_back(each.number(1e-3, 1e18)); });
    if (pair.size() != 2) point.fail("expected [bytes, share]");
    if (pair[1] > 1) point.fail("expected a share of at most 1 of the link's rate");
    if (!points.empty() && pair[0] <= points.back().first) point.fail("expected ascending bytes");
    points.emplace_back(pair[0], pair[1]);
  });
  if (points.empty()) value.fail("expected at least one [bytes, share]");
  return points;
}

/// {"all_reduce": [[bytes, share], ...], ...}
std::map<std::string, ByBytes, std::less<>> pairs(const JsonReader& value) {
  std::map<std::string, ByBytes, std::less<>> list;
  for (const auto& [operation, name] : NamesOf<Operation>::all) {
    if (value.has(name)) list.emplace(name, curve(value[name]));
  }
  if (list.empty()) value.fail("expected a curve of at least one operation");
  return list;
}

std::vector<Protocol> protocols(const JsonReader& value) {
  auto list = value.list([](const JsonReader& at) {
    return Protocol{.name = at["name"].text(),
                    .start_us = at["start_us"].number(0, kMostTime),
                    .extra_us = at["extra_us"].number(0, kMostTime),
                    .share = at["share"].number(1e-6, 1)};
  });
  if (list.empty()) value.fail("expected at least one protocol");
  return list;
}

Multicast multicast(const JsonReader& value) {
  return {.share = value["share"].number(1e-6, 1),
          .latency_us = value["latency_us"].number(0, kMostTime)};
}

/// Whether a field is there that only levels of one kind have. Throws: in a level of another kind.
bool has_of_kind(const JsonReader& at, std::string_view field, LevelKind kind, LevelKind expected) {
  if (!at.has(field)) return false;
  if (kind == expected) return true;
  at[field].fail(fmt::format("a field of levels of kind {}: expected none beside kind {}",
                             to_string(expected), to_string(kind)));
}

Level level(const JsonReader& at) {
  Level level{.name = at["name"].text(),
              .kind = at["kind"].name<LevelKind>(),
              .sizes = sizes(at, at["kind"].name<LevelKind>()),
              .links = sourced(at, "links", [](const JsonReader& v) { return v.small(1, 4096); }),
              .gb_per_s = number(at, "gb_per_s", kLeastRate, kMostRate),
              .latency_us = number(at, "latency_us", 0, kMostTime)};
  if (level.kind == LevelKind::full_mesh &&
      level.links % std::max(1, level.sizes.front() - 1) != 0) {
    at["links"].fail(fmt::format("expected the same number to each of {} others: a multiple of it",
                                 level.sizes.front() - 1));
  }
  if (at.has("efficiency")) level.efficiency = sourced(at, "efficiency", curve);
  if (at.has("pairs")) level.pairs = sourced(at, "pairs", pairs);
  if (at.has("protocols")) level.protocols = sourced(at, "protocols", protocols);
  if (has_of_kind(at, "multicast", level.kind, LevelKind::switched)) {
    level.multicast = sourced(at, "multicast", multicast);
  }
  if (has_of_kind(at, "root_gb_per_s", level.kind, LevelKind::pcie)) {
    level.root_gb_per_s = number(at, "root_gb_per_s", kLeastRate, kMostRate);
  }
  if (has_of_kind(at, "wrap_from", level.kind, LevelKind::torus)) {
    level.wrap_from =
        sourced(at, "wrap_from", [](const JsonReader& v) { return v.small(2, kMostMembers); });
  }
  return level;
}

/// A member with one link for each other one has no need of a switch; one with several for each may
/// have none.
void read_as_mesh(Level& level, std::vector<std::string>& notes) {
  const int others = level.sizes.front() - 1;
  if (level.kind != LevelKind::switched || others < 2 || level.links % others != 0) return;
  if (level.links > others) {
    notes.push_back(fmt::format(
        "'{}': {} links are a multiple of the {} others of a member, as in a full mesh of {} links "
        "for each pair; if it is one, say \"kind\": \"full_mesh\"; it is taken for a switch",
        level.name, level.links, others, level.links / others));
    return;
  }
  level.kind = LevelKind::full_mesh;
  notes.push_back(fmt::format(
      "'{}': {} links to {} others are taken for a full mesh, a link for each pair; if it is "
      "a switch, give 1 link of {} GB/s; else say \"kind\": \"full_mesh\"",
      level.name, level.links, others, level.links * level.gb_per_s));
}

Cluster read(const JsonReader& at) {
  Cluster cluster{.name = at["name"].text(),
                  .description = at["description"].text(),
                  .launch_us = number(at, "launch_us", 0, kMostTime)};
  if (at.has("submit_us")) cluster.submit_us = number(at, "submit_us", 0, kMostTime);
  if (at.has("gpu")) cluster.gpu = at["gpu"].text();
  if (at.has("tflops")) cluster.tflops = number(at, "tflops", 1e-3, kMostTflops);
  if (at.has("network")) cluster.network = at["network"].text();
  cluster.levels = at["levels"].list(level);
  for (Level& each : cluster.levels) read_as_mesh(each, cluster.notes);
  if (cluster.levels.empty()) at["levels"].fail("expected at least one level");
  if (most_gpus(cluster) > (std::int64_t{1} << 30)) at["levels"].fail("expected at most 2^30 GPUs");
  return cluster;
}

Expected<Cluster> find_one(const std::string& name) {
  std::vector<std::string> known;
  for (const EmbeddedCluster& each : embedded_clusters()) {
    if (each.name == name) return parse_cluster(each.text, name);
    known.push_back(each.name);
  }
  std::error_code ignored;
  if (name == "-" || std::filesystem::exists(name, ignored)) {
    const auto text = read_text_file(name);
    if (!text) return error_of(text);
    return parse_cluster(*text, name);
  }
  return bad_input(fmt::format("--cluster {}: no such file: expected a JSON file, or one of {}{}",
                               name, names_of_clusters(), did_you_mean(name, known)));
}

}  // namespace

std::string names_of_clusters() {
  std::vector<std::string_view> names;
  for (const EmbeddedCluster& each : embedded_clusters()) names.push_back(each.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Expected<Cluster> parse_cluster(std::string_view text, const std::string& origin) {
  return outcome_of([&] {
    const nlohmann::json document = parse_unique_json(text, origin);
    AskedFields asked;
    Cluster cluster = read(JsonReader(document, origin, &asked));
    const auto complaints = asked.complaints(document);
    if (!complaints.empty()) {
      throw Failure(ErrorKind::bad_input, origin + ": " + complaints.front());
    }
    return cluster;
  });
}

Expected<Cluster> find_cluster(const std::string& name) {
  // A path may hold a plus sign.
  const std::size_t plus = std::filesystem::exists(name) ? std::string::npos : name.find('+');
  auto cluster = find_one(name.substr(0, plus));
  if (!cluster) return cluster;
  const std::string network = plus == std::string::npos ? cluster->network : name.substr(plus + 1);
  if (plus != std::string::npos && network.empty()) {
    return bad_input(fmt::format("--cluster {}: expected the name of a network after +", name));
  }
  if (network.empty()) return cluster;
  auto outer = find_one(network);
  if (!outer) return outer;
  cluster->levels.insert(cluster->levels.end(), outer->levels.begin(), outer->levels.end());
  cluster->notes.insert(cluster->notes.end(), outer->notes.begin(), outer->notes.end());
  if (plus != std::string::npos) cluster->name += "+" + outer->name;
  if (most_gpus(*cluster) > (std::int64_t{1} << 30)) {
    return bad_input(fmt::format("--cluster {}: expected at most 2^30 GPUs", name));
  }
  return cluster;
}

}  // namespace overlaptune::cluster
