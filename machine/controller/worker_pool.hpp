#pragma once
// The workers of all ranks. They are started, asked and ended together.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/controller/launch/rendezvous.hpp"
#include "machine/controller/launch/worker_slot.hpp"
#include "machine/controller/wire/wire.hpp"

namespace overlaptune::cuda {

struct PoolOptions {
  std::string version = program_version();
  std::string secret{};  ///< of the controller and its agents; those of workers follow from it
  bool allow_multicast = false;
  std::chrono::milliseconds start_limit{60'000};      ///< until all have said hello
  std::chrono::milliseconds join_limit{120'000};      ///< until the communicator is made
  std::chrono::milliseconds kill_limit = kKillLimit;  ///< until all killed workers are gone
};

/// Why an answer did not come.
struct Loss {
  enum class How {
    hung,    ///< no message within the limit
    failed,  ///< the worker reported an error, and ended
    died,    ///< the worker ended without a message
    killed,  ///< ended by SIGKILL (the system was short of memory, an administrator), or with its
             ///< host
  };
  How how = How::failed;
  int rank = 0;
  std::string reason;                           ///< one line that names the rank and its host
  std::vector<std::optional<RunStep>> steps{};  ///< the last step that each rank reported
};

/// Time-out for the next message of a rank: at first (null), and after each step.
using StepLimit = std::function<std::chrono::milliseconds(const RunStep*)>;

class WorkerPool {
 public:
  WorkerPool(Rendezvous rendezvous, std::vector<std::unique_ptr<WorkerSlot>> slots,
             PoolOptions options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Ends the workers that run and starts all workers: hello, unique id, join.
  /// Error (`machine_unavailable`): the rank, its host, and the worker's message. Or the process
  /// that does not end; no worker is started beside it.
  [[nodiscard]] Expected<void> start();

  /// Asks every rank, and returns one answer of each (never a `RunStep`). Error: the rank at fault,
  /// as far as its messages and its end show it. The pool must then be started again.
  [[nodiscard]] tl::expected<std::vector<Reply>, Loss> ask(const Command& command,
                                                           const StepLimit& limit);

  /// Ends all workers at once, and waits until they are gone. A second call without a start in
  /// between waits no longer than the first one's limit. Error (`machine_unavailable`): the ranks
  /// and processes that do not end.
  Expected<void> kill();

  [[nodiscard]] int size() const { return static_cast<int>(slots_.size()); }
  /// The hellos of the workers that run now, by rank.
  [[nodiscard]] const std::vector<Hello>& hellos() const { return hellos_; }

 private:
  [[nodiscard]] Expected<void> start_all(const std::string& start);
  [[nodiscard]] Expected<void> await_hellos(const std::string& secret);
  [[nodiscard]] Expected<void> admit(Rendezvous::Arrival arrival);
  [[nodiscard]] Expected<void> join();
  [[nodiscard]] Expected<void> check_ended();
  [[nodiscard]] std::string place(std::size_t rank) const;

  Rendezvous rendezvous_;
  std::vector<std::unique_ptr<WorkerSlot>> slots_;
  PoolOptions options_;
  std::vector<std::optional<Connection>> connections_;  ///< by rank
  std::vector<Hello> hellos_;
  std::optional<Deadline> gone_by_{};  ///< set when the workers are killed
};

}  // namespace overlaptune::cuda
