#include "query/c_values.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>

#include <fmt/format.h>

#include "core/tiling.hpp"

namespace overlaptune::c {
namespace {

static_assert(static_cast<int>(Op::gemm_all_reduce) == OVT_GEMM_ALL_REDUCE &&
              static_cast<int>(Op::gemm_reduce_scatter) == OVT_GEMM_REDUCE_SCATTER &&
              static_cast<int>(Op::all_gather_gemm) == OVT_ALL_GATHER_GEMM &&
              static_cast<int>(Op::gemm_all_to_all) == OVT_GEMM_ALL_TO_ALL);
static_assert(static_cast<int>(Dtype::bf16) == OVT_BF16 &&
              static_cast<int>(Dtype::fp16) == OVT_FP16);
static_assert(static_cast<int>(Launch::graph) == OVT_GRAPH &&
              static_cast<int>(Launch::eager) == OVT_EAGER);
static_assert(static_cast<int>(Source::exact) == OVT_EXACT &&
              static_cast<int>(Source::predicted) == OVT_PREDICTED &&
              static_cast<int>(Source::baseline) == OVT_BASELINE);
static_assert(static_cast<int>(Strategy::sequential) == OVT_SEQUENTIAL &&
              static_cast<int>(Strategy::chunked) == OVT_CHUNKED &&
              static_cast<int>(Strategy::signaled) == OVT_SIGNALED &&
              static_cast<int>(Strategy::peer_store) == OVT_PEER_STORE &&
              static_cast<int>(Strategy::copy_engine) == OVT_COPY_ENGINE);
static_assert(static_cast<int>(Transport::ring) == OVT_TRANSPORT_RING &&
              static_cast<int>(Transport::symmetric) == OVT_TRANSPORT_SYMMETRIC &&
              static_cast<int>(Transport::copy_engine) == OVT_TRANSPORT_COPY_ENGINE &&
              static_cast<int>(Transport::symmetric_then_ring) ==
                  OVT_TRANSPORT_SYMMETRIC_THEN_RING);
static_assert(kMostRegions <= OVT_MAX_WAVE_GROUPS);

/// No struct of a later version will be as large; a larger size is one that nobody set.
constexpr std::size_t kLargestStruct = 1 << 16;

[[noreturn]] void refuse(std::string message) {
  throw Refusal{OVT_ERROR_ARGUMENT, std::move(message)};
}

/// The `size` of a struct of which this library knows sizeof(T) bytes, all since the first version.
template <class T>
std::size_t size_of(const T* value, const char* name) {
  if (value == nullptr) refuse(fmt::format("{}: NULL; expected a pointer to one", name));
  if (reinterpret_cast<std::uintptr_t>(value) % alignof(T) != 0) {
    refuse(fmt::format("{}: expected a pointer aligned to {} bytes", name, alignof(T)));
  }
  if (value->size < sizeof(T) || value->size > kLargestStruct) {
    refuse(fmt::format("{0}.size = {1}: expected {2}; set it to sizeof({0})", name, value->size,
                       sizeof(T)));
  }
  return value->size;
}

/// A struct that the caller filled: what it says beyond what we know must be nothing.
template <class T>
void check_input(const T* value, const char* name) {
  const std::size_t size = size_of(value, name);
  const auto* bytes = static_cast<const char*>(static_cast<const void*>(value));
  if (std::any_of(bytes + sizeof(T), bytes + size, [](char byte) { return byte != 0; })) {
    refuse(fmt::format("{}: has fields that this library ({}) does not know; use a newer one", name,
                       ovt_version()));
  }
}

template <class E>
E enumerated(std::int32_t value, const char* name) {
  for (const auto& entry : NamesOf<E>::all) {
    if (static_cast<std::int32_t>(entry.value) == value) return entry.value;
  }
  refuse(fmt::format("{} = {}: expected 0 to {} ({})", name, value, NamesOf<E>::all.size() - 1,
                     names_of<E>()));
}

std::string text(const char (&field)[OVT_TEXT_SIZE], const char* name) {
  const void* end = std::memchr(field, 0, sizeof field);
  if (end == nullptr) refuse(fmt::format("ovt_platform.{}: expected a NUL at its end", name));
  return field;
}

double microseconds(const std::optional<Microseconds>& time) {
  return time ? time->count() : std::numeric_limits<double>::quiet_NaN();
}

/// A `Config` or an `IndexedWinner`.
template <class T>
void write_config(const T& config, std::span<const std::int64_t> wave_groups, ovt_answer* answer) {
  answer->strategy = static_cast<ovt_strategy>(config.strategy);
  answer->block_m = config.tile.block_m;
  answer->block_n = config.tile.block_n;
  answer->block_k = config.tile.block_k;
  answer->stages = config.tile.stages;
  answer->cluster = config.tile.cluster;
  answer->raster = config.raster;
  answer->comm_ctas = config.comm_ctas;
  answer->chunks = config.chunks;
  answer->transport = static_cast<ovt_transport>(config.transport);
  answer->wave_group_count = static_cast<std::int32_t>(wave_groups.size());
  std::copy(wave_groups.begin(), wave_groups.end(), answer->wave_groups);
}

/// Parts of the reason one after the other, cut where the room ends.
void write_reason(std::initializer_list<std::string_view> parts, ovt_answer* answer) {
  std::size_t used = 0;
  for (const std::string_view part : parts) {
    const std::size_t fits = std::min(part.size(), sizeof answer->reason - 1 - used);
    std::memcpy(answer->reason + used, part.data(), fits);
    used += fits;
  }
  answer->reason[used] = '\0';
}

void zero_beyond(std::size_t size, ovt_answer* answer) {
  if (size == sizeof *answer) return;
  std::memset(static_cast<char*>(static_cast<void*>(answer)) + sizeof *answer, 0,
              size - sizeof *answer);
}

}  // namespace

Problem problem_of(const ovt_problem* problem) {
  check_input(problem, "ovt_problem");
  if (problem->reserved != 0) refuse("ovt_problem.reserved: expected 0");
  auto sound = validated({.op = enumerated<Op>(problem->op, "ovt_problem.op"),
                          .m = problem->m,
                          .n = problem->n,
                          .k = problem->k,
                          .dtype = enumerated<Dtype>(problem->dtype, "ovt_problem.dtype"),
                          .ranks = problem->ranks});
  if (!sound) refuse(std::move(sound.error().message));
  return *sound;
}

Launch launch_of(ovt_launch launch) {
  return enumerated<Launch>(launch, "launch");
}

PlatformWish wish_of(const ovt_platform* platform) {
  if (platform == nullptr) return {};
  check_input(platform, "ovt_platform");
  if (platform->multicast_allowed != 0 && platform->multicast_allowed != 1) {
    refuse(fmt::format("ovt_platform.multicast_allowed = {}: expected 0 or 1",
                       platform->multicast_allowed));
  }
  Platform described{.machine = text(platform->machine, "machine"),
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
                     .transport = text(platform->transport, "transport"),
                     .multicast_allowed = platform->multicast_allowed == 1,
                     .details = text(platform->details, "details")};
  if (described.name.empty()) refuse("ovt_platform.name: empty; expected at least the name");
  if (described == Platform{.name = described.name}) return {.name = std::move(described.name)};
  if (described.machine != "cuda" && described.machine != "sim") {
    refuse(fmt::format("ovt_platform.machine = '{}': expected cuda or sim, or nothing but the name",
                       described.machine));
  }
  return {.described = std::move(described)};
}

std::size_t checked(const ovt_answer* answer) {
  return size_of(answer, "ovt_answer");
}

void write(const IndexedWinner& winner, std::span<const std::int64_t> wave_groups,
           std::string_view reason, std::size_t size, ovt_answer* answer) {
  answer->source = OVT_EXACT;
  write_config(winner, wave_groups, answer);
  answer->predicted_us = winner.predicted.count();
  answer->measured_us = winner.measured.count();
  answer->baseline_us = winner.sequential.count();
  write_reason({reason, {winner.validated_at.data(), winner.validated_at.size()}}, answer);
  zero_beyond(size, answer);
}

void write(const Answer& made, std::size_t size, ovt_answer* answer) {
  answer->source = static_cast<ovt_source>(made.source);
  write_config(made.config, made.config.wave_groups, answer);
  answer->predicted_us = microseconds(made.predicted);
  answer->measured_us = microseconds(made.measured);
  answer->baseline_us = microseconds(made.baseline);
  write_reason({made.reason}, answer);
  zero_beyond(size, answer);
}

}  // namespace overlaptune::c
