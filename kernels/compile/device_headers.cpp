#include "kernels/compile/device_headers.hpp"

#include <fmt/format.h>

#include "kernels/compile/sha256.hpp"

namespace overlaptune::kernels {

std::string digest_of(std::span<const DeviceHeader> headers) {
  // Each part has its length before it, so that different parts never give the same text.
  std::string all;
  for (const DeviceHeader& header : headers) {
    for (const std::string_view part : {header.name, header.text}) {
      all += fmt::format("{} {}\n", part.size(), part);
    }
  }
  return sha256_digits(all);
}

}  // namespace overlaptune::kernels
