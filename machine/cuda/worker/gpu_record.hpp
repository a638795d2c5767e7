#pragma once
// What a profiler saw on one GPU, and how it becomes activities. Knows no profiler.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"

namespace overlaptune::cuda {

enum class RecordType { kernel, copy, set };

struct GpuRecord {
  RecordType type = RecordType::kernel;
  std::string name{};        ///< of a kernel as the profiler tells it, mangled or not
  std::uint64_t stream = 0;  ///< any number that tells streams apart
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  ///< before `start_ns`, or 0: it could not be timed
};

/// The function that a kernel's name names: demangled, without return type and parameters, and
/// with its template arguments.
[[nodiscard]] std::string function_name(std::string_view kernel);

/// Kernels by the name of their function alone: arguments and parameters name types of other
/// libraries (a GEMM that takes NCCL's windows is still a GEMM). Who waits for a flag or sets
/// memory signals.
[[nodiscard]] ActivityKind classify(const GpuRecord& record);

/// In the order of their starts, times from the first one's start, streams renumbered from 0 in the
/// order in which they appear. Records that could not be timed are left out.
[[nodiscard]] std::vector<Activity> activities_of(std::vector<GpuRecord> records, int rank);

}  // namespace overlaptune::cuda
