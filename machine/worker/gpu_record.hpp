#pragma once
// The records of a profiler on one GPU, and how they become activities. This file is the same for
// every profiler.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/activity.hpp"

namespace overlaptune::cuda {

enum class RecordType { kernel, copy, set };

struct GpuRecord {
  RecordType type = RecordType::kernel;
  std::string name{};        ///< a kernel's name as the profiler has it, mangled or not
  std::uint64_t stream = 0;  ///< any number that distinguishes streams
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;  ///< before `start_ns`, or 0, if it could not be timed
};

/// The function of a kernel: its name demangled, with its template arguments, without return type
/// and parameters.
[[nodiscard]] std::string function_name(std::string_view kernel);

/// The kind of a record. For a kernel it follows from the name of its function alone: template
/// arguments and parameters name types of other libraries (a GEMM with a parameter of NCCL's is
/// still a GEMM). A kernel that waits for a flag, and a memory set, are signals.
[[nodiscard]] ActivityKind classify(const GpuRecord& record);

/// The activities, sorted by start. Times count from the first start; streams are numbered from 0
/// in the order in which they appear. Records that could not be timed are left out.
[[nodiscard]] std::vector<Activity> activities_of(std::vector<GpuRecord> records, int rank);

}  // namespace overlaptune::cuda
