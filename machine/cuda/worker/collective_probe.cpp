#include <algorithm>

#include "core/error.hpp"
#include "kernels/support.hpp"
#include "machine/cuda/worker/probes.hpp"
#include "run/copies.hpp"
#include "run/peers.hpp"

namespace overlaptune::cuda {

std::int64_t element_count(const CollectiveProbe& probe) {
  const std::int64_t parts = probe.ranks * std::int64_t{8};  // 16 bytes a part at least
  return std::max(parts, (probe.bytes.count / kElementBytes + parts - 1) / parts * parts);
}

Expected<run::CommKey> route_of(const Workbench& bench, const CollectiveProbe& probe) {
  return run::route(bench.world, probe.collective, probe.ranks, probe.comm_ctas, probe.transport);
}

CollectiveBuffers take_buffers(Bump& bump, const CollectiveProbe& probe) {
  const std::int64_t whole = element_count(probe) * kElementBytes;
  const std::int64_t part = whole / probe.ranks;
  const bool gathers = probe.collective == Collective::all_gather;
  const bool scatters = probe.collective == Collective::reduce_scatter;
  CollectiveBuffers buffers{.send = bump.take(gathers ? part : whole)};
  buffers.receive = probe.collective == Collective::all_reduce ? buffers.send
                                                               : bump.take(scatters ? part : whole);
  return buffers;
}

void enqueue_collective(Workbench& bench, cudaStream_t stream, const run::CommKey& route,
                        Collective collective, const CollectiveBuffers& buffers,
                        std::int64_t count) {
  if (route.copies) {
    run::enqueue_copies(stream, bench.world, route, buffers.send, buffers.receive, count);
  } else if (route.peers) {
    run::enqueue_peers(stream, bench.world, route, collective, Dtype::bf16, buffers.send,
                       buffers.receive, count);
  } else {
    run::enqueue(stream, bench.world, route, collective, Dtype::bf16, buffers.send, buffers.receive,
                 count);
  }
}

Expected<Samples> measure_collective(Workbench& bench, const CollectiveProbe& probe) {
  const auto route = route_of(bench, probe);
  if (!route) return tl::make_unexpected(route.error());
  const std::int64_t count = element_count(probe);
  const int sets = bench.cold_sets(2 * count * kElementBytes);
  std::vector<CollectiveBuffers> buffers(static_cast<std::size_t>(sets));
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  const auto room = placed(bench.world, [&](Bump& bump) {
    begin = static_cast<std::byte*>(bump.take(0));
    for (CollectiveBuffers& set : buffers) set = take_buffers(bump, probe);
    bytes = bump.used();
  });
  if (!room) return tl::make_unexpected(room.error());
  const cudaStream_t stream = bench.world.stream();
  // Sums of sums grow: small numbers stay finite for as long as this is timed.
  OVT_CHECK(cudaMemsetAsync(begin, 0x01, bytes, stream));
  if (auto ready = run::make_ready(bench.world, *route); !ready) {
    return tl::make_unexpected(ready.error());
  }
  const auto submit = [&](cudaStream_t to, int set) {
    enqueue_collective(bench, to, *route, probe.collective, buffers[static_cast<std::size_t>(set)],
                       count);
  };
  submit(stream, 0);  // connects
  const Replay replay(bench.world, sets, submit);
  const auto work = [&](cudaStream_t to, int turn) { replay(to, turn); };
  static_cast<void>(bench.timer.rounds({work}, count > (std::int64_t{8} << 20) ? 1 : 3));
  Timed timed = bench.timer.until_quiet(work, 4, 20, us(4'000));
  return Samples{.times = std::move(timed.times), .conditions = bench.conditions(timed)};
}

}  // namespace overlaptune::cuda
