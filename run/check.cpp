#include "run/check.hpp"

#include <string_view>

#include <fmt/format.h>

#include "core/error.hpp"

namespace overlaptune::run {
namespace {

[[noreturn]] void fail(std::string_view call, std::string_view what, std::source_location where) {
  std::string_view file = where.file_name();
  file.remove_prefix(file.find_last_of('/') + 1);
  throw Failure(
      ErrorKind::machine_unavailable,
      fmt::format("{}: {} ({}:{})", call.substr(0, call.find('(')), what, file, where.line()));
}

}  // namespace

void check(cudaError_t code, const char* call, std::source_location where) {
  if (code == cudaSuccess) return;
  fail(call, fmt::format("{}: {}", cudaGetErrorName(code), cudaGetErrorString(code)), where);
}

void check(ncclResult_t code, const char* call, std::source_location where) {
  if (code == ncclSuccess || code == ncclInProgress) return;
  fail(call, fmt::format("{}: {}", ncclGetErrorString(code), ncclGetLastError(nullptr)), where);
}

void check(cublasStatus_t code, const char* call, std::source_location where) {
  if (code == CUBLAS_STATUS_SUCCESS) return;
  fail(call, cublasLtGetStatusString(code), where);
}

}  // namespace overlaptune::run
