#pragma once
// The runs of a world's plans on streams that were not being captured. All plans use the same
// memory, so no two runs may meet on the GPU.

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

#include "run/handles.hpp"

namespace overlaptune::run {

/// One thread at a time begins and notes runs.
class LastRun {
 public:
  /// Work that is enqueued on `stream` later begins after the last run, and is the next one. On the
  /// stream of that run nothing is waited for.
  void begin(cudaStream_t stream);

  /// The work that `stream` holds now is the last run.
  void note(cudaStream_t stream);

  /// The number of the run that has begun on the GPU and has not ended. Any thread may ask.
  [[nodiscard]] std::optional<std::uint64_t> under_way();

  /// The end of the last run; null before the first one.
  [[nodiscard]] cudaEvent_t end() const;

 private:
  struct Run {
    Event begin = make_event(false);
    Event end = make_event(false);
    std::uint64_t number = 0;
    bool noted = false;  ///< `end` is recorded
  };
  void forget_ended();

  mutable std::mutex mutex_{};
  std::deque<Run> runs_{};  ///< those that have not ended, as far as known, and the last one
  std::vector<Run> spare_{};
  std::uint64_t count_ = 0;
  unsigned long long stream_ = 0;  ///< the number of the last run's stream
};

}  // namespace overlaptune::run
