#include <algorithm>
#include <functional>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/index.hpp"
#include "machine/worker/probes/probes.hpp"
#include "run/exchange/collective.hpp"

namespace overlaptune::cuda {
namespace {

constexpr std::int64_t kElement = bytes_of(kMovedDtype);

/// The rules for probes of collectives, as `check` has them for configs.
Expected<void> check_probe(const CollectiveProbe& probe, const Capabilities& here) {
  if (probe.ranks < 2 || probe.ranks > here.ranks) {
    return bad_input(fmt::format("ranks = {}: expected 2 to {}", probe.ranks, here.ranks));
  }
  const int fewest = probe.transport == Transport::peer_access ? 1 : 0;
  if (probe.comm_ctas < fewest || probe.comm_ctas > here.comm_ctas) {
    return bad_input(fmt::format("comm_ctas = {}: expected {} to {} by {}", probe.comm_ctas, fewest,
                                 here.comm_ctas, to_string(probe.transport)));
  }
  if (!serves(probe.transport, probe.collective)) {
    return bad_input(fmt::format("transport {}: does not carry {}", to_string(probe.transport),
                                 to_string(probe.collective)));
  }
  if (!here.transports.contains(probe.transport)) {
    return bad_input(fmt::format("transport {}: not on this machine", to_string(probe.transport)));
  }
  return {};
}

}  // namespace

std::int64_t element_count(const CollectiveProbe& probe) {
  constexpr std::int64_t kSmallestPart = 16;  // bytes
  const std::int64_t parts = probe.ranks * (kSmallestPart / kElement);
  return std::max(parts, (probe.bytes.count / kElement + parts - 1) / parts * parts);
}

Expected<run::CommKey> route_of(Workbench& bench, const CollectiveProbe& probe) {
  if (auto able = check_probe(probe, bench.engine().capabilities()); !able) return error_of(able);
  return run::route(probe.collective, probe.ranks, probe.comm_ctas, probe.transport);
}

CollectiveBuffers take_buffers(Bump& bump, const CollectiveProbe& probe) {
  const std::int64_t whole = element_count(probe) * kElement;
  const std::int64_t part = whole / probe.ranks;
  const bool gathers = probe.collective == Collective::all_gather;
  const bool scatters = probe.collective == Collective::reduce_scatter;
  CollectiveBuffers buffers{.send = bump.take(gathers ? part : whole)};
  buffers.receive = probe.collective == Collective::all_reduce ? buffers.send
                                                               : bump.take(scatters ? part : whole);
  return buffers;
}

Expected<Samples> measure(Workbench& bench, const CollectiveProbe& probe) {
  const auto route = route_of(bench, probe);
  if (!route) return error_of(route);
  const std::int64_t count = element_count(probe);
  const int sets = bench.cold_sets(2 * count * kElement);
  std::vector<CollectiveBuffers> buffers(index(sets));
  std::byte* begin = nullptr;
  std::size_t bytes = 0;
  const auto room = placed(bench.world, [&](Bump& bump) {
    begin = static_cast<std::byte*>(bump.take(0));
    for (CollectiveBuffers& set : buffers) set = take_buffers(bump, probe);
    bytes = bump.used();
  });
  if (!room) return error_of(room);
  const cudaStream_t stream = bench.world.stream();
  // Sums of sums grow; small numbers stay finite for the whole measurement.
  OVT_CHECK(cudaMemsetAsync(begin, 0x01, bytes, stream));
  if (auto ready = run::make_ready(bench.world, *route); !ready) return error_of(ready);
  const auto submit = [&](cudaStream_t to, int set) {
    const CollectiveBuffers& own = buffers[index(set)];
    run::enqueue(to, bench.world, *route, probe.collective, kMovedDtype, own.send, own.receive,
                 count);
  };
  submit(stream, 0);  // connects
  const Replay replay(bench.world, sets, submit);
  const int warming = count > (std::int64_t{8} << 20) ? 1 : 3;
  const Timed warm = bench.timer.rounds({std::cref(replay)}, warming).front();
  // Over slow links two repetitions are enough: long ones differ little. All ranks must agree.
  constexpr Microseconds kLong = us(20'000);
  const bool is_long = us(bench.world.largest(warm.times.back().count())) > kLong;
  Timed timed = bench.timer.until_quiet(std::cref(replay), is_long ? 2 : 4, 20, us(4'000));
  return Samples{.times = std::move(timed.times), .conditions = bench.conditions(timed)};
}

}  // namespace overlaptune::cuda
