#pragma once
// The generated GEMM that a tiled config needs on a GPU: its source, and the architecture that it
// is compiled for; and the list of those that are worth compiling ahead of time. Text and numbers
// only: no GPU, no CUDA.

#include <string>
#include <vector>

#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "kernels/compile/compile_all.hpp"

namespace overlaptune::kernels {

/// The kernel that is compiled for the launches of another one: it has room for a usual number of
/// regions, or for the most. Error (`bad_input`): more regions than any kernel has room for.
[[nodiscard]] Expected<TiledKernel> with_room(const TiledKernel& kernel);

/// The limits of the portable kernel on a GPU: where that is Hopper, those of a GPU without wgmma.
[[nodiscard]] const GpuLimits& portable_limits(int compute_capability);

enum class KernelFamily {
  best,      ///< the family made for the GPU
  portable,  ///< mma.sync, on any GPU since Ampere
};
/// Whether the kernel of a family is Hopper's on a GPU.
[[nodiscard]] bool is_hoppers(KernelFamily family, int compute_capability);

/// The architecture that kernels are compiled for on a GPU of this compute capability (10 * major +
/// minor). `sm_90a` has wgmma. From 10.0 on it is the first of the major number, whose code runs on
/// all of them, because an older NVRTC knows no other.
[[nodiscard]] std::string architecture_of(int compute_capability);

/// The job that compiles a kernel for a GPU. Error (`bad_input`): a tile that the family cannot
/// have; as `with_room`.
[[nodiscard]] Expected<CompileJob> job_of(const TiledKernel& kernel, int compute_capability,
                                          KernelFamily family = KernelFamily::best);

/// The kernels that are worth compiling ahead of time for GPUs of this architecture: for each dtype
/// a GEMM for each of the `default_tiles` that it can have, for launches of up to `kUsualRegions`
/// regions of C. The GEMM is Hopper's for `sm_90a`, and the one with mma.sync for any other
/// architecture from `sm_80` on.
[[nodiscard]] std::vector<KernelSource> kernels_of(const std::string& architecture);

}  // namespace overlaptune::kernels
