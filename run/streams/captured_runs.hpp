#pragma once
// The runs of plans that are captured, on one GPU. Branches of a graph may run at the same time, so
// a plan in another branch than the plan before it gets an edge from that plan's end.

#include <vector>

#include "run/check.hpp"

namespace overlaptune::run {

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
    cudaStream_t stream = nullptr;
    std::vector<cudaGraphNode_t> end{};  ///< the nodes behind which later work comes
    std::vector<cudaGraphEdgeData> edges{};
  };
  std::vector<Last> last_{};  ///< of the latest captures, the newest one at the end
};

}  // namespace overlaptune::run
