#include "kernels/gate.hpp"
#include "kernels/waits.cuh"

namespace overlaptune::kernels {
namespace {

using device::kLanes;

/// A value that no counter ever has.
constexpr device::u32 kImpossible = 0xffffffff;
static_assert(kMostRegions % kLanes == 0);

// Arrivals are relaxed: a release would take 1.6 us on an H100, more than all else here. The work
// of earlier launches of the stream has ended, and a peer sees what it wrote: NCCL's symmetric
// kernels begin by the same kind of barrier. The zeros below are ordered by what they replace: no
// lane tells that it arrived before it has seen that, so no increment of a peer comes before them.
// A place comes with the number of its run, because it may be seen later than the arrival.
__global__ void __maxnreg__(32) gate_kernel(const __grid_constant__ device::Run run, bool resets) {
  device::RankFlags* const own = device::own_flags(run);
  const int lane = static_cast<int>(threadIdx.x);
  const device::u32 dead = device::seen(&own->dead);  // looked at below: the answer takes a while
  if (resets) {
    bool possible = true;
#pragma unroll
    for (int i = 0; i < kMostRegions; i += kLanes) {
      possible &= device::exchanged(own->counters + i + lane, 0) != kImpossible;
    }
    if (lane == 0) possible &= device::exchanged(&own->done, 0) != kImpossible;
    if (!__all_sync(0xffffffffU, possible)) return;
  }
#pragma unroll 1
  for (int rank = lane; rank < run.ranks; rank += kLanes) {
    if (rank == run.rank) continue;
    if (run.place != device::kNoPlace) {
      const device::u64 number = own->epochs[rank] + run.step;
      device::store_relaxed(&run.flags[rank]->places[run.rank], device::placed(run, number));
    }
    device::add_relaxed(&run.flags[rank]->ready[run.rank], run.step);
  }
#pragma unroll 1
  for (int rank = lane; rank < run.ranks; rank += kLanes) {
    const device::u64 number = own->epochs[rank] + run.step;
    own->epochs[rank] = number;
    if (rank == run.rank) continue;
    const auto index = static_cast<device::u32>(rank);
    const bool came = device::wait_for_rank(run, &own->ready[rank], number, index);
    if (run.place == device::kNoPlace) continue;
    if (!came || !device::wait_for_place(run, rank, number)) device::forget_place(run, rank);
  }
  __syncwarp();
  // A peer that has waited in vain has arrived, too, but it is in the run no more.
  if (lane == 0 && dead != 0) device::give_up(run, Awaited::told, 0, 0);
  device::start_next_launch();
}

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

cudaError_t gate(cudaStream_t stream, const RankBarrier& barrier, Counters counters) {
  return launch(stream, {.blocks = 1, .threads = kLanes, .beside_gemms = true}, gate_kernel,
                device::run_of(barrier), counters == Counters::reset);
}

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
