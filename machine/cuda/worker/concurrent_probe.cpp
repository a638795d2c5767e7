// GEMM and collective at once, each on a stream of its own. What is timed is a chain of one of
// them, within a longer chain of the other.

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "core/statistics.hpp"
#include "kernels/support.hpp"
#include "machine/cuda/worker/probes.hpp"

namespace overlaptune::cuda {
namespace {

constexpr int kRepetitions = 3;
constexpr int kLongestChain = 200;
/// How much longer the chain around is than the one that is timed, both slowed.
constexpr double kMargin = 1.6;
constexpr Microseconds kTimed = us(1500);
/// Host time to enqueue one piece of a chain, at most.
constexpr std::int64_t kSubmission = 9'000;  // ns

struct Side {
  Work work;
  Microseconds alone{};  ///< one, on the slowest rank
};

int length(Microseconds whole, const Side& side) {
  return static_cast<int>(std::clamp(std::ceil(whole / side.alone), 1.0, double{kLongestChain}));
}

/// Time of one `timed` while `around` runs. Not by graphs: parallel branches of these may share a
/// hardware queue, where a piece of one then waits for a piece of the other.
Timed beside(Workbench& bench, const Side& timed, const Side& around, bool timed_is_collective) {
  const int inner = length(kTimed, timed);
  const int outer = length(inner * timed.alone * kMargin + us(100), around);
  run::World& world = bench.world;
  // The collective first in line, wherever SMs become free, as in plans.
  const run::Stream high = run::make_stream(run::Priority::high);
  const run::Stream low = run::make_stream(run::Priority::normal);
  const cudaStream_t inner_stream = timed_is_collective ? high.get() : low.get();
  const cudaStream_t outer_stream = timed_is_collective ? low.get() : high.get();
  const run::Event go = run::make_event(false);
  const run::Event start = run::make_event(true);
  const run::Event end = run::make_event(true);
  const run::DeviceMemory memory = run::device_memory(2 * sizeof(kernels::ClockStamp));
  auto* const stamps = static_cast<kernels::ClockStamp*>(memory.get());
  Timed result;
  for (int i = -1; i < kRepetitions; ++i) {  // the first warms up
    // Until everything is enqueued.
    kernels::spin(world.stream(), 100'000 + kSubmission * (inner + outer));
    world.barrier(world.stream());
    OVT_CHECK(cudaEventRecord(go.get(), world.stream()));
    OVT_CHECK(cudaStreamWaitEvent(outer_stream, go.get(), 0));
    OVT_CHECK(cudaStreamWaitEvent(inner_stream, go.get(), 0));
    kernels::spin(inner_stream, 20'000);  // the other is under way
    for (int piece = 0; piece < outer; ++piece) around.work(outer_stream, piece);
    kernels::stamp_clock(inner_stream, stamps);
    OVT_CHECK(cudaEventRecord(start.get(), inner_stream));
    for (int piece = 0; piece < inner; ++piece) timed.work(inner_stream, piece);
    OVT_CHECK(cudaEventRecord(end.get(), inner_stream));
    kernels::stamp_clock(inner_stream, stamps + 1);
    OVT_CHECK(cudaStreamSynchronize(inner_stream));
    OVT_CHECK(cudaStreamSynchronize(outer_stream));
    float ms = 0;
    OVT_CHECK(cudaEventElapsedTime(&ms, start.get(), end.get()));
    // Every other time has the replay of its graph in it.
    if (i >= 0) {
      result.times.push_back(bench.replay + us(1e3 * static_cast<double>(ms) / inner));
    }
  }
  kernels::ClockStamp seen[2];
  OVT_CHECK(cudaMemcpy(seen, stamps, sizeof seen, cudaMemcpyDeviceToHost));
  if (seen[0].sm == seen[1].sm && seen[1].cycles > seen[0].cycles) {
    result.sm_clock_mhz = 1e3 * static_cast<double>(seen[1].cycles - seen[0].cycles) /
                          static_cast<double>(seen[1].nanoseconds - seen[0].nanoseconds);
  }
  return result;
}

}  // namespace

Expected<Samples> measure_concurrent(Workbench& bench, const ConcurrentProbe& probe) {
  if (!probe.gemm.tile.is_library()) return bad_input("gemm: only the library's GEMM runs here");
  const auto route = route_of(bench, probe.collective);
  if (!route) return tl::make_unexpected(route.error());
  const GemmProbe& gemm = probe.gemm;
  const run::GemmShape shape{
      .m = gemm.m,
      .n = gemm.n,
      .k = gemm.k,
      .dtype = gemm.dtype,
      .sms = gemm.sms > 0 ? gemm.sms : bench.sms - probe.collective.comm_ctas};
  const std::int64_t count = element_count(probe.collective);
  run::GemmOperands operands;
  CollectiveBuffers buffers;
  const auto room = placed(bench.world, [&](Bump& bump) {
    operands = {bump.take(gemm.m * gemm.k * kElementBytes),
                bump.take(gemm.n * gemm.k * kElementBytes),
                bump.take(gemm.m * gemm.n * kElementBytes)};
    buffers = take_buffers(bump, probe.collective);
  });
  if (!room) return tl::make_unexpected(room.error());
  run::World& world = bench.world;
  const cudaStream_t stream = world.stream();
  kernels::fill_normal(stream, const_cast<void*>(operands.a), gemm.dtype, gemm.m * gemm.k, 1);
  kernels::fill_normal(stream, const_cast<void*>(operands.b), gemm.dtype, gemm.n * gemm.k, 2);
  const bool gathers = probe.collective.collective == Collective::all_gather;
  OVT_CHECK(cudaMemsetAsync(
      buffers.send, 0x01,
      static_cast<std::size_t>((gathers ? count / route->ranks : count) * kElementBytes), stream));
  static_cast<void>(world.comm(*route));
  const auto choice = bench.library.choose(shape, std::span(&operands, 1));
  if (!choice) return tl::make_unexpected(choice.error());
  Side product{
      .work = [&](cudaStream_t to, int) { bench.library.enqueue(to, shape, *choice, operands); }};
  Side exchange{.work = [&](cudaStream_t to, int) {
    run::enqueue(to, world, *route, probe.collective.collective, Dtype::bf16, buffers.send,
                 buffers.receive, count);
  }};
  for (Side* side : {&product, &exchange}) {
    const auto times = bench.timer.rounds({side->work}, 4).front().times;
    side->alone = us(world.largest(std::min(times[2], times[3]).count()));
  }
  Timed products = beside(bench, product, exchange, false);
  Samples samples{.times = std::move(products.times), .conditions = bench.conditions(products)};
  samples.collective_times = beside(bench, exchange, product, true).times;
  return samples;
}

}  // namespace overlaptune::cuda
