#pragma once
// The backend of a worker on a GPU.

#include <memory>

#include "machine/worker/backend.hpp"
#include "machine/worker/test_problem.hpp"

namespace overlaptune::cuda {

class GpuBackend : public Backend {
 public:
  /// Takes GPU number `device` of this host. Throws `Failure` if there is none.
  explicit GpuBackend(int device);

  [[nodiscard]] Device device() override;
  [[nodiscard]] std::string unique_id() override;
  void join(const JoinRequest& request, int rank) override;
  void prepare(const PrepareRequest& request) override;
  [[nodiscard]] Expected<Samples> measure(const Probe& probe) override;
  [[nodiscard]] Expected<RunReply> run(const RunRequest& request,
                                       const std::function<void(const RunStep&)>& at) override;

 private:
  [[nodiscard]] Workbench& bench();

  int device_;
  run::Nvml nvml_;
  std::unique_ptr<Workbench> bench_{};
  std::unique_ptr<TestProblem> test_problem_{};  ///< the last one, until its memory is taken
};

}  // namespace overlaptune::cuda
