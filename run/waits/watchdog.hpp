#pragma once
// A thread that ends a world whose ranks cannot come any more. Kernels of the program end their own
// waits (kernels/device/waits.cuh); NCCL's kernels and the driver's waits do not.

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "run/streams/last_run.hpp"
#include "run/waits/last_words.hpp"
#include "run/waits/process.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// It looks a few times a second. It ends the world where the process of another rank has ended or
/// has ended its world, and where an eager run has begun on the GPU and has not ended within the
/// world's limit. Runs in CUDA graphs cannot be seen: there only the other ranks are looked at.
class Watchdog {
 public:
  struct Rank {
    Process process{};
    LastWords words{};  ///< empty for this rank
  };
  struct Watched {
    World& world;
    LastRun& last_run;
    int device = 0;
    LastWords own{};
    std::vector<Rank> ranks{};  ///< all ranks
  };
  /// `abandon` is called on the thread when the world has ended for any reason, until it returns
  /// true.
  Watchdog(Watched watched, std::function<bool()> abandon);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

 private:
  void watch();
  void look();
  void tell_others();
  [[nodiscard]] std::optional<std::string> end_of(std::size_t rank) const;
  [[nodiscard]] bool sleep();

  Watched watched_;
  std::function<bool()> abandon_;
  std::chrono::steady_clock::time_point begun_{};
  bool was_told_ = false;  ///< another rank has ended its world before
  std::uint64_t run_ = 0;  ///< the run that was seen to have begun at `begun_`; 0: none
  std::mutex mutex_{};
  std::condition_variable stopped_{};
  bool stops_ = false;
  std::thread thread_;
};

}  // namespace overlaptune::run
