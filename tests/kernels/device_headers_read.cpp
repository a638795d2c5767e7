// Headers of generated kernels as C++20, for clang-tidy, which knows no CUDA: one kernel of each
// kind is compiled for the host, with functions of emulator/kernels/device/ptx in the place of
// inline PTX. Nothing here runs.

#include "kernels/device/ampere_gemm.cuh"
#include "kernels/device/hopper_gemm.cuh"

namespace overlaptune::kernels::device {

constexpr HopperTile kHopperTile{.block_m = 128,
                                 .block_n = 256,
                                 .multiplied = 256,
                                 .stages = 4,
                                 .cluster = 1,
                                 .consumers = 2,
                                 .ping_pong = false,
                                 .buffers = 2,
                                 .operand = Element::bf16,
                                 .result = Element::bf16};
constexpr HopperTile kTileOfCluster{.block_m = 192,
                                    .block_n = 192,
                                    .multiplied = 192,
                                    .stages = 3,
                                    .cluster = 2,
                                    .consumers = 3,
                                    .ping_pong = false,
                                    .buffers = 1,
                                    .operand = Element::e4m3,
                                    .result = Element::fp16};
constexpr HopperTile kExactTile{.block_m = 128,
                                .block_n = 128,
                                .multiplied = 128,
                                .stages = 4,
                                .cluster = 1,
                                .consumers = 2,
                                .ping_pong = false,
                                .buffers = 2,
                                .operand = Element::e4m3,
                                .result = Element::bf16,
                                .exact = true};
constexpr AmpereTile kAmpereTile{.block_m = 128,
                                 .block_n = 128,
                                 .stages = 3,
                                 .warps_m = 2,
                                 .warps_n = 4,
                                 .subtile = 32,
                                 .element = Element::bf16};

/// A compiler makes a kernel whose address is taken.
template <class Kernel>
const void* address_of(Kernel* kernel) {
  return reinterpret_cast<const void*>(kernel);
}
extern const void* const kKernels[];
const void* const kKernels[]{address_of(hopper_gemm<kHopperTile, RowsThere, IntoC<16>>),
                             address_of(hopper_gemm<kExactTile, RowsThere, IntoC<16>>),
                             address_of(hopper_gemm<kHopperTile, Rows<16>, IntoC<1>>),
                             address_of(hopper_gemm<kTileOfCluster, Rows<16>, IntoC<1>>),
                             address_of(hopper_gemm<kHopperTile, RowsThere, AtRanks<2, 16>>),
                             address_of(hopper_gemm<kTileOfCluster, RowsThere, AtRanks<3, 16>>),
                             address_of(ampere_gemm<kAmpereTile, 16>)};

}  // namespace overlaptune::kernels::device
