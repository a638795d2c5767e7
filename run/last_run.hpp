#pragma once
// The last run of a world's plans on a stream that was not being captured. All plans use the same
// memory, so no two runs may meet on the GPU.

#include <cstdint>
#include <mutex>
#include <optional>

#include "run/handles.hpp"

namespace overlaptune::run {

class LastRun {
 public:
  /// Work that is enqueued on `stream` later begins after the last run, and is the next one. On the
  /// stream of that run nothing is waited for.
  void begin(cudaStream_t stream);

  /// The work that `stream` holds now is the last run.
  void note(cudaStream_t stream);

  /// The number of the last run, if it has begun on the GPU and has not ended. Any thread may ask.
  [[nodiscard]] std::optional<std::uint64_t> under_way() const;

  /// Its end; null before the first run.
  [[nodiscard]] cudaEvent_t end() const { return end_.get(); }

 private:
  mutable std::mutex mutex_{};
  Event begin_{};
  Event end_{};
  std::uint64_t count_ = 0;
  bool noted_ = false;  ///< `end_` is that of the same run as `begin_`
  /// A number that no other stream of the process ever has, not even one at the same address.
  unsigned long long stream_ = 0;
};

}  // namespace overlaptune::run
