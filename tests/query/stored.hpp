#pragma once
// Databases with a real platform and winners whose every field tells which winner it is.

#include <cstring>
#include <overlaptune/overlaptune.hpp>
#include <string>
#include <vector>

#include "db/store.hpp"
#include "tests/db/samples.hpp"

namespace overlaptune::stored {

inline Platform platform(const std::string& name = "h200-nvlink-x8") {
  return {.machine = "cuda",
          .name = name,
          .gpu_model = "NVIDIA H200",
          .gpu_count = 8,
          .sms = 132,
          .compute_capability = 90,
          .memory = Bytes{141'000'000'000},
          .driver_version = "580.159.04",
          .cuda_version = "13.0",
          .nccl_version = "2.30.7",
          .topology = "NVSwitch",
          .link = "nvlink",
          .multicast_allowed = false,
          .details = "8 GPUs of one host"};
}

constexpr int kTileRows = 256;
constexpr int kTileColumns = 16;
constexpr std::int64_t kColumns = 8192;  // columns of tiles
constexpr std::int64_t kN = kColumns * kTileColumns;

/// Tiles in a column of winner number `i`: one for the first 256 winners, two for the next, and so
/// on.
inline std::int64_t column_tiles(int i) {
  return i / kTileRows + 1;
}

/// Winner number `i`, in edition `version`. Its times and its wave groups both tell the two numbers
/// (up to 4096 winners). It has one swizzle group of 8192 columns, so that groups of any number of
/// columns make it up.
inline Winner winner(int i, int version = 1) {
  const std::int64_t first = i % 4096 + 1;
  const std::int64_t second = 1000 + version;
  const std::int64_t high = column_tiles(i);
  Winner made;
  made.candidate.problem = {.op = Op::gemm_all_reduce,
                            .m = i + 1,
                            .n = kN,
                            .k = 3584,
                            .elements = Elements::bf16,
                            .ranks = 8};
  made.candidate.config =
      Signaled{.tile = {kTileRows, kTileColumns, 64, 4, 2},
               .swizzle = 64,
               .comm_ctas = 16,
               .wave_groups = {high * first, high * second, high * (kColumns - first - second)}};
  made.candidate.predicted = us(i + 0.25);
  made.candidate.measured = Summary{us(i + version * 1e6), us(i), us(i + 2e9), 9};
  made.sequential = us(2 * i + version * 1e6);
  made.gemm_alone = us(1);
  made.collective_alone = us(1);
  return made;
}

inline ovt_problem problem(std::int64_t m = 1) {
  return ovt::problem(OVT_GEMM_ALL_REDUCE, m, kN, 3584, OVT_BF16, 8);
}

/// The config of an answer.
inline Config config(const ovt_answer& answer) {
  return value_or_throw(parse_config(answer.config));
}

inline std::vector<std::int64_t> wave_groups(const ovt_answer& answer) {
  const Config read = config(answer);
  const auto groups = wave_groups_of(read);
  return {groups.begin(), groups.end()};
}

/// Puts winners into the file for one platform.
inline void put_winners(const std::filesystem::path& file, const std::vector<Winner>& winners,
                        const Platform& platform = stored::platform()) {
  Store store(file, Access::create);
  const auto run = store.begin_tuning_run(store.add_platform(platform), "test", {});
  for (const Winner& each : winners) store.put_winner(run, each);
}

/// Winners 0 to `count` - 1 of one platform, added to what the file has.
inline void put_winners(const std::filesystem::path& file, int count, int version = 1,
                        const Platform& platform = stored::platform()) {
  std::vector<Winner> winners;
  for (int i = 0; i < count; ++i) winners.push_back(winner(i, version));
  put_winners(file, winners, platform);
}

inline void set(char (&field)[OVT_TEXT_SIZE], const std::string& text) {
  std::strncpy(field, text.c_str(), sizeof field - 1);
}

/// The platform as a caller who knows it fills in the struct.
inline ovt_platform described(const Platform& platform) {
  ovt_platform made{};
  made.size = sizeof made;
  set(made.machine, platform.machine);
  set(made.name, platform.name);
  set(made.gpu_model, platform.gpu_model);
  made.gpu_count = platform.gpu_count;
  made.sms = platform.sms;
  made.compute_capability = platform.compute_capability;
  made.memory_bytes = platform.memory.count;
  set(made.driver_version, platform.driver_version);
  set(made.cuda_version, platform.cuda_version);
  set(made.nccl_version, platform.nccl_version);
  set(made.topology, platform.topology);
  set(made.transport, platform.link);
  made.multicast_allowed = platform.multicast_allowed ? 1 : 0;
  set(made.details, platform.details);
  return made;
}

}  // namespace overlaptune::stored
