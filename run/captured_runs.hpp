#pragma once
// The runs of plans that are captured, on one GPU. Branches of a graph may run at the same time, so
// a plan in another branch than the plan before it gets an edge from that plan's end.

#include <vector>

#include "run/handles.hpp"

namespace overlaptune::run {

/// A number that no other stream of the process ever has, not even one at the same address.
[[nodiscard]] unsigned long long number_of(cudaStream_t stream);

/// One thread at a time begins and notes runs. Graphs that are launched on several streams are
/// ordered by the caller: their launches are not seen here.
class CapturedRuns {
 public:
  /// The number of the capture that `stream` takes part in; 0 if it is not being captured.
  [[nodiscard]] static unsigned long long capture_of(cudaStream_t stream);

  /// Work that is captured on `stream` later comes behind the last run of the same capture. On the
  /// stream of that run this is so without an edge.
  void begin(unsigned long long capture, cudaStream_t stream);

  /// The work that `stream` has captured by now is the last run of this capture.
  void note(unsigned long long capture, cudaStream_t stream);

 private:
  struct Last {
    unsigned long long capture = 0;
    unsigned long long stream = 0;
    Event end = make_event(false);
  };
  std::vector<Last> last_{};  ///< of the latest captures, the newest one at the end
};

}  // namespace overlaptune::run
