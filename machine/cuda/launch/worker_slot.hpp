#pragma once
// The slot of one rank: it holds at most one worker at a time, which is a process of this host or
// one that an agent looks after (agent.hpp).

#include <optional>
#include <string>

#include "machine/cuda/launch/process.hpp"
#include "machine/cuda/wire/wire.hpp"

namespace overlaptune::cuda {

class WorkerSlot {
 public:
  virtual ~WorkerSlot() = default;
  WorkerSlot(const WorkerSlot&) = delete;
  WorkerSlot& operator=(const WorkerSlot&) = delete;

  /// Error (`machine_unavailable`): it cannot be started, its host is lost, or an earlier one still
  /// runs.
  [[nodiscard]] virtual Expected<void> start(const std::string& token) = 0;
  /// How the worker ended; none while it runs or where there is none. Never waits.
  [[nodiscard]] virtual std::optional<Ended> ended() = 0;
  /// Why no worker can be started here any more; none while one can.
  [[nodiscard]] virtual std::optional<std::string> lost() const = 0;
  /// Tells the worker, if one runs, to end at once. Never waits for it.
  virtual void kill() = 0;
  /// The number of the worker's process while it is not gone; none where there is none. Never
  /// waits.
  [[nodiscard]] virtual std::optional<int> running() = 0;
  [[nodiscard]] virtual const std::string& host() const = 0;

 protected:
  WorkerSlot() = default;
};

/// What it takes to run a worker on this host.
struct WorkerCall {
  std::string program;
  std::string host;  ///< of the controller
  int port = 0;
  int rank = 0;
  int local_rank = 0;
};

[[nodiscard]] Expected<Process> start_worker(const WorkerCall& call, const std::string& token);

/// Why no worker can be started beside the one that still runs.
[[nodiscard]] Error still_runs(int pid);

/// Of a process that ended.
[[nodiscard]] Ended ended_of(const Ending& ending, const Process& process);

class LocalSlot : public WorkerSlot {
 public:
  explicit LocalSlot(WorkerCall call);
  [[nodiscard]] Expected<void> start(const std::string& token) override;
  [[nodiscard]] std::optional<Ended> ended() override;
  [[nodiscard]] std::optional<std::string> lost() const override { return std::nullopt; }
  void kill() override;
  [[nodiscard]] std::optional<int> running() override;
  [[nodiscard]] const std::string& host() const override { return host_; }

 private:
  WorkerCall call_;
  std::string host_;
  std::optional<Process> process_{};
};

}  // namespace overlaptune::cuda
