#pragma once
// The list of generated kernels: their sources, which are part of the program, and the macros of
// each.

#include <string>
#include <string_view>
#include <vector>

#include "kernels/compiler.hpp"

namespace overlaptune::kernels {

/// A file of kernels/device, without `.cu`.
struct EmbeddedSource {
  std::string_view name;
  std::string_view text;
};

[[nodiscard]] const std::vector<EmbeddedSource>& embedded_sources();

/// The text of kernels/device/NAME.cu. Throws `std::out_of_range` where there is none.
[[nodiscard]] std::string embedded_source(std::string_view name);

/// The architecture that kernels are compiled for on a GPU of this compute capability (10 * major +
/// minor). `sm_90a` has wgmma. From 10.0 on it is the first of the major number, whose code runs on
/// all of them, because an older NVRTC knows no other.
[[nodiscard]] std::string architecture_of(int compute_capability);

/// The kernels that are worth compiling ahead of time for GPUs of this architecture: for each dtype
/// a GEMM for each of the `default_tiles` that it can have, for launches of up to `kUsualRegions`
/// regions of C. The GEMM is Hopper's for `sm_90a`, and the one with mma.sync for any other
/// architecture from `sm_80` on.
[[nodiscard]] std::vector<KernelSource> kernels_of(const std::string& architecture);

}  // namespace overlaptune::kernels
