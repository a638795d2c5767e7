// GEMM and collective in turn, until clock and power have settled.

#include <functional>

#include "machine/worker/pair.hpp"

namespace overlaptune::cuda {

Expected<Samples> measure(Workbench& bench, const SustainedProbe& probe) {
  // The driver holds the power limit on the mean over about a second.
  constexpr Microseconds kSettling = us(1'000'000);
  constexpr Microseconds kTimed = us(20'000);
  // A generated GEMM needs a number of SMs; the library's takes 0 for all.
  const bool all = probe.gemm.sms == 0 && !probe.gemm.tile.is_library();
  const auto pair =
      Pair::make(bench, probe.gemm, {.sms = all ? bench.sms : probe.gemm.sms}, probe.collective);
  if (!pair) return error_of(pair);
  pair->enqueue_collective(bench, bench.world.stream());  // connects
  const Replay replay(bench.world, 1, [&](cudaStream_t stream, int) {
    pair->enqueue_gemm(bench, stream);
    pair->enqueue_collective(bench, stream);
  });
  bench.timer.sustain({std::cref(replay)}, kSettling);
  Timed timed = bench.timer.until_quiet(std::cref(replay), 9, 60, kTimed);
  return Samples{.times = std::move(timed.times), .conditions = bench.conditions(timed)};
}

}  // namespace overlaptune::cuda
