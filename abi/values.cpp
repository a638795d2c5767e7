#include "abi/values.hpp"

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
static_assert(static_cast<int>(Strategy::sequential) == OVT_SEQUENTIAL &&
              static_cast<int>(Strategy::chunked) == OVT_CHUNKED &&
              static_cast<int>(Strategy::signaled) == OVT_SIGNALED &&
              static_cast<int>(Strategy::peer_store) == OVT_PEER_STORE &&
              static_cast<int>(Strategy::copy_engine) == OVT_COPY_ENGINE);
static_assert(static_cast<int>(Transport::ring) == OVT_TRANSPORT_RING &&
              static_cast<int>(Transport::symmetric) == OVT_TRANSPORT_SYMMETRIC &&
              static_cast<int>(Transport::copy_engine) == OVT_TRANSPORT_COPY_ENGINE &&
              static_cast<int>(Transport::symmetric_then_ring) ==
                  OVT_TRANSPORT_SYMMETRIC_THEN_RING &&
              static_cast<int>(Transport::peer_access) == OVT_TRANSPORT_PEER_ACCESS);
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
          .transport = text(platform->transport, "transport"),
          .multicast_allowed = platform->multicast_allowed == 1,
          .details = text(platform->details, "details")};
}

Config config_of(const ovt_answer* answer) {
  check_input(answer, "ovt_answer");
  if (answer->wave_group_count < 0 || answer->wave_group_count > OVT_MAX_WAVE_GROUPS) {
    refuse(fmt::format("ovt_answer.wave_group_count = {}: expected 0 to {}",
                       answer->wave_group_count, OVT_MAX_WAVE_GROUPS));
  }
  const bool says_wait = answer->size != kFirstSize<ovt_answer>;
  if (says_wait && answer->reserved != 0) refuse("ovt_answer.reserved: expected 0");
  const Config said{
      .strategy = enumerated<Strategy>(answer->strategy, "ovt_answer.strategy"),
      .tile = {.block_m = answer->block_m,
               .block_n = answer->block_n,
               .block_k = answer->block_k,
               .stages = answer->stages,
               .cluster = answer->cluster},
      .raster = answer->raster,
      .comm_ctas = answer->comm_ctas,
      .wave_groups = {answer->wave_groups, answer->wave_groups + answer->wave_group_count},
      .chunks = answer->chunks,
      .transport = enumerated<Transport>(answer->transport, "ovt_answer.transport"),
      .wait = says_wait ? enumerated<Wait>(answer->wait, "ovt_answer.wait") : Wait::driver};
  auto sound = parse_config(to_string(said));  // which knows the rules
  if (!sound) refuse("ovt_answer: " + sound.error().message);
  if (*sound != said) {
    refuse(fmt::format("ovt_answer: fields that {} does not use: expected 0 (chunks: 1)",
                       to_string(said.strategy)));
  }
  return std::move(*sound);
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
  put(to->transport, from.transport, "transport");
  put(to->details, from.details, "details");
}

}  // namespace overlaptune::c
