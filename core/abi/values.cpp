#include "core/abi/values.hpp"

#include <fmt/format.h>

namespace overlaptune::c {
namespace {

static_assert(static_cast<int>(Op::gemm_all_reduce) == OVT_GEMM_ALL_REDUCE &&
              static_cast<int>(Op::gemm_reduce_scatter) == OVT_GEMM_REDUCE_SCATTER &&
              static_cast<int>(Op::all_gather_gemm) == OVT_ALL_GATHER_GEMM &&
              static_cast<int>(Op::gemm_all_to_all) == OVT_GEMM_ALL_TO_ALL &&
              static_cast<int>(Op::all_to_all_gemm) == OVT_ALL_TO_ALL_GEMM);
static_assert(static_cast<int>(Elements::bf16) == OVT_BF16 &&
              static_cast<int>(Elements::fp16) == OVT_FP16 &&
              static_cast<int>(Elements::e4m3_rows_bf16) == OVT_E4M3_ROWS_BF16 &&
              static_cast<int>(Elements::e4m3_rows_fp16) == OVT_E4M3_ROWS_FP16 &&
              static_cast<int>(Elements::e4m3_tensor_bf16) == OVT_E4M3_TENSOR_BF16 &&
              static_cast<int>(Elements::e4m3_tensor_fp16) == OVT_E4M3_TENSOR_FP16 &&
              static_cast<int>(Elements::e4m3_rows_bf16_exact) == OVT_E4M3_ROWS_BF16_EXACT &&
              static_cast<int>(Elements::e4m3_rows_fp16_exact) == OVT_E4M3_ROWS_FP16_EXACT &&
              static_cast<int>(Elements::e4m3_tensor_bf16_exact) == OVT_E4M3_TENSOR_BF16_EXACT &&
              static_cast<int>(Elements::e4m3_tensor_fp16_exact) == OVT_E4M3_TENSOR_FP16_EXACT);
static_assert(static_cast<int>(Launch::graph) == OVT_GRAPH &&
              static_cast<int>(Launch::eager) == OVT_EAGER);
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

}  // namespace

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

Config config_of(const char* line) {
  const std::string_view text(present(line, "config"));
  if (text.size() >= OVT_CONFIG_SIZE) {
    refuse(fmt::format("config: {} characters: expected at most {}", text.size(),
                       OVT_CONFIG_SIZE - 1));
  }
  auto config = parse_config(text);
  if (!config) refuse(std::move(config.error().message));
  return std::move(*config);
}

void write(const Platform& from, ovt_platform* to) {
  put(from.machine, to->machine, "ovt_platform.machine");
  put(from.name, to->name, "ovt_platform.name");
  put(from.gpu_model, to->gpu_model, "ovt_platform.gpu_model");
  to->gpu_count = from.gpu_count;
  to->sms = from.sms;
  to->compute_capability = from.compute_capability;
  to->multicast_allowed = from.multicast_allowed ? 1 : 0;
  to->memory_bytes = from.memory.count;
  put(from.driver_version, to->driver_version, "ovt_platform.driver_version");
  put(from.cuda_version, to->cuda_version, "ovt_platform.cuda_version");
  put(from.nccl_version, to->nccl_version, "ovt_platform.nccl_version");
  put(from.topology, to->topology, "ovt_platform.topology");
  put(from.link, to->transport, "ovt_platform.transport");
  put(from.details, to->details, "ovt_platform.details");
}

}  // namespace overlaptune::c
