#pragma once
// Generated GEMMs: kernels whose source is part of the program, which compiles them at run time. A
// plan chooses the order of their tiles, and counters rise as tiles are stored.

#include <map>
#include <memory>
#include <span>
#include <string>

#include "core/base/error.hpp"
#include "kernels/compile/tiled_source.hpp"
#include "kernels/gate.hpp"
#include "run/gemm/generated_kernel.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {

/// The generated GEMM of one tile shape, loaded on the current GPU.
class GeneratedGemm {
 public:
  /// The increase of a wave group's counter for each of its tiles.
  [[nodiscard]] int signals_a_tile() const { return kernel_->signals(); }

  /// Makes a launch ready. `counters`: one for each wave group, in device memory, zero before the
  /// launch; they rise as tiles are stored. Null: nothing is counted. Throws `Failure`
  /// (`bad_input`): the GPU cannot address the operands, there are too many segments, or no CTA of
  /// the crew would stay.
  [[nodiscard]] GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                        const GeneratedOperands& operands,
                                        std::uint32_t* counters) const {
    return kernel_->prepare(order, crew, operands, counters);
  }

  /// Enqueues the launch: no allocation on the GPU, no synchronization.
  void enqueue(cudaStream_t stream, const GeneratedLaunch& launch,
               kernels::Before before = kernels::Before::work) const;

 private:
  friend class GeneratedGemms;
  GeneratedGemm(std::unique_ptr<GeneratedKernel> kernel, const kernels::Cubin& cubin,
                int compute_capability);

  std::unique_ptr<GeneratedKernel> kernel_;
  Handle<cudaLibrary_t, &cudaLibraryUnload> library_{};
  cudaKernel_t handle_ = nullptr;
  bool starts_early_;  ///< a launch can start before the one before has ended: since Hopper
};

using kernels::KernelFamily;

/// The generated GEMMs of all tile shapes. A kernel is compiled when it is first needed, or taken
/// from the cache on disk.
class GeneratedGemms {
 public:
  explicit GeneratedGemms(KernelFamily family = KernelFamily::best) : family_(family) {}

  /// Error: `bad_input` for a tile or a number of regions that no kernel can have, or on a GPU
  /// before Ampere; `machine_unavailable` where NVRTC is missing.
  [[nodiscard]] Expected<const GeneratedGemm*> gemm(const TiledKernel& kernel);

  /// Compiles the kernels that the cache lacks, several at once. Processes that share a cache share
  /// the work: process `part` of `parts` begins at its own place in the list. A kernel that cannot
  /// be compiled is an error of `gemm`, not of this call.
  void compile(std::span<const TiledKernel> kernels, int part, int parts) const;

 private:
  [[nodiscard]] Expected<kernels::CompileJob> job_of(const TiledKernel& kernel) const;

  KernelFamily family_;
  std::map<TiledKernel, GeneratedGemm> gemms_{};  ///< by the regions that each was compiled for
};

}  // namespace overlaptune::run
