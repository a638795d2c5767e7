#pragma once
// The ranks of a run: their communicators, and the memory that all of them may reach.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "core/config/config.hpp"
#include "kernels/rank_barrier.hpp"
#include "run/handles.hpp"
#include "run/memory/peer_memory.hpp"
#include "run/memory/result_memory.hpp"
#include "run/options.hpp"
#include "run/waits/abandoned.hpp"
#include "run/waits/waits.hpp"
#include "run/waits/world_end.hpp"

namespace overlaptune::run {

/// Value of `CommKey::ctas` with copy engines: the part that stays on a rank is moved by as many
/// SMs as are free.
inline constexpr int kAnySms = 0;

/// The key of a communicator. Beside a GEMM the CTAs of a collective must find free SMs one by one,
/// so such a communicator uses exactly `ctas` CTAs and no clusters. (NCCL's default clusters of 4
/// need 4 free SMs in one GPC.)
struct CommKey {
  int ranks = 0;
  int ctas = kNcclsChoice;  ///< with `kNcclsChoice`, NCCL also uses clusters
  /// Whether `World::memory` is a window of the communicator. NCCL uses symmetric kernels for every
  /// collective on memory in a window, so collectives that must not use them need a communicator
  /// without one.
  bool symmetric = false;
  /// Whether the communicator is for sends and receives only. In NCCL 2.28 a captured collective
  /// that follows them on the same communicator reads data that is not there (NCCL issue 1859,
  /// fixed in 2.29.2).
  bool pairwise = false;
  /// Exchanges by copy engines instead of NCCL's collectives. They write into the peers'
  /// `World::memory`; `ctas` CTAs (or `kAnySms`) move the part that stays on this rank.
  bool copies = false;
  /// Exchanges by an overlaptune kernel instead of NCCL's collectives. Its `ctas` CTAs load from
  /// the peers' `World::memory`.
  bool peers = false;
  /// Whether addresses of the peers' memory are needed.
  [[nodiscard]] bool maps_memory() const { return copies || peers; }
  friend auto operator<=>(const CommKey&, const CommKey&) = default;
};

/// The streams and events of exchanges by copy engines, beside the caller's stream.
struct CopyLanes {
  Stream copies = make_stream(Priority::high);
  Stream own = make_stream(Priority::high);
  Event forked = make_event(false);
  Event copied = make_event(false);
  Event moved = make_event(false);
};

/// The ranks of a run. All functions are collective (every rank calls them in the same order),
/// except the plain getters, `finish` and those that end the world.
class World {
 public:
  /// The parts of a world that are this rank's alone, and by which ranks tell each other values. To
  /// make them throws `Failure` where memory is short.
  struct Scratch {
    DeviceMemory memory;
    HostMemory host;  ///< as large: the values on their way
    Stream stream;
    [[nodiscard]] static Scratch make();
  };

  /// `id`: from `ncclGetUniqueId`. The ranks wait for each other's values without a limit, because
  /// another process ends one that hangs.
  World(const ncclUniqueId& id, int rank, int ranks, const WorldOptions& options);
  /// A world on the ranks of another program's communicator, from which it splits its own; it uses
  /// the parent for nothing else. Whether NCCL may use multicast is decided by then. All ranks give
  /// the same options.
  World(ncclComm_t parent, const WorldOptions& options, Scratch scratch);
  /// A rank that makes no world calls this instead of the constructor above, which then throws
  /// `Failure` (`bad_input`) on the others.
  static void decline(ncclComm_t parent, std::chrono::milliseconds limit);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] const WorldOptions& options() const { return options_; }

  /// Ends the communicators and frees the memory, when no rank reaches the memory of another one
  /// any more. No CUDA graph may hold work of this world: NCCL would wait for it. Throws `Failure`
  /// where a rank does not come. Afterwards, as after `abandon`.
  void close();
  /// Ends all waits of this world, without the other ranks. Any thread may call it. Then `failure`
  /// gives the reason, and somebody calls `abandon`.
  void end(std::string reason);
  /// How long `abandon` waits, unless it is told otherwise.
  static constexpr std::chrono::milliseconds kEnd{10'000};
  /// Ends all communicators, and with them all work that waits for a lost rank. The world's memory
  /// is given back when this work has ended, which may be after this call: it returns after
  /// `limit`. Nothing else may use the world meanwhile; afterwards, only the plain getters and the
  /// destructor.
  /// `keeps_memory`: CUDA graphs may still be replayed, whose kernels have its addresses; then it
  /// is never given back, and stays mapped.
  void abandon(bool keeps_memory = false, std::chrono::milliseconds limit = kEnd) noexcept;
  /// The reason why nothing can run on this world any more. Any thread may ask.
  [[nodiscard]] std::optional<std::string> failure() const;
  /// Whether `close` has ended it, on all ranks. Any thread may ask.
  [[nodiscard]] bool is_closed() const { return is_closed_.load(); }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Whether two ranks have the same GPU.
  [[nodiscard]] bool shares_gpu() const { return ranks_per_gpu_ > 1; }
  /// The way to the peers' memory. The world has not ended.
  [[nodiscard]] const PeerMemory& peer_memory() const { return *memory_; }
  [[nodiscard]] cudaStream_t stream() const { return scratch_.stream.get(); }

  /// The communicator of the first `key.ranks` ranks; null on the others. Call `reserve` first for
  /// the memory that it will work on: growing the memory ends these communicators and their
  /// windows, and the next call makes them again.
  [[nodiscard]] ncclComm_t comm(const CommKey& key);

  /// Whether the communicator of this key was made, and reaches what it has to. Not collective.
  [[nodiscard]] bool has(const CommKey& key) const;

  /// Makes `memory()` at least `bytes` large. Every rank allocates the same size, and collectives
  /// may use the memory. Growing it invalidates every pointer into it. `beside`: bytes that the
  /// caller is going to allocate itself. Error (`bad_input`, on every rank), in one of two cases.
  /// Too little is free: the message says what is needed, and what is free on the rank that has
  /// least. Or a rank has no block of this size, or ranks that share a GPU cannot map it: then
  /// `memory()` is gone.
  [[nodiscard]] Expected<void> reserve(std::size_t bytes, std::size_t beside = 0);
  /// Makes `memory()` at least `bytes` large, with next to no spare bytes: for a process whose GPU
  /// memory is another program's. Makes the communicators again that there were, so that plans
  /// which hold no address of `memory()` go on. Error: that of `reserve`.
  [[nodiscard]] Expected<void> reserve_no_more(std::size_t bytes);
  /// A number that changes whenever `memory()` moves. The addresses of the peers' memory, and of
  /// the flags, then change too.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  /// Null where the world has none.
  [[nodiscard]] std::byte* memory() const { return memory_ ? memory_->memory() : nullptr; }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Memory for results, as many bytes as the options say; null where there is no room. It is
  /// allocated with `memory()`, but does not move with it, and outlives the world.
  [[nodiscard]] const std::shared_ptr<ResultMemory>& results() const { return results_; }
  /// Whether all ranks reach one another's results, by each communicator that maps memory.
  [[nodiscard]] bool reaches_results() const;
  /// The address on this GPU of rank `peer`'s results; null where they cannot be reached. It
  /// needs `reaches(key)`.
  [[nodiscard]] std::byte* results_of(const CommKey& key, int peer) const;
  /// Whether this rank can reach the memory of every rank of `key`. Call `comm(key)` before.
  [[nodiscard]] bool reaches(const CommKey& key) const;
  /// The address on this GPU of rank `peer`'s `memory()`, and of its `kFlags` flags behind it:
  /// those of copy engines, which are zero between exchanges, then its `kernels::RankFlags`. Both
  /// need `reaches(key)`.
  [[nodiscard]] std::byte* memory_of(const CommKey& key, int peer) const;
  [[nodiscard]] std::uint32_t* flags_of(const CommKey& key, int peer) const;
  static constexpr std::size_t kFlags = std::size_t{1} << 15;
  static constexpr std::size_t kCopyFlags = kFlags / 2;
  /// The ranks of the key, for kernels that have a barrier with them or wait for them. It needs
  /// `reaches(key)`.
  [[nodiscard]] kernels::RankBarrier barrier(const CommKey& key) const;
  /// For kernels that wait for work of this rank only.
  [[nodiscard]] kernels::RankBarrier alone() const;
  /// The waits of all kernels of this world.
  [[nodiscard]] Waits& waits() { return waits_; }
  [[nodiscard]] const Waits& waits() const { return waits_; }
  /// Makes waits wait again after they have ended, and lowers all flags. Collective; on every rank
  /// all work of the world has ended.
  void revive();
  [[nodiscard]] const CopyLanes& copy_lanes() const { return copy_lanes_; }
  /// A zero in device memory.
  [[nodiscard]] const std::uint32_t* zero() const;

  /// The largest value of any rank, element by element.
  [[nodiscard]] std::vector<double> largest(std::span<const double> values);
  [[nodiscard]] double largest(double value);
  /// Every rank waits, on `stream`, for all others.
  void barrier(cudaStream_t stream);
  /// The bytes `mine` of every rank, in the order of the ranks. Every rank gives the same number of
  /// bytes.
  [[nodiscard]] std::vector<std::byte> gathered(std::span<const std::byte> mine);
  /// The value `mine` of every rank, in the order of the ranks.
  template <class Value>
  [[nodiscard]] std::vector<Value> told_by_all(const Value& mine) {
    static_assert(std::is_trivially_copyable_v<Value>);
    const std::vector<std::byte> bytes = gathered(std::as_bytes(std::span(&mine, 1)));
    std::vector<Value> all(bytes.size() / sizeof mine);
    std::memcpy(all.data(), bytes.data(), bytes.size());
    return all;
  }

  /// Waits until all work on a stream, or before an event, has ended, at most `time_limit()`.
  /// Throws `Failure` where it has not, where the GPU has an error, or where `end` is called
  /// meanwhile; then `failure` has the reason. `what`: the name of the awaited work, for the
  /// message.
  void finish(cudaStream_t stream, const char* what);
  void finish(cudaEvent_t event, const char* what);
  /// The limit of the host's waits for ranks.
  [[nodiscard]] std::chrono::milliseconds time_limit() const {
    return std::max(options_.time_limit, least_limit_);
  }

  /// Least limit of a wait for ranks that compile kernels first, whatever `options()` say: some ten
  /// seconds with an empty cache, and more on a busy host.
  static constexpr std::chrono::milliseconds kCompilation{300'000};
  /// While it lives, ranks wait so long for each other.
  class Compilation {
   public:
    explicit Compilation(World& world) : world_(world) { world_.least_limit_ = kCompilation; }
    ~Compilation() { world_.least_limit_ = {}; }
    Compilation(const Compilation&) = delete;
    Compilation& operator=(const Compilation&) = delete;

   private:
    World& world_;
  };

 private:
  World(Comm comm, const WorldOptions& options, Scratch scratch, bool has_limit);
  void wait_for_ranks();
  [[noreturn]] void end_out_of_step();
  template <class Work>
  void finish_work(Work work, const char* what);
  [[nodiscard]] std::size_t least_free();
  [[nodiscard]] Expected<void> allocate(std::size_t bytes);
  void allocate_results();
  void release_memory();
  void attach(const CommKey& key, ncclComm_t communicator);

  int rank_;
  int ranks_;
  WorldOptions options_;
  bool has_limit_;          ///< of waits for values of the other ranks
  std::uint64_t told_ = 0;  ///< times that the ranks told each other values
  std::chrono::milliseconds least_limit_{};
  WorldEnd end_{};
  std::atomic<bool> is_closed_ = false;
  // Declared before the communicators, so that the memory outlives them.
  std::unique_ptr<PeerMemory> memory_{};
  std::unique_ptr<PeerMemory> result_memory_{};
  std::shared_ptr<ResultMemory> results_{};
  std::shared_ptr<std::shared_ptr<void>> result_keeper_{};  ///< of the memory of `results_`
  std::size_t capacity_ = 0;
  std::uint64_t generation_ = 0;
  Scratch scratch_;
  DeviceMemory own_flags_;  ///< `kernels::RankFlags` that no peer reaches
  Waits waits_;
  Comm world_;
  std::map<CommKey, Comm> comms_{};
  std::set<CommKey> used_{};  ///< keys of all communicators that were ever made
  /// The addresses of the peers' memory, for each communicator that knows `memory()`; absent where
  /// it does not map them, or cannot.
  std::map<CommKey, std::vector<void*>> memories_{};
  std::map<CommKey, std::vector<void*>> result_memories_{};  ///< likewise
  int ranks_per_gpu_ = 1;                                    ///< on the GPU that has most
  CopyLanes copy_lanes_{};
};

}  // namespace overlaptune::run
