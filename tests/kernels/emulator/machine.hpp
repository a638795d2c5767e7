#pragma once
// Runs device texts with threads of the host: CTAs with shared memory, mbarriers, clusters, and
// room for so many clusters at a time. It finds barriers that are used wrongly and threads that
// wait for ever. It knows nothing of caches, proxies and the order of memory.
//
// A warp of the first warpgroup has kLanes threads here, and a consumer has kOfConsumer: the others
// would do as the last of these does.

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

namespace emulator {

constexpr int kLanes = 4;
constexpr int kWarps = 4;  // of the first warpgroup
constexpr int kOfConsumer = 2;

/// Content of a stage or a subtile: the place of a tile, and a step of k.
struct Tag {
  int block = -1;
  int row = -1;
  int column = -1;
  int step = -1;
  friend bool operator==(const Tag&, const Tag&) = default;
};

struct Mbarrier {
  unsigned count = 0;    // arrivals of a phase
  unsigned pending = 0;  // arrivals still to come
  long bytes = 0;        // of copies, still to come
  unsigned phase = 0;
};

/// A barrier of threads.
struct Meeting {
  int here = 0;
  unsigned turn = 0;
};

struct Cta {
  unsigned number = 0;  // among those of all ranks
  int cluster = 1;      // CTAs
  int running = 0;      // threads
  std::vector<char> memory;
  std::map<unsigned, Mbarrier> barriers;
  std::map<unsigned, Tag> loaded;
  Meeting all;
  std::array<Meeting, kWarps> warps{};
  std::array<Meeting, 3> consumers{};
  std::array<std::array<int, kLanes>, kWarps> values{};  // that lanes hand each other
};

struct Dim {
  unsigned x = 0;
};
inline thread_local Dim thread_idx;
inline thread_local Dim block_idx;
inline thread_local Dim grid_dim;
inline thread_local Cta* cta = nullptr;
inline thread_local Tag multiplied;  // by a consumer: its tile, up to which step
inline thread_local std::mt19937 random_number;
inline thread_local bool is_slow = false;  // far behind the others

/// Ends a thread of a run that has failed.
struct Stopped {};

/// The state of a run. One lock guards all of it.
class Machine {
 public:
  static constexpr unsigned kMemory = 1U << 20U;  // more than a CTA has

  Machine(int ctas, int consumers);

  /// Runs a kernel as CTAs `first`, `first` + 1, ... in clusters, `room` of them at a time. It
  /// returns when all have ended.
  void launch(int first, int ctas, int cluster, int room, const std::function<void()>& kernel);

  /// Notes a fault, and ends all threads where they wait next.
  void fail(const std::string& what);
  [[nodiscard]] std::string faults();

  [[nodiscard]] char* at(unsigned address) {
    return ctas_[address / kMemory]->memory.data() + address % kMemory;
  }
  [[nodiscard]] static unsigned address_of(const void* pointer) {
    return cta->number * kMemory +
           static_cast<unsigned>(static_cast<const char*>(pointer) - cta->memory.data());
  }

  void init(unsigned barrier, unsigned count);
  void arrive(unsigned barrier);
  void expect(unsigned barrier, unsigned bytes);
  void complete(unsigned barrier, unsigned bytes);
  void wait(unsigned barrier, unsigned phase);

  void meet(Meeting& meeting, int threads);
  void meet_in_cta() { meet(cta->all, threads_); }
  void meet_in_warp();
  void meet_in_consumer();
  void meet_in_cluster();
  [[nodiscard]] int from_lane(int value, int lane);

  void note_load(unsigned address, const Tag& tag);
  [[nodiscard]] Tag loaded_at(unsigned address);

  /// Looks at a word of memory again, later.
  void look_again();
  /// Sleeps or yields, or neither. A slow thread sleeps each time.
  void jitter();
  /// Counts that something went on; while nothing does for some seconds, the run has failed.
  void went_on() { ++progress_; }

 private:
  // With the lock:
  void note(const std::string& fault);
  Mbarrier& barrier_at(unsigned address);
  void settle(Mbarrier& barrier);
  template <class Done>
  void block(std::unique_lock<std::mutex>& lock, const Done& done, const char* what);

  int threads_;  // of a CTA
  std::vector<std::unique_ptr<Cta>> ctas_;
  std::map<unsigned, Meeting> clusters_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::atomic<bool> stopped_{false};
  std::atomic<long> progress_{0};
  std::string faults_;
};

/// Calls `work` with 0 to `count` - 1, each in a thread that begins some milliseconds earlier or
/// later than the others.
void at_different_times(int count, const std::function<void(int)>& work);

/// The machine of the run that is under way.
inline Machine* machine = nullptr;

}  // namespace emulator
