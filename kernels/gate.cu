#include "kernels/gate.hpp"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kLanes = 32;

__global__ void __launch_bounds__(kLanes) gate_kernel(const __grid_constant__ device::Run run,
                                                          bool resets) {
  device::RankWords* const own = device::own_words(run);
  const int lane = static_cast<int>(threadIdx.x);
  if (resets) {
    for (int i = lane; i < kMostRegions; i += kLanes) own->counters[i] = 0;
    if (lane == 0) own->done = 0;
    __syncwarp();  // what a lane publishes comes after the other lanes' zeros
  }
  for (int rank = lane; rank < run.ranks; rank += kLanes) {
    const unsigned number = own->runs[rank] + 1;
    own->runs[rank] = number;
    if (rank != run.rank) device::publish(&run.words[rank]->ready[run.rank], number);
  }
  for (int rank = lane; rank < run.ranks; rank += kLanes) {
    if (rank == run.rank) continue;
    device::wait_for(run, &own->ready[rank], own->runs[rank], device::kReady,
                     static_cast<unsigned>(rank));
  }
}

}  // namespace

cudaError_t gate(cudaStream_t stream, const Meeting& meeting, Counters counters) {
  return launch(stream, {1, kLanes}, gate_kernel, device::run_of(meeting),
                counters == Counters::reset);
}

}  // namespace overlaptune::kernels
