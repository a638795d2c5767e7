#include "abi/values.hpp"

#include <array>

#include <fmt/ranges.h>

#include "core/check.hpp"
#include "core/config_fields.hpp"
#include "core/strategies.hpp"
#include "core/tiling.hpp"

namespace overlaptune::c {
namespace {

static_assert(static_cast<int>(Op::gemm_all_reduce) == OVT_GEMM_ALL_REDUCE &&
              static_cast<int>(Op::gemm_reduce_scatter) == OVT_GEMM_REDUCE_SCATTER &&
              static_cast<int>(Op::all_gather_gemm) == OVT_ALL_GATHER_GEMM &&
              static_cast<int>(Op::gemm_all_to_all) == OVT_GEMM_ALL_TO_ALL);
static_assert(static_cast<int>(Elements::bf16) == OVT_BF16 &&
              static_cast<int>(Elements::fp16) == OVT_FP16);
static_assert(static_cast<int>(Launch::graph) == OVT_GRAPH &&
              static_cast<int>(Launch::eager) == OVT_EAGER);
static_assert(static_cast<int>(Wait::driver) == OVT_WAIT_DRIVER &&
              static_cast<int>(Wait::kernel) == OVT_WAIT_KERNEL);
static_assert(kMostRegions <= OVT_MAX_WAVE_GROUPS);

[[noreturn]] void refuse(std::string message) {
  throw Refusal{OVT_ERROR_ARGUMENT, std::move(message)};
}

template <class E>
E enumerated(std::int32_t value, const char* name) {
  for (const auto& entry : NamesOf<E>::all) {
    if (static_cast<std::int32_t>(entry.value) == value) return entry.value;
  }
  refuse(fmt::format("{} = {}: expected 0 to {} ({})", name, value, NamesOf<E>::all.size() - 1,
                     names_of<E>()));
}

/// The number of each strategy, in the order of `Strategy`. Other numbers of the C header belong to
/// strategies that do not exist yet.
constexpr std::array<ovt_strategy, kStrategies.size()> kStrategyNumbers{
    OVT_SEQUENTIAL, OVT_CHUNKED, OVT_SIGNALED, OVT_WAITING, OVT_PEER_STORE};

Strategy strategy_numbered(ovt_strategy number) {
  const auto found = std::find(kStrategyNumbers.begin(), kStrategyNumbers.end(), number);
  if (found == kStrategyNumbers.end()) {
    refuse(fmt::format("ovt_answer.strategy = {}: expected one of {} ({})", number,
                       fmt::join(kStrategyNumbers, ", "), names_of<Strategy>()));
  }
  return static_cast<Strategy>(found - kStrategyNumbers.begin());
}

/// The transports in the order of OVT_TRANSPORT_….
constexpr std::array<GroupTransports, 5> kTransports{
    all_groups_by(Transport::ring), all_groups_by(Transport::symmetric),
    all_groups_by(Transport::copy_engine), kSymmetricThenRing,
    all_groups_by(Transport::peer_access)};
static_assert(OVT_TRANSPORT_RING == 0 && OVT_TRANSPORT_SYMMETRIC == 1 &&
              OVT_TRANSPORT_COPY_ENGINE == 2 && OVT_TRANSPORT_SYMMETRIC_THEN_RING == 3 &&
              OVT_TRANSPORT_PEER_ACCESS == 4);

ovt_transport transport_number(const GroupTransports& transports) {
  const auto found = std::find(kTransports.begin(), kTransports.end(), transports);
  return static_cast<ovt_transport>(found - kTransports.begin());
}

// The fields of a config in an answer: `put` writes a field, `take` reads it. `number_of` finds the
// fields that are one number.

template <class Answer>
auto& number_of(config_field::Stages, Answer& answer) {
  return answer.stages;
}
template <class Answer>
auto& number_of(config_field::Cluster, Answer& answer) {
  return answer.cluster;
}
template <class Answer>
auto& number_of(config_field::Raster, Answer& answer) {
  return answer.raster;
}
template <class Answer>
auto& number_of(config_field::CommCtas, Answer& answer) {
  return answer.comm_ctas;
}
template <class Answer>
auto& number_of(config_field::Chunks, Answer& answer) {
  return answer.chunks;
}
template <class Answer>
auto& number_of(config_field::Transport, Answer& answer) {
  return answer.transport;
}
template <class Answer>
auto& number_of(config_field::Wait, Answer& answer) {
  return answer.wait;
}

/// Whether an answer of `size` bytes, which an older caller may have set, has the field.
template <class Field>
bool has(std::size_t size, Field field) {
  static const ovt_answer kAnswer{};
  if constexpr (requires { number_of(field, kAnswer); }) {
    const auto* begin = reinterpret_cast<const char*>(&kAnswer);
    const auto* end = reinterpret_cast<const char*>(&number_of(field, kAnswer) + 1);
    return static_cast<std::size_t>(end - begin) <= size;
  }
  return true;
}

/// The number in an answer whose strategy does not have the field.
template <class Field>
constexpr std::int32_t unused_number(Field) {
  return std::is_same_v<Field, config_field::Chunks> ? 1 : 0;
}

template <class Field>
void put(Field field, int value, ovt_answer& answer) {
  number_of(field, answer) = value;
}
void put(config_field::Tile, const Tile& tile, ovt_answer& answer) {
  answer.block_m = tile.block_m;
  answer.block_n = tile.block_n;
  answer.block_k = tile.block_k;
}
void put(config_field::Transport, const GroupTransports& value, ovt_answer& answer) {
  answer.transport = transport_number(value);
}
void put(config_field::Transport, Transport value, ovt_answer& answer) {
  answer.transport = transport_number(all_groups_by(value));
}
void put(config_field::Wait, Wait value, ovt_answer& answer) {
  answer.wait = static_cast<ovt_wait>(value);
}
/// Wave groups are written elsewhere, because the caller chooses them.
void put(config_field::WaveGroups, const std::vector<std::int64_t>&, ovt_answer&) {}

template <class Field>
void take(Field field, const ovt_answer& answer, int& value) {
  value = number_of(field, answer);
}
void take(config_field::Tile, const ovt_answer& answer, Tile& tile) {
  tile.block_m = answer.block_m;
  tile.block_n = answer.block_n;
  tile.block_k = answer.block_k;
}
void take(config_field::Transport, const ovt_answer& answer, GroupTransports& value) {
  if (answer.transport < 0 || answer.transport >= static_cast<int>(kTransports.size())) {
    refuse(fmt::format("ovt_answer.transport = {}: expected 0 to {} ({})", answer.transport,
                       kTransports.size() - 1, names_of<GroupTransports>()));
  }
  value = kTransports.at(static_cast<std::size_t>(answer.transport));
}
void take(config_field::Transport field, const ovt_answer& answer, Transport& value) {
  GroupTransports groups;
  take(field, answer, groups);
  if (groups.beside_gemm != groups.last) {
    refuse(fmt::format("ovt_answer.transport = {} ({}): expected one without wave groups",
                       answer.transport, to_string(groups)));
  }
  value = groups.last;
}
void take(config_field::Wait, const ovt_answer& answer, Wait& value) {
  value = enumerated<Wait>(answer.wait, "ovt_answer.wait");
}
void take(config_field::WaveGroups, const ovt_answer& answer, std::vector<std::int64_t>& groups) {
  groups.assign(answer.wave_groups, answer.wave_groups + answer.wave_group_count);
}

/// Whether the answer leaves a field unused.
template <class Field>
bool is_unused(Field field, const ovt_answer& answer) {
  return number_of(field, answer) == unused_number(field);
}
bool is_unused(config_field::Tile, const ovt_answer& answer) {
  return answer.block_m == 0 && answer.block_n == 0 && answer.block_k == 0;
}
bool is_unused(config_field::WaveGroups, const ovt_answer& answer) {
  return answer.wave_group_count == 0;
}

std::string text(const char (&field)[OVT_TEXT_SIZE], const char* name) {
  const void* end = std::memchr(field, 0, sizeof field);
  if (end == nullptr) refuse(fmt::format("ovt_platform.{}: expected a NUL at its end", name));
  return field;
}

void put(char (&field)[OVT_TEXT_SIZE], const std::string& value, const char* name) {
  if (value.size() >= sizeof field) {
    refuse(fmt::format("ovt_platform.{}: '{}' is longer than {} characters", name, value,
                       sizeof field - 1));
  }
  std::memset(field, 0, sizeof field);
  value.copy(field, value.size());
}

}  // namespace

const char* strategy_name(ovt_strategy number) {
  const auto found = std::find(kStrategyNumbers.begin(), kStrategyNumbers.end(), number);
  if (found == kStrategyNumbers.end()) return nullptr;
  return to_string(static_cast<Strategy>(found - kStrategyNumbers.begin())).data();
}

const char* transport_name(ovt_transport number) {
  if (number < 0 || number >= static_cast<int>(kTransports.size())) return nullptr;
  return to_string(kTransports.at(static_cast<std::size_t>(number))).data();
}

Problem problem_of(const ovt_problem* problem) {
  check_input(problem, "ovt_problem");
  if (problem->reserved != 0) refuse("ovt_problem.reserved: expected 0");
  auto sound = validated({.op = enumerated<Op>(problem->op, "ovt_problem.op"),
                          .m = problem->m,
                          .n = problem->n,
                          .k = problem->k,
                          .elements = enumerated<Elements>(problem->dtype, "ovt_problem.dtype"),
                          .ranks = problem->ranks});
  if (!sound) refuse(std::move(sound.error().message));
  return *sound;
}

Launch launch_of(ovt_launch launch) {
  if (launch != OVT_GRAPH && launch != OVT_EAGER) {
    refuse(fmt::format("launch = {}: expected 0 or 1 (graph, eager)", launch));
  }
  return static_cast<Launch>(launch);
}

EnumSet<Strategy> strategies_of_mask(std::uint64_t mask, const char* name) {
  EnumSet<Strategy> strategies;
  std::uint64_t known = 0;
  for (const StrategyTraits& traits : kStrategies) {
    const std::uint64_t bit = std::uint64_t{1}
                              << kStrategyNumbers.at(static_cast<std::size_t>(traits.strategy));
    known |= bit;
    if ((mask & bit) != 0) strategies.insert(traits.strategy);
  }
  if ((mask & ~known) != 0) {
    refuse(fmt::format("{} = {:#x}: expected bits {} only ({}), or 0 for all", name, mask,
                       fmt::join(kStrategyNumbers, ", "), names_of<Strategy>()));
  }
  return strategies;
}

Platform platform_of(const ovt_platform* platform) {
  check_input(platform, "ovt_platform");
  if (platform->multicast_allowed != 0 && platform->multicast_allowed != 1) {
    refuse(fmt::format("ovt_platform.multicast_allowed = {}: expected 0 or 1",
                       platform->multicast_allowed));
  }
  return {.machine = text(platform->machine, "machine"),
          .name = text(platform->name, "name"),
          .gpu_model = text(platform->gpu_model, "gpu_model"),
          .gpu_count = platform->gpu_count,
          .sms = platform->sms,
          .compute_capability = platform->compute_capability,
          .memory = Bytes{platform->memory_bytes},
          .driver_version = text(platform->driver_version, "driver_version"),
          .cuda_version = text(platform->cuda_version, "cuda_version"),
          .nccl_version = text(platform->nccl_version, "nccl_version"),
          .topology = text(platform->topology, "topology"),
          .link = text(platform->transport, "transport"),
          .multicast_allowed = platform->multicast_allowed == 1,
          .details = text(platform->details, "details")};
}

Config config_of(const ovt_answer* answer) {
  check_input(answer, "ovt_answer");
  if (answer->wave_group_count < 0 || answer->wave_group_count > OVT_MAX_WAVE_GROUPS) {
    refuse(fmt::format("ovt_answer.wave_group_count = {}: expected 0 to {}",
                       answer->wave_group_count, OVT_MAX_WAVE_GROUPS));
  }
  if (has(answer->size, config_field::Wait{}) && answer->reserved != 0) {
    refuse("ovt_answer.reserved: expected 0");
  }
  Config config = default_config(strategy_numbered(answer->strategy));
  each_field_type([&](auto field) {
    if (!has(answer->size, field)) return;
    bool used = false;
    with_field<decltype(field)>(config, [&](auto& value) {
      take(field, *answer, value);
      used = true;
    });
    if (used || is_unused(field, *answer)) return;
    refuse(fmt::format("ovt_answer.{}: {} does not use it; expected {}",
                       decltype(field)::info.column, to_string(strategy_of(config)),
                       unused_number(field)));
  });
  if (const auto legal = check(config); !legal) refuse("ovt_answer: " + legal.error().message);
  return config;
}

void write(const Config& config, std::span<const std::int64_t> wave_groups, std::size_t size,
           ovt_answer* answer) {
  answer->strategy = kStrategyNumbers.at(static_cast<std::size_t>(strategy_of(config)));
  answer->block_m = answer->block_n = answer->block_k = 0;
  answer->stages = answer->cluster = answer->raster = answer->comm_ctas = answer->transport = 0;
  answer->chunks = 1;
  if (has(size, config_field::Wait{})) answer->wait = answer->reserved = 0;
  each_field(config, [&](auto field, const auto& value, Presence) {
    if (has(size, field)) put(field, value, *answer);
  });
  answer->wave_group_count = static_cast<std::int32_t>(wave_groups.size());
  std::copy(wave_groups.begin(), wave_groups.end(), answer->wave_groups);
}

void write(const Platform& from, ovt_platform* to) {
  put(to->machine, from.machine, "machine");
  put(to->name, from.name, "name");
  put(to->gpu_model, from.gpu_model, "gpu_model");
  to->gpu_count = from.gpu_count;
  to->sms = from.sms;
  to->compute_capability = from.compute_capability;
  to->multicast_allowed = from.multicast_allowed ? 1 : 0;
  to->memory_bytes = from.memory.count;
  put(to->driver_version, from.driver_version, "driver_version");
  put(to->cuda_version, from.cuda_version, "cuda_version");
  put(to->nccl_version, from.nccl_version, "nccl_version");
  put(to->topology, from.topology, "topology");
  put(to->transport, from.link, "transport");
  put(to->details, from.details, "details");
}

}  // namespace overlaptune::c
