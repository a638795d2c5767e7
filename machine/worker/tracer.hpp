#pragma once
// Records the activities of this process's GPU: kernels, copies, memory sets.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/activity.hpp"
#include "machine/worker/cupti.hpp"

namespace overlaptune::cuda {

/// At most one exists in a process, and one thread uses it. While it exists CUPTI is attached,
/// which makes every launch a little slower: open it after the timing is done. The nodes of a graph
/// are only certain to be recorded if the graph was instantiated after `open`.
class Tracer {
 public:
  /// Error (`machine_unavailable`), with what can be done: no CUPTI, no driver, no permission,
  /// another profiler, or a tracer that is open already.
  static Expected<std::unique_ptr<Tracer>> open(
      const std::vector<std::string>& libraries = cupti_libraries());

  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// Starts recording; nothing may be running. Throws `Failure` (as `Cupti`). A second call begins
  /// anew.
  void start();

  /// The activities since `start` that have ended; synchronize before. Throws `Failure` (as
  /// `Cupti`). In either case recording has stopped afterwards.
  [[nodiscard]] std::vector<Activity> stop(int rank);

  /// The number of losses in the last `stop`: records without room or times, and buffers that could
  /// not be read to their end. Unless it is 0 the trace has holes.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  explicit Tracer(Cupti cupti);

  Cupti cupti_;
  std::size_t dropped_ = 0;
};

}  // namespace overlaptune::cuda
