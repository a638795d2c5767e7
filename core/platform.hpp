#pragma once
// A platform: what a result holds for.

#include <cstdint>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/problem.hpp"
#include "core/units.hpp"

namespace overlaptune {

/// Two results may be compared, and one may stand for the other, only if their platforms have the
/// same fingerprint.
struct Platform {
  std::string machine;    ///< "sim" or "cuda"; what comes from "sim" never answers for real GPUs
  std::string name;       ///< the simulator's profile, or a short name made of GPU and fabric
  std::string gpu_model;  ///< "NVIDIA H200"
  int gpu_count = 0;
  int sms = 0;                 ///< streaming multiprocessors of one GPU
  int compute_capability = 0;  ///< 10 * major + minor
  Bytes memory{};              ///< device memory of one GPU
  std::string driver_version;
  std::string cuda_version;
  std::string nccl_version;
  std::string topology;   ///< "NVSwitch", "PCIe", …
  std::string transport;  ///< what carries peer traffic: "nvlink", "host_memory", "socket"
  bool multicast_allowed = false;
  std::string
      details;  ///< whatever else tells platforms apart: a digest of the simulator's profile
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// A field of a platform, as text.
struct PlatformField {
  std::string_view name;
  std::string value;
};

/// Every field in a fixed order: what the fingerprint covers, and what reports and databases print.
[[nodiscard]] std::vector<PlatformField> fields(const Platform& platform);

/// 16 hexadecimal digits (FNV-1a of all fields); the same on every machine and in every version.
[[nodiscard]] std::string fingerprint(const Platform& platform);

/// Fields in which two platforms differ: "driver_version: 570.1 here, 565.2 there".
[[nodiscard]] std::vector<std::string> differences(const Platform& here, const Platform& there);

/// Whether the platform has the ranks, and a GPU the memory, for A, B and C of the problem.
/// Error: the field and what is allowed.
[[nodiscard]] Expected<void> fits(const Problem& problem, const Platform& platform);

}  // namespace overlaptune
