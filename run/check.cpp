#include "run/check.hpp"

#include <string_view>

#include <fmt/format.h>

#include "core/error.hpp"

namespace overlaptune::run {
namespace {

[[noreturn]] void fail(std::string_view call, std::string_view what, std::string_view file,
                       int line) {
  file.remove_prefix(file.find_last_of('/') + 1);
  throw Failure(ErrorKind::machine_unavailable,
                fmt::format("{}: {} ({}:{})", call.substr(0, call.find('(')), what, file, line));
}

}  // namespace

void check(cudaError_t code, const char* call, const char* file, int line) {
  if (code == cudaSuccess) return;
  fail(call, fmt::format("{}: {}", cudaGetErrorName(code), cudaGetErrorString(code)), file, line);
}

void check(ncclResult_t code, const char* call, const char* file, int line) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  fail(call, fmt::format("{}: {}", ncclGetErrorString(code), ncclGetLastError(nullptr)), file,
       line);
}

void check(cublasStatus_t code, const char* call, const char* file, int line) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  fail(call, cublasLtGetStatusString(code), file, line);
}

}  // namespace overlaptune::run
