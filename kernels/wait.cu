#include "kernels/wait.hpp"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kLanes = 32;

__global__ void __launch_bounds__(kLanes)
    wait_kernel(const __grid_constant__ device::Run run, const std::uint32_t* counter,
                std::uint32_t value) {
  if (threadIdx.x == 0) device::wait_for(run, counter, value, Awaited::counter, 0);
}

__global__ void __launch_bounds__(kLanes)
    wait_for_flags_kernel(const __grid_constant__ device::Run run, Flags flags) {
  for (int i = static_cast<int>(threadIdx.x); i < flags.rows * run.ranks; i += kLanes) {
    const int rank = i % run.ranks;
    if (rank == run.rank) continue;
    std::uint32_t* const flag = flags.first + i / run.ranks * flags.stride + rank;
    device::wait_for(run, flag, 1, Awaited::flag, static_cast<unsigned>(rank));
    *flag = 0;  // the peer raises it again only behind the next gate
  }
}

}  // namespace

cudaError_t wait_for_counter(cudaStream_t stream, const RankBarrier& barrier,
                             const std::uint32_t* counter, std::uint32_t value) {
  return launch(stream, {.blocks = 1, .threads = kLanes, .beside_gemms = true}, wait_kernel,
                device::run_of(barrier), counter, value);
}

cudaError_t wait_for_flags(cudaStream_t stream, const RankBarrier& barrier, const Flags& flags) {
  return launch(stream, {.blocks = 1, .threads = kLanes, .beside_gemms = true},
                wait_for_flags_kernel, device::run_of(barrier), flags);
}

}  // namespace overlaptune::kernels
