#pragma once
// The last run of a world's plans on a stream that was not being captured. All plans use the same
// memory, so no two runs may meet on the GPU.

#include "run/handles.hpp"

namespace overlaptune::run {

class LastRun {
 public:
  /// Work that is enqueued on `stream` later begins after the last run. On the stream of that run
  /// nothing is enqueued.
  void order(cudaStream_t stream) const;

  /// The work that `stream` holds now is the last run.
  void note(cudaStream_t stream);

  /// Its end; null before the first run.
  [[nodiscard]] cudaEvent_t end() const { return end_.get(); }

 private:
  Event end_{};
  /// A number that no other stream of the process ever has, not even one at the same address.
  unsigned long long stream_ = 0;
};

}  // namespace overlaptune::run
