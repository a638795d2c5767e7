#pragma once
// Waits of a stream on memory and writes to it, which no kernel and no copy engine takes part in.

#include <cstdint>
#include <cuda_runtime_api.h>
#include <span>
#include <vector>

#include "core/config.hpp"

namespace overlaptune::run {

/// Whether the driver and the GPU know how.
[[nodiscard]] bool can_wait_for_value();

/// What comes on the stream later starts once `*address` (device memory) is at least `value`
/// (within 2^31 of it: the driver compares as counters that wrap do). It may be captured. Throws
/// `Failure` where `can_wait_for_value` is false.
void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value);

/// What a GEMM of this GPU says: `*counter` (device memory) is at least `value`.
struct Signal {
  const std::uint32_t* counter = nullptr;
  std::uint32_t value = 0;
};

/// What comes on the stream later starts once the signal is there; who waits is the config's
/// choice, but a kernel always where the driver has no such wait.
void wait_for_signal(cudaStream_t stream, const Signal& signal, Wait wait);

/// Several waits by the driver, and writes, in the order in which they were added, as few pieces of
/// work.
class MemoryOperations {
 public:
  void wait(const std::uint32_t* address, std::uint32_t value);
  /// After all that is before it on the stream, copies to peers included, for them to see.
  void write(std::uint32_t* address, std::uint32_t value);
  /// And forgets them. Throws `Failure`.
  void enqueue(cudaStream_t stream);

 private:
  struct Operation {
    bool waits = false;
    const std::uint32_t* address = nullptr;
    std::uint32_t value = 0;
  };
  std::vector<Operation> operations_{};
};

}  // namespace overlaptune::run
