#pragma once
// The GPUs of this host, or of all hosts that a launcher started: one worker process a GPU.

#include "machine/cuda/launch/launch_environment.hpp"
#include "machine/cuda/limits.hpp"
#include "machine/cuda/worker_pool.hpp"
#include "machine/machine.hpp"

namespace overlaptune::cuda {

struct CudaOptions {
  std::string worker;  ///< the program
  int ranks = 0;       ///< without a launcher: workers to start
  LaunchEnvironment launch{};
  bool allow_multicast = false;
  std::uint64_t seed = 0;
  std::string fault{};  ///< to inject, as `RunRequest::fault`, once: where there is such a config
  Limits limits{};
  std::string version = program_version();
};

/// A config or probe that hangs or kills a worker costs itself only: all workers are started again
/// and the others go on. After three such failures with no success between, or when the workers
/// cannot be started again, the machine is lost (`machine_unavailable`).
class CudaMachine : public Machine {
 public:
  /// Starts the workers. `listener`: where they and the agents of other ranks come; opened here if
  /// there is none yet. Error: `machine_unavailable`, in the words of whoever failed.
  [[nodiscard]] static Expected<std::unique_ptr<CudaMachine>> open(
      const CudaOptions& options, std::optional<Listener> listener = std::nullopt);

  [[nodiscard]] const Platform& platform() const override { return platform_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] Expected<void> prepare(std::span<const TiledKernel> kernels) override;
  [[nodiscard]] Expected<Measurement> measure(const Probe& probe) override;
  [[nodiscard]] Expected<std::vector<RunResult>> run(const Problem& problem,
                                                     std::span<const Config> configs,
                                                     const RunOptions& options) override;

 private:
  class RunLoop;
  CudaMachine(CudaOptions options, std::unique_ptr<WorkerPool> pool, Platform platform);
  [[nodiscard]] Expected<void> recover();
  [[nodiscard]] std::string take_fault(std::size_t configs);
  [[nodiscard]] Expected<void> count_failure(const std::string& reason);
  [[nodiscard]] tl::unexpected<Error> lose(const std::string& reason);

  CudaOptions options_;
  std::unique_ptr<WorkerPool> pool_;
  Platform platform_;
  Capabilities capabilities_;
  int failures_ = 0;    ///< since the last success
  std::string lost_{};  ///< why the machine is lost; empty while it is not
};

}  // namespace overlaptune::cuda
