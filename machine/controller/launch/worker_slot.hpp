#pragma once
// The slot of one rank: it holds at most one worker at a time, which is a process of this host or
// one that an agent looks after (agent.hpp).

#include <optional>
#include <string>

#include "machine/controller/launch/process.hpp"
#include "machine/controller/wire/wire.hpp"

namespace overlaptune::cuda {

class WorkerSlot {
 public:
  virtual ~WorkerSlot() = default;
  WorkerSlot(const WorkerSlot&) = delete;
  WorkerSlot& operator=(const WorkerSlot&) = delete;

  /// Starts a worker, whose secret follows from the name of the start (`worker_secret`). Error
  /// (`machine_unavailable`): it cannot be started, its host is lost, or an earlier worker still
  /// runs.
  [[nodiscard]] virtual Expected<void> start(const std::string& name) = 0;
  /// How the worker ended; none while it runs, or if there is none. Never waits.
  [[nodiscard]] virtual std::optional<Ended> ended() = 0;
  /// The reason why no worker can be started here any more; none if one can.
  [[nodiscard]] virtual std::optional<std::string> lost() const = 0;
  /// Tells the worker, if one runs, to end at once. Never waits for it.
  virtual void kill() = 0;
  /// The process number of the worker until it is gone; none if there is no worker. Never waits.
  [[nodiscard]] virtual std::optional<int> running() = 0;
  [[nodiscard]] virtual const std::string& host() const = 0;

 protected:
  WorkerSlot() = default;
};

/// The arguments of a worker on this host.
struct WorkerCall {
  std::string program;
  std::string host;  ///< host of the controller
  int port = 0;
  int rank = 0;
  int local_rank = 0;
  std::string secret{};  ///< of the controller and its agents
  /// Variables beside those of this process.
  std::vector<std::pair<std::string, std::string>> environment{};
};

/// The secret of the workers of one start, which are told no other. Its name may be known.
[[nodiscard]] std::string worker_secret(const std::string& secret, const std::string& start);

[[nodiscard]] Expected<Process> start_worker(const WorkerCall& call, const std::string& start);

/// The error if an earlier worker, process `pid`, still runs.
[[nodiscard]] tl::unexpected<Error> still_runs(int pid);

/// "killed by signal 9", with its last words if it had some.
[[nodiscard]] std::string in_words(const Ended& ended);

/// The report on a process that ended.
[[nodiscard]] Ended ended_of(const Ending& ending, const Process& process);

class LocalSlot : public WorkerSlot {
 public:
  explicit LocalSlot(WorkerCall call);
  [[nodiscard]] Expected<void> start(const std::string& name) override;
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
