#include "machine/sim/profile.hpp"

#include <fmt/format.h>

#include "core/gpu.hpp"
#include "core/hash.hpp"
#include "machine/sim/json_reader.hpp"

namespace overlaptune::sim {
namespace {

// Rates in the file are in units of data sheets; the simulation counts in microseconds.
constexpr double kGbPerS = 1e3;  // bytes per microsecond
constexpr double kTflops = 1e6;  // operations per microsecond
constexpr double kMib = 1024.0 * 1024.0;
constexpr double kGib = 1024.0 * kMib;

constexpr double kLargeRate = 1e6;  // GB/s: more than any link or memory
constexpr double kLongTime = 1e6;   // us

GpuProfile gpu(const JsonReader& at) {
  return {.model = at.text("model"),
          .count = at.integer("count", 2, kMostRanks),
          .sms = at.integer("sms", 2, 1024),
          .compute_capability = at.integer("compute_capability", 80, 200),
          .memory_bytes = at.number("memory_gib", 1, 1e5) * kGib,
          .clock_mhz = at.number("clock_mhz", 100, 1e4),
          .tensor_flops = at.number("tensor_tflops", 1, 1e6) * kTflops,
          .tensor_half_m = at.number("tensor_half_m", 0, 1e3),
          .tensor_half_n = at.number("tensor_half_n", 0, 1e3),
          .sm_load = at.number("sm_load_gb_per_s", 1, kLargeRate) * kGbPerS,
          .l2_load = at.number("l2_load_gb_per_s", 1, kLargeRate) * kGbPerS,
          .l2_bytes = at.number("l2_mib", 1, 1e5) * kMib,
          .memory_load = at.number("memory_load_gb_per_s", 1, kLargeRate) * kGbPerS,
          .memory_store = at.number("memory_store_gb_per_s", 1, kLargeRate) * kGbPerS,
          .sm_store = at.number("sm_store_gb_per_s", 1, kLargeRate) * kGbPerS,
          .load_latency = at.number("load_latency_us", 0, kLongTime),
          .tile_overhead = at.number("tile_overhead_us", 0, kLongTime),
          .kernel_start = at.number("kernel_start_us", 0, kLongTime),
          .hidden_store = at.number("hidden_store", 0, 1),
          .tile_spread = at.number("tile_spread", 0, 0.2)};
}

LibraryProfile library(const JsonReader& at, const GpuLimits& limits) {
  LibraryProfile library{.efficiency = at.number("efficiency", 0.1, 2),
                         .hidden_store = at.number("hidden_store", 0, 1),
                         .raster = at.integer("raster", 1, 1024)};
  for (const JsonReader& row : at.list("menu")) {
    const std::vector<int> v = row.integers(5, 0, 1024);
    const Tile tile{v[0], v[1], v[2], v[3], v[4]};
    if (!is_feasible(tile, limits, Dtype::bf16)) {
      row.fail("expected [block_m, block_n, block_k, stages, cluster] that the GPU can hold");
    }
    library.menu.push_back(tile);
  }
  return library;
}

PowerProfile power(const JsonReader& at) {
  PowerProfile power{.idle_w = at.number("idle_w", 0, 1e4),
                     .limit_w = at.number("limit_w", 1, 1e5),
                     .flop_joules = at.number("flop_pj", 0, 1e3) * 1e-12,
                     .byte_joules = at.number("byte_pj", 0, 1e5) * 1e-12,
                     .window = at.number("window_us", 1, 1e9)};
  if (power.limit_w <= power.idle_w) at.fail("expected limit_w above idle_w");
  return power;
}

CollectiveProfile collective(const JsonReader& at, int gpus) {
  CollectiveProfile result{.transport = at.name<Transport>("transport"),
                           .collective = at.name<Collective>("collective"),
                           .ranks = at.integer("ranks", 2, gpus),
                           .times = at.curve("times_us", 1e-3, 1e9),
                           .cta_rates = at.curve("cta_gb_per_s", 1e-3, kLargeRate)};
  const double launch = at.number("launch_in_times_us", 0, kLongTime);
  for (double& time : result.times.values) {
    time -= launch;
    if (time <= 0) at.fail("expected times_us above launch_in_times_us");
  }
  for (double& rate : result.cta_rates.values) rate *= kGbPerS;
  return result;
}

ContentionProfile contention(const JsonReader& at) {
  return {.gemm_share = at.number("gemm_share", 0, 10),
          .gemm_half = at.number("gemm_half", 1e-3, 1e3),
          .collective_share = at.number("collective_share", 0, 10),
          .collective_half = at.number("collective_half", 1e-3, 1e3)};
}

CopyProfile copy(const JsonReader& at) {
  return {.engine_latency = at.number("engine_latency_us", 0, kLongTime),
          .engine_rate = at.number("engine_gb_per_s", 0.1, kLargeRate) * kGbPerS,
          .store_latency = at.number("store_latency_us", 0, kLongTime),
          .store_rate_per_cta = at.number("store_gb_per_s_per_cta", 0.1, kLargeRate) * kGbPerS,
          .store_rate = at.number("store_gb_per_s", 0.1, kLargeRate) * kGbPerS};
}

LaunchProfile launch(const JsonReader& at) {
  return {.graph_replay = at.number("graph_replay_us", 0, kLongTime),
          .graph_kernel = at.number("graph_kernel_us", 0, kLongTime),
          .eager_submit = at.number("eager_submit_us", 0, kLongTime),
          .eager_first = at.number("eager_first_us", 0, kLongTime),
          .signal = at.number("signal_us", 0, kLongTime),
          .trigger = at.number("trigger_us", 0, kLongTime),
          .reorder_rate = at.number("reorder_gb_per_s", 0.1, kLargeRate) * kGbPerS,
          .reorder_rate_per_sm = at.number("reorder_gb_per_s_per_sm", 0.1, kLargeRate) * kGbPerS};
}

Profile profile(const JsonReader& root) {
  Profile profile{.name = root.plain_text("name"), .description = root.plain_text("description")};
  const JsonReader software = root.object("software");
  profile.driver_version = software.text("driver");
  profile.cuda_version = software.text("cuda");
  profile.nccl_version = software.text("nccl");
  const JsonReader fabric = root.object("fabric");
  profile.topology = fabric.text("topology");
  profile.link = fabric.text("link");
  profile.gpu = gpu(root.object("gpu"));
  profile.library = library(root.object("library"), gpu_limits(profile.gpu.compute_capability));
  profile.power = power(root.object("power"));
  for (const JsonReader& entry : root.list("collectives")) {
    profile.collectives.push_back(collective(entry, profile.gpu.count));
  }
  profile.contention = contention(root.object("contention"));
  profile.copy = copy(root.object("copy"));
  profile.launch = launch(root.object("launch"));
  const JsonReader noise = root.object("noise");
  profile.noise = {.gemm = noise.number("gemm", 0, 0.1),
                   .collective = noise.number("collective", 0, 0.1)};
  return profile;
}

}  // namespace

Expected<Profile> parse_profile(std::string_view text, std::string_view origin) {
  try {
    const nlohmann::json document = parse_json(text, origin);
    Profile result = profile(JsonReader(document, std::string(origin), ""));
    result.digest = fmt::format("{:016x}", fnv1a(text));
    return result;
  } catch (const Failure& failure) {
    return bad_input(failure.what());
  }
}

}  // namespace overlaptune::sim
