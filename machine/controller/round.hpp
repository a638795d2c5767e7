#pragma once
// One command to all workers and their answers, or the rank at fault when an answer does not come.

#include <vector>

#include "machine/controller/worker_pool.hpp"

namespace overlaptune::cuda {

/// One rank during a round.
struct Participant {
  int rank = 0;
  Connection* connection = nullptr;
  WorkerSlot* slot = nullptr;
};

/// Sends the command to all and waits for one answer of each. After a failure or a time-out of one
/// rank, the others get a moment to end too. If a rank died, it is the cause, and what the others
/// report is its consequence. Otherwise the first failure is the cause.
[[nodiscard]] tl::expected<std::vector<Reply>, Loss> ask_round(
    const std::vector<Participant>& participants, const Command& command, const StepLimit& limit);

}  // namespace overlaptune::cuda
