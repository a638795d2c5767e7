#include "run/world.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "run/memory/peer_way.hpp"
#include "run/nccl.hpp"
#include "run/waits/patience.hpp"

namespace overlaptune::run {
namespace {

constexpr std::size_t kScratch = std::size_t{1} << 20;
/// Memory left to CUDA and NCCL when `memory()` grows.
constexpr std::size_t kSpare = std::size_t{2} << 30;
constexpr std::size_t kFirst = std::size_t{4} << 30;
constexpr std::size_t kGranularity = std::size_t{64} << 20;

constexpr std::size_t kFlagBytes = World::kFlags * sizeof(std::uint32_t);
static_assert(World::kCopyFlags * sizeof(std::uint32_t) + sizeof(kernels::RankFlags) <= kFlagBytes);

/// The key that a communicator is made with. Copies and peer access need only its window, so they
/// share one communicator, whatever their number of CTAs.
CommKey communicator_of(const CommKey& key) {
  if (!key.maps_memory()) return key;
  return {.ranks = key.ranks, .symmetric = true, .copies = true};
}

ncclConfig_t config_of(const CommKey& key) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  if (key.ctas != kNcclsChoice) {
    config.cgaClusterSize = 0;
    config.minCTAs = key.ctas;
    config.maxCTAs = key.ctas;
  }
  return config;
}

Comm initialized(const ncclUniqueId& id, int rank, int ranks, bool allow_multicast) {
  // Multicast (NVLS) is NCCL's default where the hardware has it.
  if (!allow_multicast) setenv("NCCL_NVLS_ENABLE", "0", 1);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  ncclComm_t comm = nullptr;
  OVT_CHECK(ncclCommInitRankConfig(&comm, ranks, id, rank, &config));
  return Comm(comm);
}

Comm split(ncclComm_t parent, int color, std::chrono::milliseconds limit) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  ncclComm_t comm = nullptr;
  OVT_CHECK(ncclCommSplit(parent, color, rank_of(parent), &comm, &config));
  finish(parent, limit, "ncclCommSplit");  // calls on the parent may not block
  return Comm(comm);
}

double gib(std::size_t bytes) {
  return static_cast<double>(bytes) / (1 << 30);
}

}  // namespace

World::Scratch World::Scratch::make() {
  Scratch made{
      .memory = device_memory(kScratch), .host = host_memory(kScratch), .stream = make_stream()};
  // On the stream that uses it: a memset on the default stream may come after later work.
  OVT_CHECK(cudaMemsetAsync(made.memory.get(), 0, kScratch, made.stream.get()));
  return made;
}

World::World(Comm comm, const WorldOptions& options, Scratch scratch, bool has_limit)
    : rank_(rank_of(comm.get())),
      ranks_(ranks_of(comm.get())),
      options_(options),
      has_limit_(has_limit),
      scratch_(std::move(scratch)),
      own_flags_(device_memory(sizeof(kernels::RankFlags))),
      waits_(options.time_limit),
      world_(std::move(comm)) {
  OVT_CHECK(cudaMemsetAsync(own_flags_.get(), 0, sizeof(kernels::RankFlags), stream()));
  ranks_per_gpu_ = most_ranks_on_a_gpu(*this);
  memory_ = chosen_peer_memory(*this);
}

World::World(const ncclUniqueId& id, int rank, int ranks, const WorldOptions& options)
    : World(initialized(id, rank, ranks, options.allow_multicast), options, Scratch::make(),
            false) {}

World::World(ncclComm_t parent, const WorldOptions& options, Scratch scratch)
    : World(split(parent, 0, options.time_limit), options, std::move(scratch), true) {
  if (ranks_ == ranks_of(parent)) return;
  throw Failure(ErrorKind::bad_input,
                "another rank refused its arguments, or has too little memory: see its error");
}

void World::decline(ncclComm_t parent, std::chrono::milliseconds limit) {
  static_cast<void>(split(parent, NCCL_SPLIT_NOCOLOR, limit));
}

World::~World() {
  try {
    if (memory_) memory_->detach();
    if (result_memory_) result_memory_->detach();
  } catch (const Failure&) {  // a destructor cannot report it
    static_cast<void>(cudaGetLastError());
  }
}

void World::close() {
  barrier(stream());
  finish(stream(), "the end of the world");
  memory_->detach();
  if (result_memory_) result_memory_->detach();
  barrier(stream());
  finish(stream(), "the end of the world");
  is_closed_ = true;
  end_.set("the world is destroyed: make another one, and its plans");
  comms_.clear();
  memories_.clear();
  result_memories_.clear();
  world_ = {};
  result_memory_.reset();
  if (results_ && !results_->is_used() && waited_until_idle()) result_keeper_->reset();
  results_.reset();
  result_keeper_.reset();
  memory_.reset();  // waits for all work of this GPU, as every cudaFree does
  capacity_ = 0;
  ++generation_;
}

void World::end(std::string reason) {
  end_.set(std::move(reason));
  waits_.abort();
}

std::optional<std::string> World::failure() const {
  if (auto reason = end_.reason()) return reason;
  return waits_.failure();
}

void World::abandon(bool keeps_memory, std::chrono::milliseconds limit) noexcept {
  if (const auto reason = waits_.failure()) end_.set(*reason);
  end_.set("the world has ended: make another one");
  waits_.abort();  // memory cannot be freed before its kernels have ended
  if (!memory_) return;
  memory_->forget();
  if (result_memory_) result_memory_->forget();
  Abandoned all;
  for (auto& [key, comm] : comms_) {
    (key.maps_memory() ? all.mapping : all.comms).push_back(std::move(comm));
  }
  all.comms.push_back(std::move(world_));
  comms_.clear();
  memories_.clear();
  result_memories_.clear();
  results_.reset();  // its blocks keep the memory
  result_keeper_.reset();
  if (keeps_memory) {
    static_cast<void>(memory_.release());
    static_cast<void>(result_memory_.release());
    for (Comm& each : all.mapping) each.leak();
    all.mapping.clear();
  } else {
    all.memory = std::move(memory_);
    all.results = std::move(result_memory_);
  }
  all.scratch = std::move(scratch_.memory);
  all.host = std::move(scratch_.host);
  capacity_ = 0;
  ++generation_;
  try {
    run::abandon(std::move(all), limit);
  } catch (const std::exception&) {  // no thread: then they have ended on this one
  }
}

ncclComm_t World::comm(const CommKey& key) {
  const CommKey made = communicator_of(key);
  const auto [entry, fresh] = comms_.try_emplace(made);
  if (fresh) {
    ncclConfig_t config = config_of(made);
    ncclComm_t comm = nullptr;
    OVT_CHECK(ncclCommSplit(world_.get(), rank_ < key.ranks ? 0 : NCCL_SPLIT_NOCOLOR, rank_, &comm,
                            &config));
    entry->second = Comm(comm);
    used_.insert(made);
  }
  if (key.symmetric) attach(made, entry->second.get());
  return entry->second.get();
}

bool World::has(const CommKey& key) const {
  return comms_.contains(communicator_of(key)) && (!key.maps_memory() || reaches(key));
}

void World::release_memory() {
  finish(stream(), "the work of this world");  // freeing the memory then waits for the whole GPU
  memory_->detach();
  memories_.clear();
  if (result_memory_) result_memory_->detach();
  result_memories_.clear();
  static_cast<void>(largest(0));  // no rank reaches the memory of another any more
  // NCCL keeps the buffers of captured collectives open on the peers as long as a communicator
  // lives. New memory at the same address would not be the memory that it opened, so the
  // communicators end here.
  comms_.clear();
  memory_->free();
  capacity_ = 0;
  ++generation_;
}

Expected<void> World::reserve(std::size_t bytes, std::size_t beside) {
  if (bytes <= capacity_ && beside == 0) return {};
  const auto rounded = [](std::size_t size) {
    return (size + kGranularity - 1) / kGranularity * kGranularity;
  };
  const std::size_t needed = rounded(bytes);
  const std::size_t others = beside + kSpare;
  const std::size_t least = least_free();
  if (needed + others > least) {
    return bad_input(fmt::format("needs {:.1f} GiB of GPU memory, {:.1f} GiB {}",
                                 gib(needed + others), gib(least), memory_->room_is()));
  }
  if (bytes <= capacity_ && capacity_ + others <= least) return {};
  // Growing is expensive (`release_memory`), so it takes more than is needed now.
  const std::size_t wanted = rounded(std::max({bytes, kFirst, 2 * capacity_}));
  if (bytes > capacity_ && wanted + others <= least && allocate(wanted)) return {};
  return allocate(needed);
}

Expected<void> World::reserve_no_more(std::size_t bytes) {
  constexpr std::size_t kWindowUnit = NCCL_WIN_REQUIRED_ALIGNMENT;
  if (bytes <= capacity_) return {};
  const std::size_t wanted = (bytes + kWindowUnit - 1) / kWindowUnit * kWindowUnit;
  const std::size_t least = least_free();
  if (wanted + kFlagBytes > least) {
    return bad_input(fmt::format("needs {:.2f} GiB of GPU memory, {:.2f} GiB {}",
                                 gib(wanted + kFlagBytes), gib(least), memory_->room_is()));
  }
  Expected<void> allocated = allocate(wanted);
  if (allocated) allocate_results();
  // Every rank has the same keys, because making a communicator is collective.
  for (const CommKey& key : used_) static_cast<void>(comm(key));
  return allocated;
}

/// Bytes that each rank would find free, on the GPU that has least, if `memory()` were given back.
std::size_t World::least_free() {
  std::size_t free = 0;
  std::size_t total = 0;
  OVT_CHECK(cudaMemGetInfo(&free, &total));
  const std::size_t share = free / static_cast<std::size_t>(ranks_per_gpu_);
  return static_cast<std::size_t>(-largest(-static_cast<double>(memory_->room(share + capacity_))));
}

/// Error: as `reserve`; then no rank has memory.
Expected<void> World::allocate(std::size_t bytes) {
  release_memory();
  const Expected<void> made = memory_->allocate(bytes + kFlagBytes);
  // The ranks agree here; otherwise they would wait in the next collective for a rank that has no
  // memory.
  if (largest(made ? 0 : 1) > 0) {
    memory_->free();
    return bad_input(fmt::format("needs {:.2f} GiB of GPU memory in one piece: {}",
                                 gib(bytes + kFlagBytes),
                                 made ? "another rank has not" : made.error().message));
  }
  OVT_CHECK(cudaMemsetAsync(memory() + bytes, 0, kFlagBytes, stream()));
  finish(stream(), "zeros in new memory");
  if (auto opened = memory_->open(); !opened) {
    release_memory();
    return opened;
  }
  capacity_ = bytes;
  return {};
}

/// Allocates memory for results, where there is none yet and it has room; else opens what is there.
/// Plans work without it, so there is no error. Afterwards communicators are made again.
void World::allocate_results() {
  constexpr std::size_t kMarks = 4096;  // the last word is for marks (run/memory/peer_mark.hpp)
  const std::size_t bytes = options_.result_bytes / kMarks * kMarks;
  if (!result_memory_ && bytes > 0) {
    auto memory = memory_->another();
    if (!memory) return;
    constexpr std::size_t kShare = 8;  // of what is free: others need memory, too
    const std::size_t least = least_free();
    const bool has_room = kShare * bytes <= least - std::min(least, capacity_);
    const bool made = has_room && memory->allocate(bytes + kMarks);
    if (largest(made ? 0 : 1) > 0) return;
    result_keeper_ = kept_until_idle(memory->keeper());
    results_ = ResultMemory::make(memory->memory(), bytes, result_keeper_);
    result_memory_ = std::move(memory);
  }
  if (result_memory_ && !result_memory_->open()) result_memory_->detach();
}

const std::uint32_t* World::zero() const {
  return reinterpret_cast<std::uint32_t*>(static_cast<std::byte*>(scratch_.memory.get()) +
                                          kScratch - 512);
}

void World::attach(const CommKey& key, ncclComm_t communicator) {
  if (memories_.contains(key) || capacity_ == 0) return;
  std::vector<void*>& addresses = memories_[key];
  if (communicator != nullptr) addresses = memory_->attach(communicator, key.maps_memory());
  if (!result_memory_ || !key.maps_memory()) return;
  std::vector<void*> results;
  if (communicator != nullptr) {
    try {
      results = result_memory_->attach(communicator, true);
    } catch (const Failure&) {
      static_cast<void>(cudaGetLastError());
    }
  }
  // Ranks store into one another's results only where all of them can.
  const bool reached = communicator == nullptr || !results.empty();
  if (largest(reached ? 0 : 1) > 0) results.clear();
  if (communicator != nullptr) result_memories_[key] = std::move(results);
}

bool World::reaches(const CommKey& key) const {
  const auto found = memories_.find(communicator_of(key));
  return found != memories_.end() && !found->second.empty();
}

std::byte* World::memory_of(const CommKey& key, int peer) const {
  const std::vector<void*>& addresses = memories_.at(communicator_of(key));
  return static_cast<std::byte*>(addresses.at(static_cast<std::size_t>(peer)));
}

bool World::reaches_results() const {
  return !result_memories_.empty() && std::ranges::none_of(result_memories_, [](const auto& each) {
    return each.second.empty();
  });
}

std::byte* World::results_of(const CommKey& key, int peer) const {
  const auto found = result_memories_.find(communicator_of(key));
  if (found == result_memories_.end() || found->second.empty()) return nullptr;
  return static_cast<std::byte*>(found->second.at(static_cast<std::size_t>(peer)));
}

std::uint32_t* World::flags_of(const CommKey& key, int peer) const {
  return reinterpret_cast<std::uint32_t*>(memory_of(key, peer) + capacity_);
}

kernels::RankBarrier World::barrier(const CommKey& key) const {
  kernels::RankBarrier barrier{.rank = rank_,
                               .ranks = key.ranks,
                               .plan = waits_.plan(),
                               .work = waits_.work(),
                               .control = waits_.control()};
  for (int rank = 0; rank < key.ranks; ++rank) {
    barrier.flags[static_cast<std::size_t>(rank)] =
        reinterpret_cast<kernels::RankFlags*>(flags_of(key, rank) + kCopyFlags);
  }
  return barrier;
}

kernels::RankBarrier World::alone() const {
  return {.ranks = 1,
          .plan = waits_.plan(),
          .control = waits_.control(),
          .flags = {static_cast<kernels::RankFlags*>(own_flags_.get())}};
}

void World::revive() {
  static_cast<void>(largest(0));  // no rank writes to the flags of another any more
  if (capacity_ > 0) {
    OVT_CHECK(cudaMemsetAsync(memory() + capacity_, 0, kFlagBytes, stream()));
  }
  OVT_CHECK(cudaMemsetAsync(own_flags_.get(), 0, sizeof(kernels::RankFlags), stream()));
  OVT_CHECK(cudaStreamSynchronize(stream()));
  waits_.revive();
  static_cast<void>(largest(0));
}

template <class Work>
void World::finish_work(Work work, const char* what) {
  const auto ended = [&] {
    if (auto reason = failure()) throw Failure(ErrorKind::machine_unavailable, *reason);
    return has_ended(work);
  };
  try {
    wait_until(ended, time_limit(), what);
  } catch (const Failure& failed) {
    end_.set(failed.what());
    throw;
  }
}

void World::finish(cudaStream_t stream, const char* what) {
  finish_work(stream, what);
}

void World::finish(cudaEvent_t event, const char* what) {
  finish_work(event, what);
}

void World::wait_for_ranks() {
  if (has_limit_) {
    finish(stream(), "what the ranks tell each other");
  } else {
    OVT_CHECK(cudaStreamSynchronize(stream()));
  }
}

// NCCL gives ranks that ask for different things any values at all, and no error. So the number of
// the request goes with the values.

void World::end_out_of_step() {
  end_.set(
      "a rank came with another request than the others: this world has ended, make another "
      "one");
  throw Failure(ErrorKind::machine_unavailable, *end_.reason());
}

std::vector<double> World::largest(std::span<const double> values) {
  auto* device = static_cast<double*>(scratch_.memory.get());
  auto* host = static_cast<double*>(scratch_.host.get());
  const std::size_t all = values.size() + 2;
  const std::size_t bytes = all * sizeof(double);
  if (bytes + 512 > kScratch) throw Failure(ErrorKind::bad_input, "too many values");
  const auto mark = static_cast<double>(++told_);
  double* const marks = std::ranges::copy(values, host).out;
  marks[0] = mark;
  marks[1] = -mark;
  OVT_CHECK(cudaMemcpyAsync(device, host, bytes, cudaMemcpyHostToDevice, stream()));
  OVT_CHECK(ncclAllReduce(device, device, all, ncclDouble, ncclMax, world_.get(), stream()));
  OVT_CHECK(cudaMemcpyAsync(host, device, bytes, cudaMemcpyDeviceToHost, stream()));
  wait_for_ranks();
  if (marks[0] != mark || marks[1] != -mark) end_out_of_step();
  return {host, marks};
}

double World::largest(double value) {
  return largest(std::span(&value, 1)).front();
}

void World::barrier(cudaStream_t stream) {
  // At an address above those that `largest` uses, because both may be in flight.
  auto* device = static_cast<std::byte*>(scratch_.memory.get()) + kScratch - 256;
  OVT_CHECK(ncclAllReduce(device, device, 1, ncclInt8, ncclMax, world_.get(), stream));
}

std::vector<std::byte> World::gathered(std::span<const std::byte> mine) {
  const std::size_t part = mine.size() + sizeof told_;
  const std::size_t all = part * static_cast<std::size_t>(ranks_);
  if (all + 512 > kScratch) throw Failure(ErrorKind::bad_input, "too much to gather");
  auto* device = static_cast<std::byte*>(scratch_.memory.get());
  auto* host = static_cast<std::byte*>(scratch_.host.get());
  ++told_;
  std::memcpy(std::ranges::copy(mine, host).out, &told_, sizeof told_);
  std::byte* slot = device + part * static_cast<std::size_t>(rank_);
  OVT_CHECK(cudaMemcpyAsync(slot, host, part, cudaMemcpyHostToDevice, stream()));
  OVT_CHECK(ncclAllGather(slot, device, part, ncclInt8, world_.get(), stream()));
  OVT_CHECK(cudaMemcpyAsync(host, device, all, cudaMemcpyDeviceToHost, stream()));
  wait_for_ranks();
  std::vector<std::byte> result;
  for (const std::byte* from = host; from != host + all; from += part) {
    if (std::memcmp(from + mine.size(), &told_, sizeof told_) != 0) end_out_of_step();
    result.insert(result.end(), from, from + mine.size());
  }
  return result;
}

}  // namespace overlaptune::run
