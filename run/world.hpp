#pragma once
// The ranks of a run: their communicators, and the memory that all of them may reach.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "kernels/meeting.hpp"
#include "run/handles.hpp"
#include "run/peer_memory.hpp"
#include "run/waits.hpp"

namespace overlaptune::run {

using Comm = Handle<ncclComm_t, &ncclCommAbort>;

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

/// The ranks of a run. All functions except the plain getters are collective: every rank calls them
/// in the same order.
class World {
 public:
  /// `id`: from `ncclGetUniqueId`.
  World(const ncclUniqueId& id, int rank, int ranks, bool allow_multicast);
  /// A world on the ranks of another program's communicator, from which it splits its own; it uses
  /// the parent for nothing else. Whether NCCL may use multicast is decided by then. A rank waits
  /// at most `kPatience` for values of the others.
  explicit World(ncclComm_t parent);
  /// A rank that makes no world calls this instead of the constructor above, which then throws
  /// `Failure` (`bad_input`) on the others.
  static void decline(ncclComm_t parent);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Ends all communicators, and with them all work that waits for a lost rank.
  void abandon();
  /// Call it before the destructor: no rank may free memory that another one still reaches. A rank
  /// waits at most `limit` for the others, twice. Throws `Failure` where one is lost.
  void part(std::chrono::seconds limit);

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  /// Whether two ranks have the same GPU. Then CUDA IPC maps the memory instead of NCCL's windows,
  /// and symmetric kernels are not there (`make_ready`).
  [[nodiscard]] bool shares_gpu() const { return ranks_per_gpu_ > 1; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  /// The communicator of the first `key.ranks` ranks; null on the others. Call `reserve` first for
  /// the memory that it will work on: growing the memory ends these communicators and their
  /// windows, and the next call makes them again.
  [[nodiscard]] ncclComm_t comm(const CommKey& key);

  /// Makes `memory()` at least `bytes` large. Every rank allocates the same size, and collectives
  /// may use the memory. Growing it invalidates every pointer into it. `beside`: bytes that the
  /// caller is going to allocate itself. Error (`bad_input`, on every rank), in one of two cases.
  /// Too little is free: the message says what is needed, and what is free on the rank that has
  /// least. Or a rank has no block of this size, or ranks that share a GPU cannot map it: then
  /// `memory()` is gone.
  [[nodiscard]] Expected<void> reserve(std::size_t bytes, std::size_t beside = 0);
  /// As `reserve`, but with next to no spare bytes: for a process whose GPU memory is another
  /// program's. It makes the communicators again that there were, so that plans which hold no
  /// address of `memory()` go on. Error: as `reserve`.
  [[nodiscard]] Expected<void> reserve_no_more(std::size_t bytes);
  /// A number that changes whenever `memory()` moves. The addresses of the peers' memory, and of
  /// the flags, then change too.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }
  [[nodiscard]] std::byte* memory() const { return memory_->memory(); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Whether this rank can reach the memory of every rank of `key`. Call `comm(key)` before.
  [[nodiscard]] bool reaches(const CommKey& key) const;
  /// The address on this GPU of rank `peer`'s `memory()`, and of its `kFlags` flags behind it:
  /// those of copy engines, which are zero between exchanges, then its `kernels::RankWords`. Both
  /// need `reaches(key)`.
  [[nodiscard]] std::byte* memory_of(const CommKey& key, int peer) const;
  [[nodiscard]] std::uint32_t* flags_of(const CommKey& key, int peer) const;
  static constexpr std::size_t kFlags = std::size_t{1} << 15;
  static constexpr std::size_t kCopyFlags = kFlags / 2;
  /// The ranks of the key, for kernels that meet or wait for them. It needs `reaches(key)`.
  [[nodiscard]] kernels::Meeting meeting(const CommKey& key) const;
  /// For kernels that wait for work of this rank only.
  [[nodiscard]] kernels::Meeting alone() const;
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

  /// Time limit of a wait for ranks that may have to compile kernels first.
  static constexpr std::chrono::seconds kPatience{300};

 private:
  World(Comm comm, std::optional<std::chrono::seconds> patience);
  void wait_for_ranks() const;
  [[nodiscard]] std::size_t least_free();
  [[nodiscard]] Expected<void> allocate(std::size_t bytes);
  void release_memory();
  void make_comms_again();
  void attach(const CommKey& key, ncclComm_t communicator);

  int rank_;
  int ranks_;
  /// Absent: no limit, because another process ends one that hangs.
  std::optional<std::chrono::seconds> patience_;
  // Declared before the communicators, so that the memory outlives them.
  std::unique_ptr<PeerMemory> memory_{};
  std::size_t capacity_ = 0;
  std::uint64_t generation_ = 0;
  DeviceMemory scratch_;
  DeviceMemory own_words_;  ///< `kernels::RankWords` that no peer reaches
  Stream stream_;
  Waits waits_{kPatience};
  Comm world_;
  std::map<CommKey, Comm> comms_{};
  std::set<CommKey> used_{};  ///< keys of all communicators that were ever made
  /// The addresses of the peers' memory, for each communicator that knows `memory()`; absent where
  /// it does not map them, or cannot.
  std::map<CommKey, std::vector<void*>> memories_{};
  int ranks_per_gpu_ = 1;  ///< on the GPU that has most
  CopyLanes copy_lanes_{};
};

}  // namespace overlaptune::run
