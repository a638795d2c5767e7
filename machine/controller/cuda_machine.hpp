#pragma once
// The GPUs of this host, or of all hosts that a launcher started: one worker process for each GPU.

#include "machine/controller/launch/launch_environment.hpp"
#include "machine/controller/limits.hpp"
#include "machine/controller/worker_pool.hpp"
#include "machine/machine.hpp"

namespace overlaptune::cuda {

struct CudaOptions {
  std::string worker;     ///< path of the worker program
  int ranks = 0;          ///< without a launcher: workers to start
  int ranks_per_gpu = 1;  ///< more: for tests; only without a launcher (core/gpu_sharing.hpp)
  LaunchEnvironment launch{};
  bool allow_multicast = false;
  std::uint64_t seed = 0;
  std::string fault{};  ///< fault to inject once, as `RunRequest::fault`, when its config is there
  Limits limits{};
  std::string version = program_version();
};

/// A config or probe that hangs or kills a worker does not affect the others: all workers are
/// started again, and the others go on. After three such failures without a success between them,
/// or when the workers cannot be started again, the machine is lost (`machine_unavailable`).
class CudaMachine : public Machine {
 public:
  /// Starts the workers. They and the agents of other ranks connect to `listener`; without one, a
  /// listener is opened. Error: `machine_unavailable`, with the message of the process that failed.
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
  [[nodiscard]] Expected<void> count_and_recover(const std::string& reason);
  [[nodiscard]] tl::unexpected<Error> lose(const std::string& reason);

  CudaOptions options_;
  std::unique_ptr<WorkerPool> pool_;
  Platform platform_;
  Capabilities capabilities_;
  int failures_ = 0;    ///< since the last success
  std::string lost_{};  ///< why the machine is lost; empty while it is not
};

}  // namespace overlaptune::cuda
