#pragma once
// Runs device texts with threads of the host (threads.hpp): CTAs with shared memory, mbarriers,
// clusters, and room for so many clusters at a time. It finds barriers that are used wrongly and
// threads that wait for ever. It knows nothing of caches, proxies and the order of memory.
//
// A warp of the first warpgroup has kLanes threads here, and a consumer has kOfConsumer: the others
// would do as the last of these does.

#include <array>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/kernels/emulator/threads.hpp"

namespace emulator {

constexpr int kLanes = 4;
constexpr int kWarps = 4;  // of the first warpgroup
constexpr int kOfConsumer = 2;

struct Mbarrier {
  unsigned count = 0;    // arrivals of a phase
  unsigned pending = 0;  // arrivals still to come
  long bytes = 0;        // of copies, still to come
  unsigned phase = 0;
  Threads::Waiting waiting;
};

/// A barrier of threads.
struct Meeting {
  int here = 0;
  unsigned turn = 0;
  Threads::Waiting waiting;
};

/// A bulk store that a thread has begun. It reads what it stores, and is in memory, as late as the
/// thread's waits allow.
struct LateStore {
  char* to = nullptr;
  unsigned from = 0;
  unsigned bytes = 0;
  std::vector<char> read{};
  // Of a store by a tensor map, in place of the bytes:
  std::function<void()> reads{};
  std::function<void()> arrives{};
};

struct Cta {
  unsigned number = 0;  // among those of all ranks
  int cluster = 1;      // CTAs
  int running = 0;      // threads
  std::vector<char> memory;
  std::map<unsigned, Mbarrier> barriers;
  std::map<unsigned, Tag> loaded;
  /// Groups of bulk stores of each thread; the last one is open.
  std::map<unsigned, std::vector<std::vector<LateStore>>> stores;
  Meeting all;
  std::array<Meeting, kWarps> warps{};
  std::array<Meeting, 3> consumers{};
  std::array<std::array<int, kLanes>, kWarps> values{};  // that lanes hand each other
};

/// The state of a run.
class Machine {
 public:
  static constexpr unsigned kMemory = 1U << 20U;  // more than a CTA has

  /// Who goes on when is drawn from `seed`.
  Machine(int ctas, int consumers, unsigned seed);

  /// Calls `work` with 0 to `count` - 1, each in a thread that begins earlier or later than the
  /// others. It returns when these threads, and those that they began, have ended.
  void at_different_times(int count, const std::function<void(int)>& work);

  /// Runs CTAs `first`, `first` + 1, ... in clusters, `room` of them at a time. A thread calls it;
  /// it returns when all have ended.
  void launch(int first, int ctas, int cluster, int room, const std::function<void()>& kernel);

  /// Notes a fault, and ends all threads where they wait next.
  void fail(const std::string& what);
  [[nodiscard]] const std::string& faults() const { return faults_; }

  [[nodiscard]] char* at(unsigned address) {
    return ctas_[address / kMemory]->memory.data() + address % kMemory;
  }
  [[nodiscard]] static unsigned address_of(const void* pointer) {
    return own.cta->number * kMemory +
           static_cast<unsigned>(static_cast<const char*>(pointer) - own.cta->memory.data());
  }

  void init(unsigned barrier, unsigned count);
  void arrive(unsigned barrier);
  void expect(unsigned barrier, unsigned bytes);
  void complete(unsigned barrier, unsigned bytes);
  void wait(unsigned barrier, unsigned phase);

  void meet(Meeting& meeting, int threads);
  void meet_in_cta() { meet(own.cta->all, threads_of_cta_); }
  void meet_in_warp();
  void meet_in_consumer();
  void meet_in_cluster();
  [[nodiscard]] int from_lane(int value, int lane);

  void note_load(unsigned address, const Tag& tag);
  [[nodiscard]] Tag loaded_at(unsigned address);

  /// Another thread may go on.
  void jitter();
  /// Counts that something went on; where nothing does for long, the run has failed.
  void went_on() { pauses_ = 0; }

 private:
  Mbarrier& barrier_at(unsigned address);
  void settle(Mbarrier& barrier);

  int threads_of_cta_;
  Threads threads_;
  std::vector<std::unique_ptr<Cta>> ctas_;
  std::map<unsigned, Meeting> clusters_;
  long pauses_ = 0;  // since something went on
  std::string faults_;
};

/// Called before a word is added to.
inline std::function<void(const unsigned*)> on_add = [](const unsigned*) {};

/// The machine of the run that is under way.
inline Machine* machine = nullptr;

}  // namespace emulator
