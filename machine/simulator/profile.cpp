#include "machine/simulator/profile.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/hash.hpp"
#include "core/gpu.hpp"
#include "json/asked_fields.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"

namespace overlaptune::sim {
namespace {

// Rates in the file are in units of data sheets; the simulation counts in microseconds.
constexpr double kGbPerS = 1e3;  // bytes per microsecond
constexpr double kTflops = 1e6;  // operations per microsecond
constexpr double kMib = 1024.0 * 1024.0;
constexpr double kGib = 1024.0 * kMib;

constexpr double kLargeRate = 1e6;  // GB/s: more than any link or memory
constexpr double kLongTime = 1e6;   // us

// Sourced values: {"value": ..., "source": "..."}. The source says where the value comes from and
// must not be empty. `at` is an object, `key` its field.

/// The result of `read` for the value of a field, which must name its source.
template <class F>
auto sourced(const JsonReader& at, std::string_view key, F&& read) {
  const JsonReader field = at[key];
  const JsonReader source = field["source"];
  if (source.text().empty()) source.fail("expected where the value comes from");
  const JsonReader value = field["value"];
  return read(value);
}

Curve curve_of(const JsonReader& value, double least, double most) {
  constexpr double kMostBytes = 1e15;
  Curve curve;
  value.each([&](const JsonReader& pair) {
    const auto parts = pair.list([](const JsonReader& part) { return part; });
    if (parts.size() != 2) pair.fail("expected [bytes, value], found " + pair.shown());
    const double bytes = parts[0].number(1, kMostBytes);
    if (!curve.bytes.empty() && bytes <= curve.bytes.back()) {
      pair.fail("expected more bytes than in the pair before");
    }
    curve.bytes.push_back(bytes);
    curve.values.push_back(parts[1].number(least, most));
  });
  if (curve.bytes.empty()) value.fail("expected [bytes, value] pairs, found none");
  return curve;
}

double number(const JsonReader& at, std::string_view key, double least, double most) {
  return sourced(at, key, [&](const JsonReader& value) { return value.number(least, most); });
}

int integer(const JsonReader& at, std::string_view key, int least, int most) {
  return sourced(at, key, [&](const JsonReader& value) { return value.small(least, most); });
}

std::string text(const JsonReader& at, std::string_view key) {
  return sourced(at, key, [](const JsonReader& value) { return value.text(); });
}

/// An array of [bytes, value] pairs, bytes ascending.
Curve curve(const JsonReader& at, std::string_view key, double least, double most) {
  return sourced(at, key, [&](const JsonReader& value) { return curve_of(value, least, most); });
}

/// An array of [CTAs, array of [bytes, value] pairs], CTAs ascending.
std::vector<CtaTimes> curves_by_ctas(const JsonReader& at, std::string_view key, double least,
                                     double most) {
  return sourced(at, key, [&](const JsonReader& value) {
    std::vector<CtaTimes> list;
    value.each([&](const JsonReader& row) {
      const auto parts = row.list([](const JsonReader& part) { return part; });
      if (parts.size() != 2) row.fail("expected [CTAs, curve], found " + row.shown());
      const int ctas = parts[0].small(1, 1024);
      if (!list.empty() && ctas <= list.back().ctas) {
        row.fail("expected more CTAs than in the row before");
      }
      list.push_back({.ctas = ctas, .times = curve_of(parts[1], least, most)});
    });
    if (list.empty()) value.fail("expected [CTAs, curve] rows, found none");
    return list;
  });
}

/// The name of a field that may be left out, or of the one that has its value then.
std::string_view either(const JsonReader& at, std::string_view optional, std::string_view other) {
  return at.has(optional) ? optional : other;
}

GpuProfile gpu(const JsonReader& at) {
  constexpr std::string_view kMisaligned = "misaligned_load_gb_per_s";
  const auto uneven = either(at, "uneven_store_gb_per_s", "sm_store_gb_per_s");
  return {
      .model = text(at, "model"),
      .count = integer(at, "count", 2, kMostRanks),
      .sms = integer(at, "sms", 2, 1024),
      .compute_capability = integer(at, "compute_capability", 80, 200),
      .memory_bytes = number(at, "memory_gib", 1, 1e5) * kGib,
      .clock_mhz = number(at, "clock_mhz", 100, 1e4),
      .tensor_flops = number(at, "tensor_tflops", 1, 1e6) * kTflops,
      .tensor_half_m = number(at, "tensor_half_m", 0, 1e3),
      .tensor_half_n = number(at, "tensor_half_n", 0, 1e3),
      .sm_load = number(at, "sm_load_gb_per_s", 1, kLargeRate) * kGbPerS,
      .l2_load = number(at, "l2_load_gb_per_s", 1, kLargeRate) * kGbPerS,
      .misaligned_load = at.has(kMisaligned) ? number(at, kMisaligned, 1, kLargeRate) * kGbPerS : 0,
      .l2_bytes = number(at, "l2_mib", 1, 1e5) * kMib,
      .memory_load = number(at, "memory_load_gb_per_s", 1, kLargeRate) * kGbPerS,
      .memory_store = number(at, "memory_store_gb_per_s", 1, kLargeRate) * kGbPerS,
      .sm_store = number(at, "sm_store_gb_per_s", 1, kLargeRate) * kGbPerS,
      .uneven_store = number(at, uneven, 1, kLargeRate) * kGbPerS,
      .load_latency = number(at, "load_latency_us", 0, kLongTime),
      .tile_overhead = number(at, "tile_overhead_us", 0, kLongTime),
      .kernel_start = number(at, "kernel_start_us", 0, kLongTime),
      .hidden_store = number(at, "hidden_store", 0, 1),
      .tile_spread = number(at, "tile_spread", 0, 0.2)};
}

LibraryProfile library(const JsonReader& at, const GpuProfile& gpu) {
  const GpuLimits& limits = gpu_limits(gpu.compute_capability);
  LibraryProfile library{.efficiency = number(at, "efficiency", 0.1, 2),
                         .kernel_start = gpu.kernel_start,
                         .hidden_store = number(at, "hidden_store", 0, 1),
                         .swizzle = integer(at, "swizzle", 1, 1024)};
  if (at.has("partial")) library.partial = number(at, "partial", 0.1, 2);
  if (at.has("kernel_start_us")) {
    library.kernel_start = number(at, "kernel_start_us", 0, kLongTime);
  }
  const JsonReader menu = at["menu"];
  library.menu = menu.list([&](const JsonReader& row) {
    const auto v = row.list([](const JsonReader& size) { return size.small(0, 1024); });
    const Tile tile = v.size() == 5 ? Tile{v[0], v[1], v[2], v[3], v[4]} : Tile{};
    if (!is_feasible(tile, limits, Elements::bf16)) {
      row.fail("expected [block_m, block_n, block_k, stages, cluster] that the GPU can hold");
    }
    return tile;
  });
  if (library.menu.empty()) menu.fail("expected at least one tile");
  return library;
}

GovernorProfile governor(const JsonReader& at, const PowerProfile& power) {
  GovernorProfile governor{.volts = curve(at, "volts_by_mhz", 0.1, 10),
                           .clock_w = number(at, "clock_w", 0, 1e4),
                           .load_joules = number(at, "load_pj", 0, 1e4) * 1e-12,
                           .memory_joules = number(at, "memory_pj", 0, 1e5) * 1e-12,
                           .peak_w = number(at, "peak_w", 1, 1e5),
                           .leak_share = number(at, "leak_share", 0, 1)};
  if (governor.peak_w <= power.limit_w) at.fail("expected peak_w above limit_w");
  return governor;
}

PowerProfile power(const JsonReader& at) {
  PowerProfile power{.idle_w = number(at, "idle_w", 0, 1e4),
                     .limit_w = number(at, "limit_w", 1, 1e5),
                     .flop_joules = number(at, "flop_pj", 0, 1e3) * 1e-12,
                     .byte_joules = number(at, "byte_pj", 0, 1e5) * 1e-12,
                     .window = number(at, "window_us", 1, 1e9)};
  if (power.limit_w <= power.idle_w) at.fail("expected limit_w above idle_w");
  if (at.has("governor")) power.governor = governor(at["governor"], power);
  return power;
}

/// The points of `times` without the launch that they include.
void take_launch(const JsonReader& at, Curve& times, double launch) {
  for (double& time : times.values) {
    time -= launch;
    if (time <= 0) at.fail("expected times above launch_in_times_us");
  }
}

CollectiveProfile collective(const JsonReader& at, int gpus, bool congestion) {
  CollectiveProfile result{.transport = at["transport"].name<Transport>(),
                           .collective = at["collective"].name<Collective>(),
                           .ranks = integer(at, "ranks", 2, gpus),
                           .times = curve(at, "times_us", 1e-3, 1e9)};
  const double launch = number(at, "launch_in_times_us", 0, kLongTime);
  take_launch(at, result.times, launch);
  if (at.has("times_us_by_ctas")) {
    result.by_ctas = curves_by_ctas(at, "times_us_by_ctas", 1e-3, 1e9);
    for (CtaTimes& each : result.by_ctas) take_launch(at, each.times, launch);
  } else {
    result.cta_rates = curve(at, "cta_gb_per_s", 1e-3, kLargeRate);
    for (double& rate : result.cta_rates.values) rate *= kGbPerS;
  }
  if (congestion) {
    if (result.by_ctas.empty()) at.fail("expected times_us_by_ctas, which congestion needs");
    result.queue = number(at, "queue", 0, 10);
    result.wait_share = number(at, "wait_share", 0, 10);
  }
  return result;
}

PeerProfile peer(const JsonReader& at, const std::vector<CollectiveProfile>& collectives) {
  const PeerProfile peer{.start = number(at, "start_us", 0, kLongTime),
                         .finish = number(at, "finish_us", 0, kLongTime)};
  const auto check = [&](const Curve& times) {
    const double least = std::ranges::min(times.values);
    if (least <= peer.start + peer.finish) {
      at.fail("expected start_us and finish_us within the least time of each peer_access curve");
    }
  };
  for (const CollectiveProfile& each : collectives) {
    if (each.transport != Transport::peer_access) continue;
    check(each.times);
    for (const CtaTimes& row : each.by_ctas) check(row.times);
  }
  return peer;
}

ContentionProfile contention(const JsonReader& at) {
  return {.gemm_share = number(at, "gemm_share", 0, 10),
          .gemm_half = number(at, "gemm_half", 1e-3, 1e3),
          .collective_share = number(at, "collective_share", 0, 10),
          .collective_half = number(at, "collective_half", 1e-3, 1e3)};
}

CongestionProfile congestion(const JsonReader& at) {
  return {.tile_wait = number(at, "tile_us", 0, kLongTime),
          .store_rate = number(at, "store_gb_per_s", 0.1, kLargeRate) * kGbPerS,
          .load_share = number(at, "load_share", 0, 10),
          .latency_share = number(at, "latency_share", 0, 10),
          .link_share = number(at, "link_share", 0, 10),
          .load_half = number(at, "load_half", 1e-3, 1e3)};
}

StoreProfile store(const JsonReader& at) {
  return {.tile_rate = number(at, "tile_gb_per_s", 0.1, kLargeRate) * kGbPerS,
          .beside_share = number(at, "beside_share", 0, 1),
          .sum_gap = number(at, "sum_gap_us", 0, kLongTime),
          .run = number(at, "run_us", 0, kLongTime),
          .subtile = number(at, "subtile_us", 0, kLongTime),
          .add_subtile = number(at, "add_subtile_us", 0, kLongTime),
          .receive = number(at, "receive_us", 0, kLongTime),
          .apart_share = number(at, "apart_share", 0, 1),
          .demand = number(at, "demand", 0, 10)};
}

CopyProfile copy(const JsonReader& at, bool congestion) {
  return {.engine_latency = number(at, "engine_latency_us", 0, kLongTime),
          .engine_rate = number(at, "engine_gb_per_s", 0.1, kLargeRate) * kGbPerS,
          .meet = number(at, "meet_us", 0, kLongTime),
          .piece = number(at, "piece_us", 0, kLongTime),
          .queue = congestion ? number(at, "queue", 0, 10) : 0,
          .store_latency = number(at, "store_latency_us", 0, kLongTime),
          .store_rate_per_cta = number(at, "store_gb_per_s_per_cta", 0.1, kLargeRate) * kGbPerS,
          .store_rate = number(at, "store_gb_per_s", 0.1, kLargeRate) * kGbPerS};
}

LaunchProfile launch(const JsonReader& at) {
  const auto kernel_trigger = either(at, "kernel_trigger_us", "trigger_us");
  return {.graph_replay = number(at, "graph_replay_us", 0, kLongTime),
          .graph_kernel = number(at, "graph_kernel_us", 0, kLongTime),
          .eager_submit = number(at, "eager_submit_us", 0, kLongTime),
          .eager_first = number(at, "eager_first_us", 0, kLongTime),
          .signal = number(at, "signal_us", 0, kLongTime),
          .trigger = number(at, "trigger_us", 0, kLongTime),
          .kernel_trigger = number(at, kernel_trigger, 0, kLongTime),
          .reorder_rate = number(at, "reorder_gb_per_s", 0.1, kLargeRate) * kGbPerS,
          .reorder_rate_per_sm = number(at, "reorder_gb_per_s_per_sm", 0.1, kLargeRate) * kGbPerS};
}

/// The name of a machine stands in command lines, files and databases.
std::string machine_name(const JsonReader& at) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
  std::string name = at.text();
  if (name.empty() || name.find_first_not_of(kAllowed) != std::string::npos) {
    at.fail("expected letters, digits, '-', '_' and '.', found " + at.shown());
  }
  return name;
}

Profile profile(const JsonReader& root) {
  Profile profile{.name = machine_name(root["name"]), .description = root["description"].text()};
  const JsonReader software = root["software"];
  profile.driver_version = text(software, "driver");
  profile.cuda_version = text(software, "cuda");
  profile.nccl_version = text(software, "nccl");
  profile.nccl_ctas = integer(software, "nccl_ctas", 1, 1024);
  const JsonReader fabric = root["fabric"];
  profile.topology = text(fabric, "topology");
  profile.link = text(fabric, "link");
  profile.gpu = gpu(root["gpu"]);
  profile.library = library(root["library"], profile.gpu);
  profile.power = power(root["power"]);
  const JsonReader collectives = root["collectives"];
  const bool has_congestion = root.has("congestion");
  profile.collectives = collectives.list([&](const JsonReader& entry) {
    return collective(entry, profile.gpu.count, has_congestion);
  });
  if (profile.collectives.empty()) collectives.fail("expected at least one collective");
  if (std::ranges::find(profile.collectives, Transport::peer_access,
                        &CollectiveProfile::transport) != profile.collectives.end()) {
    profile.peer = peer(root["peer"], profile.collectives);
    profile.store = store(root["store"]);
  }
  if (has_congestion) {
    profile.congestion = congestion(root["congestion"]);
  } else {
    profile.contention = contention(root["contention"]);
  }
  profile.copy = copy(root["copy"], has_congestion);
  profile.launch = launch(root["launch"]);
  const JsonReader noise = root["noise"];
  profile.noise = {.gemm = number(noise, "gemm", 0, 0.1),
                   .collective = number(noise, "collective", 0, 0.1)};
  return profile;
}

}  // namespace

Expected<Profile> parse_profile(std::string_view text, std::string_view origin) {
  return outcome_of([&] {
    const nlohmann::json document = parse_json(text, origin, kLargestProfile);
    AskedFields asked;
    Profile result = profile(JsonReader(document, origin, &asked));
    result.unknown_fields = asked.complaints(document);
    result.digest = fmt::format("{:016x}", fnv1a(text));
    return result;
  });
}

}  // namespace overlaptune::sim
