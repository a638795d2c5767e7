#include "run/ranks.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "run/agreed.hpp"
#include "run/host/inventory.hpp"
#include "run/nccl.hpp"

namespace overlaptune::run {
namespace {

/// Throws where the ranks have not all given the same options.
void agree(World& world) {
  struct Told {
    std::int64_t time_limit, peer_bytes, result_bytes;
    std::int32_t allow_multicast, exclusive, free_sms, unused;
  };
  const WorldOptions& mine = world.options();
  const Told told{mine.time_limit.count(),
                  static_cast<std::int64_t>(mine.peer_bytes),
                  static_cast<std::int64_t>(mine.result_bytes),
                  mine.allow_multicast,
                  mine.exclusive,
                  mine.free_sms,
                  0};
  const std::vector<Told> all = world.told_by_all(told);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const Told& theirs = all[rank];
    const WorldOptions options{.allow_multicast = theirs.allow_multicast != 0,
                               .exclusive = theirs.exclusive != 0,
                               .free_sms = theirs.free_sms,
                               .time_limit = std::chrono::milliseconds(theirs.time_limit),
                               .peer_bytes = static_cast<std::size_t>(theirs.peer_bytes),
                               .result_bytes = static_cast<std::size_t>(theirs.result_bytes)};
    const std::string found = difference(mine, options);
    if (found.empty()) continue;
    throw Failure(ErrorKind::bad_input,
                  fmt::format("ovt_world_options: rank {} gives {}: expected the same on all ranks",
                              rank, found));
  }
}

/// Collective: all ranks, and this one's page, for a watchdog.
Watchdog::Watched watched(World& world, LastRun& last_run, int device) {
  struct Told {
    Process process;
    LastWords::Handle words;
  };
  Watchdog::Watched all{
      .world = world, .last_run = last_run, .device = device, .own = LastWords::of_this_rank()};
  for (const auto& [process, words] : world.told_by_all(Told{this_process(), all.own.handle()})) {
    const bool own = std::cmp_equal(all.ranks.size(), world.rank());
    all.ranks.push_back({process, own ? LastWords() : LastWords::of(process, words)});
  }
  return all;
}

/// Collective: cuBLASLt's handle and workspace, or a `Failure` on every rank.
GemmLibrary library_of(World& world) {
  agree(world);
  std::optional<GemmLibrary> made;
  Expected<void> here = caught([&]() -> Expected<void> {
    made.emplace(world);
    return {};
  });
  value_or_throw(agreed(world, std::move(here), "make this world"));
  return std::move(*made);
}

}  // namespace

OnDevice::OnDevice(int device) {
  OVT_CHECK(cudaGetDevice(&before_));
  if (device == before_) return;
  OVT_CHECK(cudaSetDevice(device));
  changed_ = true;
}

OnDevice::~OnDevice() {
  if (changed_) static_cast<void>(cudaSetDevice(before_));
}

Ranks::Ranks(ncclComm_t comm, const WorldOptions& options, World::Scratch scratch)
    : device(device_of(comm)),
      sms(sms_of(device)),
      world(comm, options, std::move(scratch)),
      library(library_of(world)),
      watchdog(watched(world, last_run, device), [this] { return abandon_from_aside(); }) {}

bool Ranks::abandon_from_aside() {
  constexpr std::chrono::milliseconds kCall{100};
  // A call that waits for ranks sees that the world has ended, and ends it itself.
  const std::unique_lock lock(calls, kCall);
  if (lock) abandon(std::chrono::milliseconds(0));  // the next call need not wait for it
  return static_cast<bool>(lock);
}

std::string held_captures(Ranks& ranks, int here) {
  return captures_in_words(ranks.world.told_by_all(static_cast<std::uint64_t>(here)));
}

std::string captures_in_words(std::span<const std::uint64_t> by_rank) {
  std::string words;
  for (std::size_t rank = 0; rank < by_rank.size(); ++rank) {
    if (by_rank[rank] == 0) continue;
    const char* const noun = !words.empty() ? "" : by_rank[rank] == 1 ? " capture" : " captures";
    words += fmt::format("{}{}{} on rank {}", words.empty() ? "" : ", ", by_rank[rank], noun, rank);
  }
  return words;
}

std::string difference(const WorldOptions& mine, const WorldOptions& theirs) {
  std::string found;
  const auto compare = [&](const char* name, auto here, auto there) {
    if (!found.empty() || here == there) return;
    found = fmt::format("{} = {}, this rank {}", name, there, here);
  };
  compare("allow_multicast", int{mine.allow_multicast}, int{theirs.allow_multicast});
  compare("exclusive", int{mine.exclusive}, int{theirs.exclusive});
  compare("free_sms", mine.free_sms, theirs.free_sms);
  compare("time_limit_ms", mine.time_limit.count(), theirs.time_limit.count());
  compare("peer_bytes", mine.peer_bytes, theirs.peer_bytes);
  compare("result_bytes", mine.result_bytes, theirs.result_bytes);
  return found;
}

}  // namespace overlaptune::run
