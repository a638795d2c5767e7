#pragma once
// The surroundings of timed runs in a phase (core/config/phase.hpp), on the GPU of this rank.

#include <memory>

#include "core/config/phase.hpp"
#include "machine/worker/workbench.hpp"

namespace overlaptune::cuda {

/// `cold`: ahead of each run, memory of twice the L2 cache is written, and then the GPU has a
/// pause. `beside`: while each run is timed, `kCopySms` CTAs copy memory of twice the L2 cache on a
/// stream of their own. The copy ends behind the run, or by itself after a tenth of a second.
class Surroundings {
 public:
  /// Collective. Error: `bad_input` where a GPU lacks the memory for it.
  [[nodiscard]] static Expected<std::unique_ptr<Surroundings>> make(Workbench& bench,
                                                                    RunPhase phase);

  /// Refers to this object.
  [[nodiscard]] Around around();

 private:
  explicit Surroundings(RunPhase phase) : phase_(phase) {}
  void begin_copy(cudaStream_t stream);
  void end_copy(cudaStream_t stream);

  RunPhase phase_;
  std::int64_t bytes_ = 0;  ///< of the memory that is written
  run::DeviceMemory written_{};
  run::DeviceMemory read_{};  ///< `beside` only, as all that follows
  run::DeviceMemory flag_{};  ///< not zero: the copy is to end
  run::Stream copies_{};
  run::Event begun_{};
  run::Event ended_{};
};

}  // namespace overlaptune::cuda
