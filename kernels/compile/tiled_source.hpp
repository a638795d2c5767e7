#pragma once
// The generated GEMM that a tiled config needs on a GPU: its source, and the architecture that it
// is compiled for. Text and numbers only: no GPU, no CUDA.

#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "kernels/compile/compile_all.hpp"

namespace overlaptune::kernels {

/// The kernel that is compiled for the launches of another one: it has room for a usual number of
/// regions, or for the most. Error (`bad_input`): more regions than any kernel has room for.
[[nodiscard]] Expected<TiledKernel> with_room(const TiledKernel& kernel);

/// The limits of the portable kernel on a GPU: where that is Hopper, those of a GPU without wgmma.
[[nodiscard]] const GpuLimits& portable_limits(int compute_capability);

/// The source of a kernel of each family. Error (`bad_input`): a tile that the family cannot have.
[[nodiscard]] Expected<KernelSource> hopper_source(const TiledKernel& kernel);
[[nodiscard]] Expected<KernelSource> portable_source(const TiledKernel& kernel,
                                                     int compute_capability);

/// The job that compiles the best kernel for a GPU. Error: as above, and as `with_room`.
[[nodiscard]] Expected<CompileJob> job_of(const TiledKernel& kernel, int compute_capability);

}  // namespace overlaptune::kernels
