#pragma once
// The ranks of a run: their communicators, and the memory that NCCL may reach on all of them.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/config.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {

using Comm = Handle<ncclComm_t, &ncclCommAbort>;

/// `CommKey::ctas` of copies: what stays on a rank is moved by however many SMs are free.
inline constexpr int kAnySms = 0;

/// How a communicator is made. Beside a GEMM the collective's CTAs must find free SMs one by one:
/// such communicators use `ctas` CTAs exactly and no clusters (NCCL's default clusters of 4 need 4
/// free SMs in one GPC).
struct CommKey {
  int ranks = 0;
  int ctas = kNcclsChoice;  ///< which has clusters, too
  /// Its window is `World::memory`. Collectives on memory in a window take symmetric kernels, asked
  /// or not: what is not to take them needs a communicator without one.
  bool symmetric = false;
  /// For sends and receives alone: in NCCL 2.28 a captured collective that follows them on their
  /// communicator reads what is not there (NCCL issue 1859, mended in 2.29.2).
  bool pairwise = false;
  /// No collectives of NCCL's at all: copy engines write into the peers' `World::memory`, which its
  /// window maps, and `ctas` CTAs move what stays here (or `kAnySms`).
  bool copies = false;
  /// None either: `ctas` CTAs of ours load from the peers' `World::memory`.
  bool peers = false;
  /// Whether addresses of the peers' memory are needed.
  [[nodiscard]] bool maps_memory() const { return copies || peers; }
  friend auto operator<=>(const CommKey&, const CommKey&) = default;
};

/// What exchanges by copy engines run on beside the caller's stream.
struct CopyLanes {
  Stream copies = make_stream(Priority::high);
  Stream own = make_stream(Priority::high);
  Event forked = make_event(false);
  Event copied = make_event(false);
  Event moved = make_event(false);
};

/// All its functions but the plain getters are collective: every rank calls them in the same order.
class World {
 public:
  /// `id` as of `ncclGetUniqueId`.
  World(const ncclUniqueId& id, int rank, int ranks, bool allow_multicast);
  /// The ranks of somebody else's communicator, which is not used but to split another from it.
  /// Whether NCCL may use multicast is decided by then. What the ranks tell each other they wait
  /// for no longer than `kPatience`.
  explicit World(ncclComm_t parent);
  /// Instead, on a rank that makes no world: the others then throw `Failure` (`bad_input`).
  static void decline(ncclComm_t parent);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  /// Ends all communicators, and with them what waits for a rank that is lost.
  void abandon();

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int ranks() const { return ranks_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  /// The first `key.ranks` ranks; null on the others. Before it is used, `reserve` what it is to
  /// work on: growing that ends the windows, which the next call of `comm` makes again.
  [[nodiscard]] ncclComm_t comm(const CommKey& key);

  /// Memory that every rank allocates alike and that collectives may use: `bytes` are there when
  /// this returns. Growing it invalidates every pointer into it. Error: `bad_input`, on every rank,
  /// with what is needed and what is free on the rank that has least, or that some rank has not as
  /// much in one piece (then there is none left). `beside`: bytes that the caller is going to
  /// allocate itself.
  [[nodiscard]] Expected<void> reserve(std::size_t bytes, std::size_t beside = 0);
  /// The same with next to no byte to spare: for memory that is somebody else's. Error: as above.
  [[nodiscard]] Expected<void> reserve_no_more(std::size_t bytes);
  [[nodiscard]] std::byte* memory() const { return static_cast<std::byte*>(memory_.get()); }
  [[nodiscard]] std::size_t capacity() const { return capacity_; }
  /// Whether the memory of every rank of `key` can be reached from here, after `comm(key)`.
  [[nodiscard]] bool reaches(const CommKey& key) const;
  /// Where rank `peer` has its `memory()`, as addresses here, and behind that its `kFlags` flags,
  /// which are zero between exchanges (but for the counters of peers). Where `reaches(key)`.
  [[nodiscard]] std::byte* memory_of(const CommKey& key, int peer) const;
  [[nodiscard]] std::uint32_t* flags_of(const CommKey& key, int peer) const;
  static constexpr std::size_t kFlags = std::size_t{1} << 15;
  static constexpr std::size_t kCopyFlags = kFlags / 2;  ///< the first ones; then those of peers
  [[nodiscard]] const CopyLanes& copy_lanes() const { return copy_lanes_; }
  /// A zero in device memory.
  [[nodiscard]] const std::uint32_t* zero() const;

  /// The largest value of any rank, element by element.
  [[nodiscard]] std::vector<double> largest(std::span<const double> values);
  [[nodiscard]] double largest(double value);
  /// Every rank waits, on `stream`, for all others.
  void barrier(cudaStream_t stream);
  /// What each rank gave, `mine.size()` bytes a rank, in order.
  [[nodiscard]] std::vector<std::byte> gathered(std::span<const std::byte> mine);

  /// For what takes as long as it takes to compile kernels.
  static constexpr std::chrono::seconds kPatience{300};

 private:
  World(Comm comm, std::optional<std::chrono::seconds> patience);
  void wait_for_ranks() const;
  [[nodiscard]] std::size_t least_free();
  [[nodiscard]] Expected<void> allocate(std::size_t bytes);
  void release_memory();
  void register_window(const CommKey& key, ncclComm_t communicator);
  [[nodiscard]] std::vector<void*> mapped(const CommKey& key, ncclComm_t communicator,
                                          ncclWindow_t window) const;

  int rank_;
  int ranks_;
  std::optional<std::chrono::seconds>
      patience_;  ///< absent: somebody else ends a process that waits
  // Memory outlives the communicators that know it.
  NcclMemory memory_{};
  std::size_t capacity_ = 0;
  DeviceMemory scratch_;
  Stream stream_;
  Comm world_;
  std::map<CommKey, Comm> comms_{};
  std::map<CommKey, ncclWindow_t> windows_{};
  std::map<CommKey, std::vector<void*>> memories_{};  ///< of the peers, as mapped here
  CopyLanes copy_lanes_{};
};

}  // namespace overlaptune::run
