#include "machine/worker/workbench.hpp"

#include <functional>

#include "core/statistics.hpp"
#include "kernels/support.hpp"

namespace overlaptune::cuda {

Workbench::Workbench(const ncclUniqueId& id, int rank, int ranks, bool allow_multicast,
                     const run::Nvml& gpu)
    : world(id, rank, ranks, {.allow_multicast = allow_multicast}),
      library(world),
      timer(world),
      nvml(gpu) {
  int device = 0;
  cudaDeviceProp properties{};
  OVT_CHECK(cudaGetDevice(&device));
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  sms = properties.multiProcessorCount;
  l2_bytes = properties.l2CacheSize;
  const Replay nothing(world, 1, [](cudaStream_t to, int) { OVT_CHECK(kernels::nothing(to)); });
  static_cast<void>(timer.rounds({std::cref(nothing)}, 3));
  std::vector<double> times;
  const Timed timed = timer.rounds({std::cref(nothing)}, 15).front();
  for (const Microseconds time : timed.times) times.push_back(time.count());
  replay = us(world.largest(quantile(times, 0.5)));
}

Conditions Workbench::conditions(const Timed& timed) const {
  // The driver's clock is an average over a time far longer than most measurements.
  Conditions conditions = nvml.conditions();
  if (timed.sm_clock_mhz) conditions.sm_clock_mhz = timed.sm_clock_mhz;
  return conditions;
}

}  // namespace overlaptune::cuda
