#pragma once
// The built program as a launcher starts it: once for each rank, over fake workers.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "tests/cli/tool.hpp"

namespace overlaptune::cuda {

using Environment = std::map<std::string, std::string>;

/// The environment that torchrun gives the processes of a job on one host.
[[nodiscard]] Environment torchrun_rank(int rank, int size, int port);
/// The environment that srun gives the processes of a step of the Slurm job `job`.
[[nodiscard]] Environment srun_rank(int rank, int size, int job);

/// A port that nobody listens on.
[[nodiscard]] int free_port();

/// Each rank has a folder of its own, and finds as many GPUs as there are ranks.
class Job {
 public:
  Job(int size, std::function<Environment(int rank)> environment);

  /// Starts these ranks, the last one first.
  void start(const std::string& command_line, const std::vector<int>& ranks);
  /// The outcomes of the ranks that were started, by rank; the status of the others is 0.
  [[nodiscard]] std::vector<tool::Outcome> wait();
  /// Starts all, and waits for them.
  [[nodiscard]] std::vector<tool::Outcome> run(const std::string& command_line);

  [[nodiscard]] const tool::Folder& folder(int rank) const {
    return *folders_.at(static_cast<std::size_t>(rank));
  }
  /// Whether all processes of the job end soon, with those that they started.
  [[nodiscard]] bool leaves_nothing() const;

 private:
  std::function<Environment(int rank)> environment_;
  std::string name_;  ///< a name that all its processes have in their environment
  std::vector<std::unique_ptr<tool::Folder>> folders_{};
  std::map<int, std::unique_ptr<tool::Process>> processes_{};
};

}  // namespace overlaptune::cuda
