#pragma once
// Our own GEMM, whose tiles run in an order that we choose and say so when they are stored.

#include <map>
#include <memory>
#include <span>
#include <string>

#include "run/handles.hpp"
#include "run/own_form.hpp"

namespace overlaptune::run {

/// A kernel of ours for one tile, loaded on the current GPU.
class OwnGemm {
 public:
  /// How far the counter of a group goes up for each of its tiles.
  [[nodiscard]] int signals_a_tile() const { return form_->signals(); }

  /// `counters` (device memory, zero before) go up as tiles are stored; null: none do. Throws
  /// `Failure` (`bad_input`) for what the GPU cannot address.
  [[nodiscard]] OwnLaunch prepare(const TileOrder& order, const Crew& crew,
                                  const OwnOperands& operands, std::uint32_t* counters) const {
    return form_->prepare(order, crew, operands, counters);
  }

  /// No allocation on the GPU, no synchronization.
  void enqueue(cudaStream_t stream, const OwnLaunch& launch) const;

 private:
  friend class OwnLibrary;
  OwnGemm(std::unique_ptr<OwnForm> form, const std::string& cubin);

  std::unique_ptr<OwnForm> form_;
  Handle<cudaLibrary_t, &cudaLibraryUnload> library_{};
  cudaKernel_t kernel_ = nullptr;
};

enum class OwnFamily {
  best,      ///< that this GPU has
  portable,  ///< mma.sync, on any GPU since Ampere
};

/// Our kernels: compiled when they are first asked for, or taken from the cache on disk.
class OwnLibrary {
 public:
  explicit OwnLibrary(OwnFamily family = OwnFamily::best) : family_(family) {}

  /// Error: `bad_input` for a tile that cannot be, or a GPU that is neither Ampere, Ada nor Hopper;
  /// `machine_unavailable` where NVRTC is not there.
  [[nodiscard]] Expected<const OwnGemm*> gemm(const TiledKernel& kernel);

  /// Compiles what the cache lacks, several at once. Processes that share a cache share the work,
  /// too: each begins at another place (`part` of `parts`). What cannot be compiled is told by
  /// `gemm`.
  void compile(std::span<const TiledKernel> kernels, int part, int parts) const;

 private:
  struct Job;
  [[nodiscard]] Expected<Job> job_of(const TiledKernel& kernel) const;

  OwnFamily family_;
  std::map<TiledKernel, OwnGemm> gemms_{};  ///< by the regions that they were compiled for
};

}  // namespace overlaptune::run
