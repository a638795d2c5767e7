#include "run/check.hpp"

#include <string_view>

#include <fmt/format.h>

#include "core/base/error.hpp"

namespace overlaptune::run {
namespace {

[[noreturn]] void fail(bool memory_is_short, std::string_view call, std::string_view what,
                       std::string_view file, int line) {
  static_cast<void>(cudaGetLastError());
  file.remove_prefix(file.find_last_of('/') + 1);
  throw Failure(memory_is_short ? ErrorKind::out_of_memory : ErrorKind::machine_unavailable,
                fmt::format("{}: {} ({}:{})", call.substr(0, call.find('(')), what, file, line));
}

/// NCCL has no code for short memory. Its last message is then CUDA's text.
bool memory_is_short(ncclResult_t code, std::string_view message) {
  return code == ncclUnhandledCudaError && message.find("out of memory") != message.npos;
}

}  // namespace

void check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  fail(code == cudaErrorMemoryAllocation, call,
       fmt::format("{}: {}", cudaGetErrorName(code), cudaGetErrorString(code)), file, line);
}

void check(ncclResult_t code, const char* call, const char* file, int line) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  const char* const message = ncclGetLastError(nullptr);
  fail(memory_is_short(code, message), call,
       fmt::format("{}: {}", ncclGetErrorString(code), message), file, line);
}

void check(cublasStatus_t code, const char* call, const char* file, int line) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  fail(code == CUBLAS_STATUS_ALLOC_FAILED, call, cublasLtGetStatusString(code), file, line);
}

}  // namespace overlaptune::run
