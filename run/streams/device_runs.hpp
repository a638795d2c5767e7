#pragma once
// The runs of all worlds of this process on one GPU. Two plans that fill the GPU and wait for ranks
// may not meet there: one could hold all SMs on one rank, and the other one on another.

#include <mutex>

#include "run/streams/captured_runs.hpp"
#include "run/streams/last_run.hpp"

namespace overlaptune::run {

class DeviceRuns {
 public:
  /// Those of a GPU; they live as long as the process.
  [[nodiscard]] static DeviceRuns& of(int device);

  /// The run that is enqueued while it lives comes behind the runs before it, of any world and on
  /// any stream; in a capture, behind the runs before it of that capture. Threads take turns.
  class Next {
   public:
    Next(DeviceRuns& runs, cudaStream_t stream);
    /// Notes the run: all that is enqueued by now, or where that failed a part of it.
    ~Next();
    Next(const Next&) = delete;
    Next& operator=(const Next&) = delete;

   private:
    DeviceRuns& runs_;
    std::lock_guard<std::mutex> lock_;
    cudaStream_t stream_;
    unsigned long long capture_;
  };

 private:
  std::mutex mutex_{};
  LastRun last_{};
  CapturedRuns captured_{};
};

}  // namespace overlaptune::run
