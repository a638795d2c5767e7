#pragma once
// The workers of all ranks: started together, asked together, ended together.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "machine/cuda/launch/rendezvous.hpp"
#include "machine/cuda/launch/worker_slot.hpp"
#include "machine/cuda/wire/wire.hpp"

namespace overlaptune::cuda {

struct PoolOptions {
  std::string version = program_version();
  bool allow_multicast = false;
  std::chrono::milliseconds start_limit{60'000};      ///< until all said hello
  std::chrono::milliseconds join_limit{120'000};      ///< until the communicator stands
  std::chrono::milliseconds kill_limit = kKillLimit;  ///< until all that were killed are gone
};

/// Why an answer did not come.
struct Loss {
  enum class How {
    hung,    ///< no word within the limit
    failed,  ///< the worker said what went wrong, and ended
    died,    ///< the worker ended without a word
    killed,  ///< by SIGKILL (the system was short of memory, an administrator), or with its host
  };
  How how = How::failed;
  int rank = 0;
  std::string reason;                           ///< one line that names the rank and its host
  std::vector<std::optional<RunStep>> steps{};  ///< the last one that each rank told
};

/// How long the next word of a rank may take: at first (none), and after each step.
using StepLimit = std::function<std::chrono::milliseconds(const RunStep*)>;

class WorkerPool {
 public:
  WorkerPool(Rendezvous rendezvous, std::vector<std::unique_ptr<WorkerSlot>> slots,
             PoolOptions options);
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Ends what runs and starts all workers anew: hello, unique id, join.
  /// Error (`machine_unavailable`): the rank, its host, and the worker's own words; or the process
  /// that does not go, beside which none is started.
  [[nodiscard]] Expected<void> start();

  /// Asks every rank; one answer a rank (never a `RunStep`). Error: the rank that is at fault, as
  /// far as can be told from outside; the pool must then be started again.
  [[nodiscard]] tl::expected<std::vector<Reply>, Loss> ask(const Command& command,
                                                           const StepLimit& limit);

  /// Ends all workers at once, and waits until they are gone. Calls that follow without a start
  /// between add no time. Error (`machine_unavailable`): the ranks and processes that do not go.
  Expected<void> kill();

  [[nodiscard]] int size() const { return static_cast<int>(slots_.size()); }
  /// Of the workers that run now, by rank.
  [[nodiscard]] const std::vector<Hello>& hellos() const { return hellos_; }

 private:
  [[nodiscard]] Expected<void> start_all(const std::string& token);
  [[nodiscard]] Expected<void> await_hellos(const std::string& token);
  [[nodiscard]] Expected<void> admit(Rendezvous::Arrival arrival, const std::string& token);
  [[nodiscard]] Expected<void> join();
  [[nodiscard]] Expected<void> check_ended();
  [[nodiscard]] std::string place(std::size_t rank) const;

  Rendezvous rendezvous_;
  std::vector<std::unique_ptr<WorkerSlot>> slots_;
  PoolOptions options_;
  std::vector<std::optional<Connection>> connections_;  ///< by rank
  std::vector<Hello> hellos_;
  std::optional<Deadline> gone_by_{};  ///< since the workers were killed
};

}  // namespace overlaptune::cuda
