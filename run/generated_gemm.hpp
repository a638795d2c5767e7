#pragma once
// Generated GEMMs: kernels whose source this program has and compiles at run time. Their tiles run
// in an order that a plan chooses, and are counted as they are stored.

#include <map>
#include <memory>
#include <span>
#include <string>

#include "run/generated_kernel.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {

/// The kernel of one tile, loaded on the current GPU.
class GeneratedGemm {
 public:
  /// How far the counter of a group goes up for each of its tiles.
  [[nodiscard]] int signals_a_tile() const { return kernel_->signals(); }

  /// `counters` (device memory, zero before) go up as tiles are stored; null: none do. Throws
  /// `Failure` (`bad_input`) for what the GPU cannot address.
  [[nodiscard]] GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                        const GeneratedOperands& operands,
                                        std::uint32_t* counters) const {
    return kernel_->prepare(order, crew, operands, counters);
  }

  /// No allocation on the GPU, no synchronization.
  void enqueue(cudaStream_t stream, const GeneratedLaunch& launch) const;

 private:
  friend class GeneratedGemms;
  GeneratedGemm(std::unique_ptr<GeneratedKernel> kernel, const std::string& cubin);

  std::unique_ptr<GeneratedKernel> kernel_;
  Handle<cudaLibrary_t, &cudaLibraryUnload> library_{};
  cudaKernel_t handle_ = nullptr;
};

enum class KernelFamily {
  best,      ///< that this GPU has
  portable,  ///< mma.sync, on any GPU since Ampere
};

/// The kernels of all tiles: compiled when they are first asked for, or taken from the cache on
/// disk.
class GeneratedGemms {
 public:
  explicit GeneratedGemms(KernelFamily family = KernelFamily::best) : family_(family) {}

  /// Error: `bad_input` for a tile that cannot be, or a GPU that is neither Ampere, Ada nor Hopper;
  /// `machine_unavailable` where NVRTC is not there.
  [[nodiscard]] Expected<const GeneratedGemm*> gemm(const TiledKernel& kernel);

  /// Compiles what the cache lacks, several at once. Processes that share a cache share the work,
  /// too: each begins at another place (`part` of `parts`). What cannot be compiled is told by
  /// `gemm`.
  void compile(std::span<const TiledKernel> kernels, int part, int parts) const;

 private:
  struct Job;
  [[nodiscard]] Expected<Job> job_of(const TiledKernel& kernel) const;

  KernelFamily family_;
  std::map<TiledKernel, GeneratedGemm> gemms_{};  ///< by the regions that they were compiled for
};

}  // namespace overlaptune::run
