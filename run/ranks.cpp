#include "run/ranks.hpp"

#include <cstring>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/nccl_variables.hpp"
#include "run/agreed.hpp"

namespace overlaptune::run {
namespace {

int attribute(int device, int which) {
  int value = 0;
  OVT_CHECK(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(which), device));
  return value;
}

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
  const auto bytes = world.gathered(std::as_bytes(std::span(&told, 1)));
  for (std::size_t rank = 0; rank < bytes.size() / sizeof told; ++rank) {
    Told theirs{};
    std::memcpy(&theirs, bytes.data() + rank * sizeof theirs, sizeof theirs);
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
  const Told mine{this_process(), all.own.handle()};
  const auto bytes = world.gathered(std::as_bytes(std::span(&mine, 1)));
  for (int rank = 0; rank < world.ranks(); ++rank) {
    Told told{};
    std::memcpy(&told, bytes.data() + static_cast<std::size_t>(rank) * sizeof told, sizeof told);
    const bool own = rank == world.rank();
    all.ranks.push_back(
        {told.process, own ? LastWords() : LastWords::of(told.process, told.words)});
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

int device_of(ncclComm_t comm) {
  int device = 0;
  OVT_CHECK(ncclCommCuDevice(comm, &device));
  return device;
}

int rank_of(ncclComm_t comm) {
  int rank = 0;
  OVT_CHECK(ncclCommUserRank(comm, &rank));
  return rank;
}

int ranks_of(ncclComm_t comm) {
  int ranks = 0;
  OVT_CHECK(ncclCommCount(comm, &ranks));
  return ranks;
}

int current_device() {
  int device = 0;
  OVT_CHECK(cudaGetDevice(&device));
  return device;
}

int sms_of(int device) {
  return attribute(device, cudaDevAttrMultiProcessorCount);
}

bool multicast_is_on(int device) {
  constexpr int kMulticastSupported = 132;  // CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
  if (nccl_variable("NCCL_NVLS_ENABLE") == "0") return false;
  return attribute(device, kMulticastSupported) != 0;
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
  return captures_in_words(told(ranks.world, static_cast<std::uint64_t>(here)));
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
  const auto differ = [](const char* name, auto here, auto there) {
    return fmt::format("{} = {}, this rank {}", name, there, here);
  };
  if (mine.allow_multicast != theirs.allow_multicast) {
    return differ("allow_multicast", int{mine.allow_multicast}, int{theirs.allow_multicast});
  }
  if (mine.exclusive != theirs.exclusive) {
    return differ("exclusive", int{mine.exclusive}, int{theirs.exclusive});
  }
  if (mine.free_sms != theirs.free_sms) return differ("free_sms", mine.free_sms, theirs.free_sms);
  if (mine.time_limit != theirs.time_limit) {
    return differ("time_limit_ms", mine.time_limit.count(), theirs.time_limit.count());
  }
  if (mine.peer_bytes != theirs.peer_bytes) {
    return differ("peer_bytes", mine.peer_bytes, theirs.peer_bytes);
  }
  if (mine.result_bytes != theirs.result_bytes) {
    return differ("result_bytes", mine.result_bytes, theirs.result_bytes);
  }
  return "";
}

std::vector<std::uint64_t> told(World& world, std::uint64_t mine) {
  const auto bytes = world.gathered(std::as_bytes(std::span(&mine, 1)));
  std::vector<std::uint64_t> all(bytes.size() / sizeof mine);
  std::memcpy(all.data(), bytes.data(), bytes.size());
  return all;
}

}  // namespace overlaptune::run
