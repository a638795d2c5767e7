// Values from JSON.

#include <algorithm>

#include <fmt/format.h>

#include "db/json_values.hpp"

namespace overlaptune::db {
namespace {

std::optional<double> optional_real(const Node& node) {
  if (node.is_null()) return std::nullopt;
  return node.real();
}

std::optional<Summary> summary_of(const Node& node) {
  if (node.is_null()) return std::nullopt;
  return Summary{us(node["median_us"].real()), us(node["p10_us"].real()), us(node["p90_us"].real()),
                 node["count"].small_integer()};
}

Conditions conditions_of(const Node& node) {
  return {.sm_clock_mhz = optional_real(node["sm_clock_mhz"]),
          .power_w = optional_real(node["power_w"])};
}

Tile tile_of(const Node& node) {
  return {.block_m = node["block_m"].small_integer(),
          .block_n = node["block_n"].small_integer(),
          .block_k = node["block_k"].small_integer(),
          .stages = node["stages"].small_integer(),
          .cluster = node["cluster"].small_integer()};
}

Problem problem_of(const Node& node) {
  const auto problem = validated({.op = node["op"].name<Op>(),
                                  .m = node["m"].integer(),
                                  .n = node["n"].integer(),
                                  .k = node["k"].integer(),
                                  .dtype = node["dtype"].name<Dtype>(),
                                  .ranks = node["ranks"].small_integer()});
  if (!problem) node.fail(problem.error().message);
  return *problem;
}

/// A config as documents of format 1 have it, field by field, as a line that people could write.
/// Fields that a strategy does not have are 0, empty, 1 chunk, or absent.
std::string line_of_format_1(const Node& node) {
  std::string line{to_string(node["strategy"].name<Strategy>())};
  const auto add = [&](std::string_view name, int value, int none) {
    if (value != none) line += fmt::format(" {}={}", name, value);
  };
  const Tile tile = tile_of(node);
  if (std::max({tile.block_m, tile.block_n, tile.block_k}) > 0) {
    line += fmt::format(" tile={}x{}x{}", tile.block_m, tile.block_n, tile.block_k);
  }
  add("stages", tile.stages, 0);
  add("cluster", tile.cluster, 0);
  add("raster", node["raster"].small_integer(), 0);
  add("chunks", node["chunks"].small_integer(), 1);
  line += fmt::format(" ctas={} transport={}", node["comm_ctas"].small_integer(),
                      to_string(node["transport"].name<GroupTransports>()));
  if (node.has("wait")) line += fmt::format(" wait={}", to_string(node["wait"].name<Wait>()));
  std::string groups;
  node["wave_groups"].each([&](const Node& group) {
    groups += fmt::format("{}{}", groups.empty() ? "" : ",", group.integer(1));
  });
  if (!groups.empty()) line += " groups=" + groups;
  return line;
}

Config config_of(const Node& node) {
  if (node.is_object()) {
    auto config = parse_config(line_of_format_1(node));
    if (!config) node.fail(config.error().message);
    return std::move(*config);
  }
  Config config;
  const std::string line = node.text();
  if (!read_canonical(line, config)) node.fail(why_not_canonical(line));
  return config;
}

GemmProbe gemm_probe_of(const Node& node) {
  return {.m = node["m"].integer(),
          .n = node["n"].integer(),
          .k = node["k"].integer(),
          .dtype = node["dtype"].name<Dtype>(),
          .tile = tile_of(node),
          .raster = node["raster"].small_integer(),
          .sms = node["sms"].small_integer()};
}

CollectiveProbe collective_probe_of(const Node& node) {
  return {.collective = node["collective"].name<Collective>(),
          .bytes = Bytes{node["bytes"].integer()},
          .ranks = node["ranks"].small_integer(),
          .comm_ctas = node["comm_ctas"].small_integer(),
          .transport = node["transport"].name<Transport>()};
}

Probe probe_of(const Node& node) {
  const Node kind = node["kind"];
  const std::string name = kind.text();
  if (name == "gemm") return gemm_probe_of(node);
  if (name == "collective") return collective_probe_of(node);
  if (name == "concurrent") {
    return ConcurrentProbe{gemm_probe_of(node["gemm"]), collective_probe_of(node["collective"])};
  }
  if (name == "sustained") {
    return SustainedProbe{gemm_probe_of(node["gemm"]), collective_probe_of(node["collective"])};
  }
  if (name == "copy") {
    return CopyProbe{Bytes{node["bytes"].integer()}, node["ctas"].small_integer()};
  }
  if (name == "launch") return LaunchProbe{node["cost"].name<LaunchCost>()};
  kind.fail("expected one of gemm, collective, concurrent, sustained, copy, launch");
}

template <class T>
const T& checked(const Node& node, const T& value) {
  if (const auto wrong = complaint(value)) node.fail(*wrong);
  return value;
}

}  // namespace

Platform platform_of(const Node& node) {
  Platform platform{.machine = node["machine"].text(),
                    .name = node["name"].text(),
                    .gpu_model = node["gpu_model"].text(),
                    .gpu_count = node["gpu_count"].small_integer(),
                    .sms = node["sms"].small_integer(),
                    .compute_capability = node["compute_capability"].small_integer(),
                    .memory = Bytes{node["memory_bytes"].integer()},
                    .driver_version = node["driver_version"].text(),
                    .cuda_version = node["cuda_version"].text(),
                    .nccl_version = node["nccl_version"].text(),
                    .topology = node["topology"].text(),
                    .link = node["transport"].text(),
                    .multicast_allowed = node["multicast_allowed"].boolean(),
                    .details = node["details"].text()};
  if (node["fingerprint"].text() != fingerprint(platform)) {
    node["fingerprint"].fail(
        fmt::format("the other fields give {}; some were edited", fingerprint(platform)));
  }
  return platform;
}

StoredRun run_of(const Node& node, RunKind kind) {
  constexpr std::size_t kUidDigits = 32;
  StoredRun run;
  run.uid = node["uid"].text();
  if (run.uid.size() != kUidDigits ||
      run.uid.find_first_not_of("0123456789abcdef") != run.uid.npos) {
    node["uid"].fail("expected 32 hexadecimal digits");
  }
  run.provenance = {.program_version = node["program_version"].text(),
                    .host = node["host"].text(),
                    .command_line = node["command_line"].text(),
                    .seed = node["seed"].seed(),
                    .started_at = node["started_at"].text()};
  if (run.provenance.started_at.empty()) node["started_at"].fail("expected a time, not nothing");
  if (const Node finished = node["finished_at"]; !finished.is_null()) {
    run.finished_at = finished.text();
  }
  if (kind == RunKind::tuning) run.request = node["request"].text();
  return run;
}

Measurement measurement_of(const Node& node) {
  Measurement measurement;
  measurement.probe = probe_of(node["probe"]);
  const Node time = node["time"];
  if (time.is_null()) time.fail("expected a time, not null");
  measurement.time = *summary_of(time);
  measurement.collective_time = summary_of(node["collective_time"]);
  const Node& tile = node["library_tile"];
  if (!tile.is_null()) measurement.library_tile = tile_of(tile);
  measurement.conditions = conditions_of(node);
  return checked(node, measurement);
}

LayerGemm layer_gemm_of(const Node& node) {
  return checked(node, LayerGemm{.model = node["model"].text(),
                                 .product = node["product"].name<Product>(),
                                 .parallelism = node["parallelism"].name<Parallelism>(),
                                 .tokens = node["tokens"].integer(),
                                 .times_per_pass = node["times_per_pass"].integer(),
                                 .problem = problem_of(node["problem"])});
}

Candidate candidate_of(const Node& node) {
  Candidate candidate;
  candidate.problem = problem_of(node["problem"]);
  candidate.launch = node["launch"].name<Launch>();
  candidate.config = config_of(node["config"]);
  candidate.origin = node["origin"].name<Origin>();
  if (const Node rank = node["rank_by_model"]; !rank.is_null()) {
    candidate.rank_by_model = rank.small_integer();
  }
  candidate.predicted = us(node["predicted_us"].real());
  candidate.verdict = node["verdict"].name<Verdict>();
  candidate.reason = node["reason"].text();
  candidate.measured = summary_of(node["measured"]);
  if (const Node speedup = node["speedup"]; !speedup.is_null()) {
    candidate.speedup = {speedup["median"].real(), speedup["p10"].real(), speedup["p90"].real()};
  }
  candidate.conditions = conditions_of(node);
  return checked(node, candidate);
}

StoredWinner winner_of(const Node& node) {
  StoredWinner stored;
  stored.validated_at = node["validated_at"].text();
  if (const auto wrong = time_complaint("time", stored.validated_at)) {
    node["validated_at"].fail(*wrong);
  }
  stored.winner.candidate = candidate_of(node["candidate"]);
  stored.winner.sequential = us(node["sequential_us"].real());
  stored.winner.gemm_alone = us(node["gemm_alone_us"].real());
  stored.winner.collective_alone = us(node["collective_alone_us"].real());
  // Exports of programs that traced no winner have no such field.
  if (node.has("overlap_fraction")) {
    stored.winner.overlap_fraction = optional_real(node["overlap_fraction"]);
  }
  (void)checked(node, stored.winner);
  return stored;
}

}  // namespace overlaptune::db
