#include "run/stream_wait.hpp"

#include <cuda.h>

#include "core/error.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

/// By the runtime, so that the program starts where there is no driver.
WaitValue entry_point() {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t code = cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", &entry, 12000,
                                                            cudaEnableDefault, &found);
  if (code != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<WaitValue>(entry);
}

WaitValue wait_value() {
  static const WaitValue entry = entry_point();
  return entry;
}

}  // namespace

bool can_wait_for_value() {
  return wait_value() != nullptr;
}

void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value) {
  const CUresult code = can_wait_for_value()
                            ? wait_value()(stream, reinterpret_cast<CUdeviceptr>(address), value,
                                           CU_STREAM_WAIT_VALUE_GEQ)
                            : CUDA_ERROR_NOT_SUPPORTED;
  if (code != CUDA_SUCCESS) {
    throw Failure(ErrorKind::machine_unavailable,
                  "cuStreamWaitValue32: error " + std::to_string(code));
  }
}

}  // namespace overlaptune::run
