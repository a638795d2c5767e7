#pragma once
// The list of generated kernels.

#include <string>
#include <vector>

#include "kernels/compile/compiler.hpp"

namespace overlaptune::kernels {

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
