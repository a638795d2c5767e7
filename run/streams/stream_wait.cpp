#include "run/streams/stream_wait.hpp"

#include <algorithm>
#include <span>
#include <string>

#include "core/base/error.hpp"
#include "kernels/gate.hpp"
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
  auto& wait = operations_.emplace_back().waitValue;
  wait.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  wait.address = reinterpret_cast<CUdeviceptr>(address);
  wait.value = value;
  wait.flags = CU_STREAM_WAIT_VALUE_GEQ;
}

void MemoryOperations::write(std::uint32_t* address, std::uint32_t value) {
  auto& write = operations_.emplace_back().writeValue;
  write.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  write.address = reinterpret_cast<CUdeviceptr>(address);
  write.value = value;
  write.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
}

void MemoryOperations::enqueue(cudaStream_t stream) {
  constexpr std::size_t kMostAtOnce = 256;  // operations that the driver takes at once
  for (std::span rest(operations_); !rest.empty();) {
    const auto batch = rest.first(std::min(kMostAtOnce, rest.size()));
    const CUresult code =
        batch_operations() == nullptr
            ? CUDA_ERROR_NOT_SUPPORTED
            : batch_operations()(stream, static_cast<unsigned>(batch.size()), batch.data(), 0);
    if (code != CUDA_SUCCESS) {
      throw Failure(ErrorKind::machine_unavailable,
                    "cuStreamBatchMemOp: error " + std::to_string(code));
    }
    rest = rest.subspan(batch.size());
  }
  operations_.clear();
}

}  // namespace overlaptune::run
