#pragma once
// Launches of the kernels that nvcc compiles. A launch returns its own status. That of `<<<>>>` is
// in `cudaGetLastError`, where it cannot be told from an earlier error of another call.

#include <cstddef>
#include <cuda_runtime.h>
#include <utility>

namespace overlaptune::kernels {

struct Grid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;  ///< dynamic shared memory of a block
  /// An SM changes the size of its shared memory only while it is idle: a GEMM that needs all of it
  /// would begin later where this kernel ran or runs.
  bool beside_gemms = false;
};

/// Enqueues a kernel. The arguments are converted to the kernel's parameters. An error is returned
/// and not left behind as CUDA's last error.
template <class... Parameters, class... Arguments>
[[nodiscard]] cudaError_t launch(cudaStream_t stream, const Grid& grid,
                                 void (*kernel)(Parameters...), Arguments&&... arguments) {
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = stream;
  cudaLaunchAttribute attribute{};
  if (grid.beside_gemms) {
    attribute.id = cudaLaunchAttributePreferredSharedMemoryCarveout;
    attribute.val.sharedMemCarveout = cudaSharedmemCarveoutMaxShared;
    config.attrs = &attribute;
    config.numAttrs = 1;
  }
  const cudaError_t status =
      cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...);
  if (status != cudaSuccess) static_cast<void>(cudaGetLastError());
  return status;
}

}  // namespace overlaptune::kernels
