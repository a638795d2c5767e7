#pragma once
// Turns the error codes of CUDA, NCCL and cuBLASLt into `Failure`s that name the call and the
// place.

#include <cublasLt.h>
#include <cuda_runtime_api.h>
#include <nccl.h>
namespace overlaptune::run {

/// Throws `Failure` unless the code means success: `out_of_memory` where memory is short, else
/// `machine_unavailable`. CUDA's last error is cleared, so that nobody takes it for the error of a
/// later call. After most errors of CUDA, other than `out_of_memory`, the process cannot use the
/// GPU any more: a caller that catches the failure should end the process.
void check(cudaError_t code, const char* call, const char* file, int line);
void check(ncclResult_t code, const char* call, const char* file, int line);
void check(cublasStatus_t code, const char* call, const char* file, int line);

}  // namespace overlaptune::run

/// `OVT_CHECK(cudaMalloc(&p, n));`
#define OVT_CHECK(call) ::overlaptune::run::check((call), #call, __FILE__, __LINE__)
