#pragma once
// The headers of generated kernels, which are part of the program: NVRTC gets them in memory.

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace overlaptune::kernels {

/// A file below kernels/device, by the name by which others include it.
struct DeviceHeader {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] const std::vector<DeviceHeader>& device_headers();

/// The SHA-256 of all names and texts, in hexadecimal digits.
[[nodiscard]] std::string digest_of(std::span<const DeviceHeader> headers);

}  // namespace overlaptune::kernels
