// Copies between GPUs: every rank copies to its neighbour at the same time, or one copies alone.

#include <cstring>
#include <optional>
#include <span>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/base/index.hpp"
#include "kernels/support.hpp"
#include "machine/worker/probes/probes.hpp"
#include "run/memory/peer_way.hpp"

namespace overlaptune::cuda {
namespace {

using Mapping = run::Handle<void*, &cudaIpcCloseMemHandle>;

/// Collective. The memory of rank `of`, opened here; `own` is what this rank opens to others. Empty
/// where it cannot be opened, and on a rank that does not copy.
Mapping opened(run::World& world, void* own, std::optional<int> of) {
  cudaIpcMemHandle_t mine{};
  OVT_CHECK(cudaIpcGetMemHandle(&mine, own));
  const auto all = world.gathered(std::as_bytes(std::span(&mine, 1)));
  if (!of) return Mapping();
  cudaIpcMemHandle_t theirs{};
  std::memcpy(&theirs, all.data() + index(*of) * sizeof theirs, sizeof theirs);
  void* memory = nullptr;
  if (cudaIpcOpenMemHandle(&memory, theirs, cudaIpcMemLazyEnablePeerAccess) == cudaSuccess) {
    return Mapping(memory);
  }
  static_cast<void>(cudaGetLastError());
  return Mapping();
}

/// Times copies of `size` from this rank to the rank `to`, by the stores of `ctas` CTAs or (0) by a
/// copy engine. A rank with no `to` only takes part in the barriers. Collective.
Expected<Samples> copies(Workbench& bench, Bytes size, int ctas, std::optional<int> to) {
  run::World& world = bench.world;
  const auto bytes = static_cast<std::size_t>(size.count) / 16 * 16;
  if (bytes == 0) return bad_input("copy: expected at least 16 bytes");
  if (!world.shares_gpu() && !run::are_on_one_node(world)) {
    return bad_input("copy: the ranks are on several hosts, which share no memory of GPUs");
  }
  const run::DeviceMemory from = run::device_memory(bytes);
  OVT_CHECK(cudaMemset(from.get(), 0x5a, bytes));
  const run::DeviceMemory own = run::device_memory(bytes);
  Mapping peer = opened(world, own.get(), to);
  const bool reachable = world.largest(to && !peer ? 1 : 0) == 0;
  Samples samples;
  if (reachable) {
    const Task task = [&](cudaStream_t stream, int) {
      if (!to) return;
      if (ctas > 0) {
        OVT_CHECK(kernels::copy_by_stores(stream, peer.get(), from.get(),
                                          static_cast<std::int64_t>(bytes), ctas));
      } else {
        OVT_CHECK(cudaMemcpyAsync(peer.get(), from.get(), bytes, cudaMemcpyDeviceToDevice, stream));
      }
    };
    static_cast<void>(bench.timer.rounds({task}, 2));
    Timed timed = bench.timer.until_quiet(task, 5, 20, us(10'000));
    samples = {.times = std::move(timed.times), .conditions = bench.conditions(timed)};
  }
  // No rank closes memory to which it still writes, and no rank frees memory that another one has
  // open.
  OVT_CHECK(cudaStreamSynchronize(world.stream()));
  peer = Mapping();
  static_cast<void>(world.largest(0));
  if (!reachable) return bad_input("copy: these GPUs cannot reach each other's memory");
  return samples;
}

}  // namespace

Expected<Samples> measure(Workbench& bench, const CopyProbe& probe) {
  const int next = (bench.world.rank() + 1) % bench.world.ranks();
  return copies(bench, probe.bytes, probe.ctas, next);
}

Expected<Samples> measure(Workbench& bench, const PeerProbe& probe) {
  const int ranks = bench.world.ranks();
  const auto is_rank = [&](int rank) { return rank >= 0 && rank < ranks; };
  if (!is_rank(probe.from) || !is_rank(probe.to) || probe.from == probe.to) {
    return bad_input(fmt::format("copy from {} to {}: expected two of the ranks 0 to {}",
                                 probe.from, probe.to, ranks - 1));
  }
  const bool copies_here = bench.world.rank() == probe.from;
  return copies(bench, probe.bytes, 0, copies_here ? std::optional(probe.to) : std::nullopt);
}

}  // namespace overlaptune::cuda
