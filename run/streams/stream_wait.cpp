#include "run/streams/stream_wait.hpp"

#include <algorithm>
#include <cuda.h>

#include "core/base/error.hpp"
#include "kernels/wait.hpp"
#include "run/check.hpp"

namespace overlaptune::run {
namespace {

using WaitValue = CUresult (*)(CUstream, CUdeviceptr, cuuint32_t, unsigned);

using BatchOperations = CUresult (*)(CUstream, unsigned, CUstreamBatchMemOpParams*, unsigned);

/// A function of the driver, found through the runtime, so that the program starts where there is
/// no driver. Null where the driver lacks it.
template <class Entry>
Entry entry_point(const char* name) {
  void* entry = nullptr;
  cudaDriverEntryPointQueryResult found{};
  const cudaError_t code =
      cudaGetDriverEntryPointByVersion(name, &entry, 12000, cudaEnableDefault, &found);
  if (code != cudaSuccess || found != cudaDriverEntryPointSuccess) return nullptr;
  return reinterpret_cast<Entry>(entry);
}

WaitValue wait_value() {
  static const auto entry = entry_point<WaitValue>("cuStreamWaitValue32");
  return entry;
}

BatchOperations batch_operations() {
  static const auto entry = entry_point<BatchOperations>("cuStreamBatchMemOp");
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

void wait_for_signal(cudaStream_t stream, const kernels::RankBarrier& barrier, const Signal& signal,
                     Wait wait) {
  if (wait == Wait::driver && can_wait_for_value()) {
    return wait_for_value(stream, signal.counter, signal.value);
  }
  OVT_CHECK(kernels::wait_for_counter(stream, barrier, signal.counter, signal.value));
}

void MemoryOperations::wait(const std::uint32_t* address, std::uint32_t value) {
  operations_.push_back({.waits = true, .address = address, .value = value});
}

void MemoryOperations::write(std::uint32_t* address, std::uint32_t value) {
  operations_.push_back({.address = address, .value = value});
}

void MemoryOperations::enqueue(cudaStream_t stream) {
  constexpr std::size_t kMostAtOnce = 256;  // operations that the driver takes at once
  for (std::size_t begin = 0; begin < operations_.size(); begin += kMostAtOnce) {
    std::vector<CUstreamBatchMemOpParams> batch(std::min(kMostAtOnce, operations_.size() - begin));
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const Operation& operation = operations_[begin + i];
      const auto address = reinterpret_cast<CUdeviceptr>(operation.address);
      if (operation.waits) {
        batch[i].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
        batch[i].waitValue.address = address;
        batch[i].waitValue.value = operation.value;
        batch[i].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
      } else {
        batch[i].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
        batch[i].writeValue.address = address;
        batch[i].writeValue.value = operation.value;
        batch[i].writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
      }
    }
    const CUresult code =
        batch_operations() == nullptr
            ? CUDA_ERROR_NOT_SUPPORTED
            : batch_operations()(stream, static_cast<unsigned>(batch.size()), batch.data(), 0);
    if (code != CUDA_SUCCESS) {
      throw Failure(ErrorKind::machine_unavailable,
                    "cuStreamBatchMemOp: error " + std::to_string(code));
    }
  }
  operations_.clear();
}

}  // namespace overlaptune::run
