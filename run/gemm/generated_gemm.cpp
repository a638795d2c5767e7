#include "run/gemm/generated_gemm.hpp"

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/capabilities.hpp"
#include "core/gpu.hpp"
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

void check_room(const GeneratedOperands& operands, const TiledKernel& kernel) {
  const auto& [tile, elements, regions, waits, ranks, tiles_push] = kernel;
  const auto most = static_cast<std::size_t>(regions);
  const auto& rows = operands.rows;
  const auto& stores = operands.stores;
  const bool fits =
      operands.segments.size() <= (waits || ranks > 0 ? 1 : most) &&
      (rows ? waits && rows->arrivals.size() <= most : !waits) &&
      (!rows || !rows->pushes || pushed_by_tiles(*rows) == tiles_push) &&
      (stores ? std::cmp_equal(stores->peers.size(), ranks) && stores->groups.size() <= most
              : ranks == 0);
  if (fits) return;
  throw Failure(
      ErrorKind::bad_input,
      fmt::format("a launch of {} segments, with {} groups of rows to wait for and {} groups of "
                  "tiles for {} ranks: its kernel has at most {} regions or groups, {} ranks to "
                  "store at, and {} for rows{}",
                  operands.segments.size(), rows ? rows->arrivals.size() : 0,
                  stores ? stores->groups.size() : 0, stores ? stores->peers.size() : 0, regions,
                  ranks, waits ? "waits" : "does not wait",
                  tiles_push ? ", which its tiles push" : ""));
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

Expected<kernels::CompileJob> GeneratedGemms::job_of(const TiledKernel& kernel) const {
  const int capability = compute_capability();
  if (gemm_families(capability).contains(GemmFamily::generated)) {
    return kernels::job_of(kernel, capability, family_);
  }
  return bad_input(fmt::format(
      "tile {}: our kernels are for GPUs of compute capability 8.0 or higher, this one has {}.{}",
      to_string(kernel.tile), capability / 10, capability % 10));
}

Expected<const GeneratedGemm*> GeneratedGemms::gemm(const TiledKernel& kernel) {
  const auto key = kernels::with_room(kernel);
  if (!key) return error_of(key);
  if (const auto known = gemms_.find(*key); known != gemms_.end()) return &known->second;
  const auto job = job_of(*key);
  if (!job) return error_of(job);
  const auto workshop = kernels::Workshop::open();
  if (!workshop) return error_of(workshop);
  const auto cubin = workshop->kernel(*job);
  if (!cubin) return error_of(cubin);
  const kernels::CubinProperties& properties = cubin->properties;
  if (properties.spill_bytes > 0 || properties.local_bytes > 0) {
    return bad_input(to_string(job->source) + ": its sums do not fit the registers");
  }
  const int capability = compute_capability();
  auto made = kernels::is_hoppers(family_, capability) ? hopper_kernel(*key)
                                                       : ampere_kernel(*key, capability);
  const auto [entry, fresh] =
      gemms_.emplace(*key, GeneratedGemm(std::move(made), *cubin, capability));
  return &entry->second;
}

void GeneratedGemms::compile(std::span<const TiledKernel> kernels, int part, int parts) const {
  std::map<TiledKernel, kernels::CompileJob> different;
  for (const TiledKernel& kernel : kernels) {
    const auto key = kernels::with_room(kernel);
    if (!key || different.contains(*key)) continue;
    if (auto job = job_of(*key)) different.emplace(*key, std::move(*job));
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
