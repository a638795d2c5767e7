#include "run/c_api/c_arguments.hpp"

#include <algorithm>
#include <utility>

#include "core/abi/values.hpp"
#include "core/base/hash.hpp"
#include "core/config/check.hpp"
#include "core/multicast.hpp"
#include "run/deployed.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::run {
namespace {

bool is_set(std::int32_t value, const char* name) {
  if (value == 0 || value == 1) return value == 1;
  refuse(fmt::format("ovt_world_options.{} = {}: expected 0 or 1", name, value));
}

/// A count of something, from 0 on.
template <class Count>
Count counted(Count value, const char* name) {
  if (value >= 0) return value;
  refuse(fmt::format("ovt_world_options.{} = {}: expected 0 or more", name, value));
}

/// Refuses a plan whose time was measured without multicast where NCCL may use it.
void check_multicast(const Work& work, const World& world) {
  const bool hurts = !world.options().allow_multicast &&
                     may_use_multicast(work.problem(), work.config()) &&
                     multicast_is_on(current_device());
  if (!hurts) return;
  refuse(fmt::format(
      "strategy {} by {} runs a collective of NCCL, which may use NVLink multicast here: set "
      "NCCL_NVLS_ENABLE=0 before the first communicator is made, or "
      "ovt_world_options.allow_multicast",
      to_string(work.strategy()), to_string(transport_of(work.config()))));
}

/// Refuses matrices that no GPU can hold, so that no size in bytes overflows.
void check_bytes(const Problem& problem) {
  constexpr double kMostBytes = 1e15;
  const double bytes = product_bytes(problem.m, problem.n, problem.k, problem.elements);
  if (4 * bytes < kMostBytes) return;
  refuse(fmt::format("ovt_problem: {} takes more memory than any GPU has", to_string(problem)));
}

}  // namespace

void refuse(std::string message) {
  throw c::Refusal{OVT_ERROR_ARGUMENT, std::move(message)};
}

WorldOptions options_of(const ovt_world_options* given) {
  WorldOptions options;
  if (given != nullptr) {
    c::check_input(given, "ovt_world_options");
    options.allow_multicast = is_set(given->allow_multicast, "allow_multicast");
    options.exclusive = is_set(given->exclusive, "exclusive");
    options.free_sms = counted(given->free_sms, "free_sms");
    options.result_bytes = static_cast<std::size_t>(counted(given->result_bytes, "result_bytes"));
    options.time_limit = std::chrono::milliseconds(counted(given->time_limit_ms, "time_limit_ms"));
  }
  const bool has_limit = given != nullptr && given->time_limit_ms > 0;
  if (!has_limit) options.time_limit = value_or_throw(usual_time_limit());
  return options;
}

void take_peers(const ovt_world_options* given, int ranks, WorldOptions& options) {
  if (given == nullptr || (given->peers == nullptr && given->peer_bytes == 0)) return;
  if (given->peers == nullptr) refuse("ovt_world_options.peers: NULL: expected an address a rank");
  if (given->peer_bytes <= 0) {
    refuse(fmt::format("ovt_world_options.peer_bytes = {}: expected the bytes of each rank's part",
                       given->peer_bytes));
  }
  if (given->result_bytes != 0) {
    refuse(fmt::format("ovt_world_options.result_bytes = {}: expected 0 with peers",
                       given->result_bytes));
  }
  constexpr std::uintptr_t kAlign = 4096;
  options.peer_bytes = static_cast<std::size_t>(given->peer_bytes) / kAlign * kAlign;
  for (int rank = 0; rank < ranks; ++rank) {
    void* const address = given->peers[rank];
    if (address == nullptr || reinterpret_cast<std::uintptr_t>(address) % kAlign != 0) {
      refuse(fmt::format("ovt_world_options.peers[{}] = {}: expected a multiple of {}", rank,
                         address, kAlign));
    }
    options.peers.push_back(address);
  }
}

void check_on(int device, const WorldOptions& options) {
  const int sms = sms_of(device);
  if (options.free_sms >= sms) {
    refuse(fmt::format("ovt_world_options.free_sms = {}: expected fewer than the {} SMs of the GPU",
                       options.free_sms, sms));
  }
}

Work work_of(const ovt_problem* problem, const char* config) {
  const Problem asked = c::problem_of(problem);
  Config read = c::config_of(config);
  check_bytes(asked);
  auto work = Work::make(asked, std::move(read));
  if (!work) refuse(std::move(work.error().message));
  return std::move(*work);
}

void check_fits(const Work& work, const Engine& engine) {
  const World& world = engine.world;
  if (work.problem().ranks != world.ranks()) {
    refuse(fmt::format("ovt_problem.ranks = {}: expected {}, those of the world",
                       work.problem().ranks, world.ranks()));
  }
  const auto able = check(work.problem(), work.config(), engine.capabilities());
  if (!able) refuse(able.error().message);
  check_multicast(work, world);
  check_capacity(deployed_sizes(work).shared(), world);
}

void check_capacity(std::int64_t needed, const World& world) {
  if (needed > static_cast<std::int64_t>(world.capacity())) {
    refuse(
        fmt::format("the plan needs {} bytes of the world's memory, which has {}: call "
                    "ovt_world_reserve first",
                    needed, world.capacity()));
  }
}

void agree(World& world, std::string_view asked, const char* what) {
  const std::uint64_t mine = fnv1a(asked) | 1;
  const std::vector<std::uint64_t> all = world.told_by_all(mine);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank] == mine) continue;
    refuse(all[rank] == kRefused
               ? fmt::format("rank {} refused its arguments: see its error", rank)
               : fmt::format("rank {} asks for another {} than rank {}", rank, what, world.rank()));
  }
}

void refuse_to_grow(Ranks& ranks, std::size_t bytes) {
  const std::string held = held_captures(ranks, ranks.graphs.still_alive());
  if (held.empty()) return;
  refuse(
      fmt::format("bytes = {}: {} are there, and CUDA graphs that plans were captured into hold "
                  "their addresses ({}): destroy these graphs on every rank, reserve, then capture "
                  "again",
                  bytes, ranks.world.capacity(), held));
}

void refuse_to_destroy(Ranks& ranks) {
  const std::string held = held_captures(ranks, ranks.graphs.alive());
  if (held.empty()) return;
  refuse(
      fmt::format("CUDA graphs hold plans of this world ({}): destroy these graphs on every rank, "
                  "then destroy the world",
                  held));
}

}  // namespace overlaptune::run
