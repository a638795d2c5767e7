#include "run/gemm/generated_gemm.hpp"

#include <algorithm>
#include <array>
#include <thread>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/capabilities.hpp"
#include "core/gpu.hpp"
#include "kernels/compile/registry.hpp"
#include "kernels/compile/tiled_source.hpp"
#include "kernels/compile/workshop.hpp"
#include "kernels/hopper_gemm.hpp"
#include "run/check.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::run {

Turns turns_of(const Crew& crew, std::int64_t tiles, int cluster) {
  const auto whole = [&](std::int64_t ctas) { return ctas / cluster * cluster; };
  const std::int64_t staying = whole(crew.sms - crew.leaving);
  if (staying < 1) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{} SMs of which {} leave: nobody is left", crew.sms, crew.leaving));
  }
  const std::int64_t needed = whole(tiles + cluster - 1);
  if (!crew.persistent) return {.blocks = static_cast<unsigned>(needed)};
  const std::int64_t blocks = std::min(whole(crew.sms), needed);
  const std::int64_t leaving = std::max<std::int64_t>(0, blocks - staying);
  const std::int64_t early = std::min(whole(crew.early + cluster - 1), needed);
  return {.blocks = static_cast<unsigned>(blocks),
          .early = static_cast<int>(leaving > 0 ? early : 0),
          .leaving = static_cast<int>(leaving)};
}

void check_room(const GeneratedOperands& operands, const LaunchRoom& room) {
  const auto refuse_more = [](std::size_t count, std::size_t most, const char* what) {
    if (count <= most) return;
    throw Failure(ErrorKind::bad_input,
                  fmt::format("a launch of {} {}: expected at most {}", count, what, most));
  };
  refuse_more(operands.segments.size(), room.segments, "segments");
  if (operands.rows) {
    refuse_more(operands.rows->arrivals.size(), room.waits, "groups of rows to wait for");
  } else if (room.waits > 0) {
    throw Failure(ErrorKind::bad_input, "a kernel that waits: expected rows to wait for");
  }
  const std::size_t ranks = operands.stores ? operands.stores->peers.size() : 0;
  if (ranks != room.ranks) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("a kernel that stores at {} ranks: expected as many, not {}",
                              room.ranks, ranks));
  }
  if (operands.stores) {
    refuse_more(operands.stores->groups.size(), room.groups, "wave groups");
  }
}

kernels::device::Order order_of(const TileOrder& order, int blocks, std::int64_t tiles,
                                std::int64_t k, const Turns& turns, std::uint32_t* counters) {
  const std::int64_t step = block_k_of(order.elements);
  const auto panels = static_cast<int>(order.panels_per_block());
  return {.panels = panels,
          .blocks = blocks,
          .columns = static_cast<int>(order.columns()),
          .swizzle = std::min(order.swizzle, panels),
          .tiles = static_cast<int>(tiles),
          .k_steps = static_cast<int>((k + step - 1) / step),
          .early = turns.early,
          .leaving = turns.leaving,
          .ctas = 1,
          .signal = 1,
          .counters = counters};
}

GeneratedGemm::GeneratedGemm(std::unique_ptr<GeneratedKernel> kernel, const kernels::Cubin& cubin,
                             int compute_capability)
    : kernel_(std::move(kernel)), starts_early_(compute_capability >= kernels::kHopper) {
  cudaLibrary_t library = nullptr;
  OVT_CHECK(
      cudaLibraryLoadData(&library, cubin.bytes.data(), nullptr, nullptr, 0, nullptr, nullptr, 0));
  library_ = Handle<cudaLibrary_t, &cudaLibraryUnload>(library);
  OVT_CHECK(cudaLibraryGetKernel(&handle_, library, cubin.symbol.c_str()));
  // This also loads the kernel, so that it is not loaded later, while other work waits.
  OVT_CHECK(cudaFuncSetAttribute(reinterpret_cast<const void*>(handle_),
                                 cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 kernel_->shared_bytes()));
}

void GeneratedGemm::enqueue(cudaStream_t stream, const GeneratedLaunch& launch,
                            kernels::Before before) const {
  if (launch.blocks == 0) return;
  std::vector<void*> parameters;
  for (const auto& parameter : launch.parameters) {
    parameters.push_back(const_cast<std::byte*>(parameter.data()));
  }
  std::array<cudaLaunchAttribute, 2> attributes{};
  unsigned count = 0;
  if (launch.cluster > 1) {
    attributes[count].id = cudaLaunchAttributeClusterDimension;
    attributes[count++].val.clusterDim = {.x = launch.cluster, .y = 1, .z = 1};
  }
  if (before == kernels::Before::gate && starts_early_) {
    attributes[count].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attributes[count++].val.programmaticStreamSerializationAllowed = 1;
  }
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(launch.blocks);
  config.blockDim = dim3(static_cast<unsigned>(kernel_->threads()));
  config.dynamicSmemBytes = static_cast<std::size_t>(kernel_->shared_bytes());
  config.stream = stream;
  config.attrs = attributes.data();
  config.numAttrs = count;
  OVT_CHECK(
      cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(handle_), parameters.data()));
}

/// A kernel, and the job that compiles it.
struct GeneratedGemms::Job {
  TiledKernel key{};
  std::unique_ptr<GeneratedKernel> kernel{};
  kernels::CompileJob compile{};
};

Expected<GeneratedGemms::Job> GeneratedGemms::job_of(const TiledKernel& kernel) const {
  const auto key = kernels::with_room(kernel);
  if (!key) return error_of(key);
  const int capability = compute_capability();
  if (!gemm_families(capability).contains(GemmFamily::generated)) {
    return bad_input(fmt::format(
        "tile {}: our kernels are for GPUs of compute capability 8.0 or higher, this one has {}.{}",
        to_string(kernel.tile), capability / 10, capability % 10));
  }
  const bool hopper = capability / 10 == kernels::kHopper / 10;
  auto made = hopper && family_ == KernelFamily::best ? hopper_kernel(*key)
                                                      : ampere_kernel(*key, capability);
  if (!made) return error_of(made);
  Job job{.key = *key, .kernel = std::move(*made)};
  job.compile = {.source = job.kernel->source(),
                 .architecture = kernels::architecture_of(capability)};
  return job;
}

Expected<const GeneratedGemm*> GeneratedGemms::gemm(const TiledKernel& kernel) {
  const auto key = kernels::with_room(kernel);
  if (!key) return error_of(key);
  if (const auto known = gemms_.find(*key); known != gemms_.end()) return &known->second;
  auto job = job_of(kernel);
  if (!job) return error_of(job);
  const auto workshop = kernels::Workshop::open();
  if (!workshop) return error_of(workshop);
  const auto cubin = workshop->kernel(job->compile);
  if (!cubin) return error_of(cubin);
  const kernels::CubinProperties& properties = cubin->properties;
  if (properties.spill_bytes > 0 || properties.local_bytes > 0) {
    return bad_input(to_string(job->compile.source) + ": its sums do not fit the registers");
  }
  const auto [entry, fresh] =
      gemms_.emplace(job->key, GeneratedGemm(std::move(job->kernel), *cubin, compute_capability()));
  return &entry->second;
}

void GeneratedGemms::compile(std::span<const TiledKernel> kernels, int part, int parts) const {
  std::map<TiledKernel, kernels::CompileJob> different;
  for (const TiledKernel& kernel : kernels) {
    if (auto job = job_of(kernel)) different.emplace(job->key, std::move(job->compile));
  }
  std::vector<kernels::CompileJob> jobs;
  jobs.reserve(different.size());
  for (auto& [key, job] : different) jobs.push_back(std::move(job));
  const auto workshop = kernels::Workshop::open();
  if (jobs.empty() || !workshop) return;
  const auto begin = static_cast<std::ptrdiff_t>(jobs.size()) * part / parts;
  std::rotate(jobs.begin(), jobs.begin() + begin, jobs.end());
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const unsigned threads = std::max(1U, cores / static_cast<unsigned>(parts));
  workshop->prepare(std::move(jobs), threads);
}

}  // namespace overlaptune::run
