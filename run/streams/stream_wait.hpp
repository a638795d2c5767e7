#pragma once
// Waits and writes of a stream on memory. The driver does them, without a kernel or a copy engine.

#include <cstdint>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <vector>

#include "core/config/config.hpp"
#include "kernels/rank_barrier.hpp"

namespace overlaptune::run {

/// Whether the driver has a wait on memory.
[[nodiscard]] bool can_wait_for_value();

/// Work that is enqueued on the stream later starts once `*address` (device memory) is at least
/// `value`. The driver compares them as counters that wrap, so they must be within 2^31 of each
/// other. The wait may be captured. Throws `Failure` where `can_wait_for_value` is false.
void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value);

/// A signal of a GEMM on this GPU. It has come when `*counter` (device memory) is at least `value`.
struct Signal {
  const std::uint32_t* counter = nullptr;
  std::uint32_t value = 0;
};

/// Work that is enqueued on the stream later starts once the signal has come. `wait`, from the
/// config, says whether the driver or a kernel waits; where the driver has no such wait, a kernel
/// does. The driver's wait has no time limit; but the GEMM waits for nobody.
void wait_for_signal(cudaStream_t stream, const kernels::RankBarrier& barrier, const Signal& signal,
                     Wait wait);

/// A list of waits and writes, which the driver does in the order in which they were added. They
/// are enqueued as few pieces of work.
class MemoryOperations {
 public:
  void wait(const std::uint32_t* address, std::uint32_t value);
  /// The write comes after all earlier work on the stream, copies to peers included, and the peers
  /// can see it.
  void write(std::uint32_t* address, std::uint32_t value);
  /// Enqueues all operations and empties the list. Throws `Failure` where the driver refuses.
  void enqueue(cudaStream_t stream);

 private:
  std::vector<CUstreamBatchMemOpParams> operations_{};
};

}  // namespace overlaptune::run
