#pragma once
// A platform: the GPUs, links and software that a result holds for.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/config/fields.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The environment that a result holds for. Two results may be compared, and one may stand for the
/// other, only if their platforms have the same fingerprint.
struct Platform {
  std::string machine;    ///< "sim" or "cuda"; results from "sim" never answer for real GPUs
  std::string name;       ///< the simulator's profile, or a short name made of GPU and fabric
  std::string gpu_model;  ///< "NVIDIA H200"
  int gpu_count = 0;
  int sms = 0;                 ///< streaming multiprocessors of one GPU
  int compute_capability = 0;  ///< 10 * major + minor
  Bytes memory{};              ///< device memory of one GPU
  std::string driver_version;
  std::string cuda_version;
  std::string nccl_version;
  std::string topology;  ///< "NVSwitch", "PCIe", …
  /// The link that carries peer traffic, a name of core/link.hpp: "nvlink", "socket". Fingerprints,
  /// databases, JSON and the C interface name it "transport".
  std::string link;
  bool multicast_allowed = false;
  std::string
      details;  ///< anything else that tells platforms apart: a digest of the simulator's profile
  friend bool operator==(const Platform&, const Platform&) = default;
};

/// In a fixed order: fingerprints follow it. Databases, exports and reports have these names, too.
inline constexpr std::tuple kPlatformFields{
    Field{"machine", &Platform::machine},
    Field{"name", &Platform::name},
    Field{"gpu_model", &Platform::gpu_model},
    Field{"gpu_count", &Platform::gpu_count},
    Field{"sms", &Platform::sms},
    Field{"compute_capability", &Platform::compute_capability},
    Field{"memory_bytes", &Platform::memory},
    Field{"driver_version", &Platform::driver_version},
    Field{"cuda_version", &Platform::cuda_version},
    Field{"nccl_version", &Platform::nccl_version},
    Field{"topology", &Platform::topology},
    Field{"transport", &Platform::link},
    Field{"multicast_allowed", &Platform::multicast_allowed},
    Field{"details", &Platform::details}};

/// A field of a platform, as text.
struct PlatformField {
  std::string_view name;
  std::string value;
};

/// `kPlatformFields` of a platform. The fingerprint covers them.
[[nodiscard]] std::vector<PlatformField> fields(const Platform& platform);

/// 16 hexadecimal digits (FNV-1a of all fields); the same on every machine and in every version.
[[nodiscard]] std::string fingerprint(const Platform& platform);

/// "sim:h200-nvlink-x8": machine and name, as `--machine` takes it.
[[nodiscard]] std::string full_name(const Platform& platform);

/// Whether `text` names the platform: its full name, its fingerprint, or its name alone, which a
/// simulated machine may share with the GPUs that it simulates.
[[nodiscard]] bool is_named(const Platform& platform, std::string_view text);

[[nodiscard]] bool is_simulated(const Platform& platform);

/// The fields in which two platforms differ, as "driver_version: 570.1 here, 565.2 there".
[[nodiscard]] std::vector<std::string> differences(const Platform& here, const Platform& there);

/// Whether the platform has enough GPUs for the ranks of the problem, and each GPU enough memory
/// for its A, B and C.
/// Error: the field and what is allowed.
[[nodiscard]] Expected<void> fits(const Problem& problem, const Platform& platform);

}  // namespace overlaptune
