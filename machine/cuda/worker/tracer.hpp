#pragma once
// Records what the GPU of this process does: kernels, copies, memory sets.

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/activity.hpp"
#include "machine/cuda/worker/cupti.hpp"

namespace overlaptune::cuda {

/// At most one in a process, used by one thread. While it is there CUPTI is attached, which costs a
/// little on every launch: open it after the timing is done. Nodes of a graph are certain to be
/// seen if the graph was instantiated after `open`.
class Tracer {
 public:
  /// Error (`machine_unavailable`): no CUPTI, no driver, no permission, another profiler, or a
  /// tracer that is open already; with what can be done.
  static Expected<std::unique_ptr<Tracer>> open(
      const std::vector<std::string>& libraries = cupti_libraries());

  ~Tracer();
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  /// From now on everything is recorded. Nothing may be running. Throws `Failure` (as `Cupti`); a
  /// second call begins anew.
  void start();

  /// All that was recorded since `start` and has ended: synchronize before. Throws `Failure` (as
  /// `Cupti`); nothing is recorded afterwards either way.
  [[nodiscard]] std::vector<Activity> stop(int rank);

  /// What the last `stop` could not tell: records that had no room or no times, and one for each
  /// buffer that could not be read to its end. Unless it is 0 the trace has holes.
  [[nodiscard]] std::size_t dropped() const { return dropped_; }

 private:
  explicit Tracer(Cupti cupti);

  Cupti cupti_;
  std::size_t dropped_ = 0;
};

}  // namespace overlaptune::cuda
