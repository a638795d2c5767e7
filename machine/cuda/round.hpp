#pragma once
// One question to all workers, and the search for who is at fault when no answer comes.

#include <optional>
#include <string>
#include <vector>

#include "machine/cuda/worker_pool.hpp"

namespace overlaptune::cuda {

/// One rank during a round.
struct Participant {
  int rank = 0;
  Connection* connection = nullptr;
  WorkerSlot* slot = nullptr;
};

/// Sends the command to all and waits for one answer of each. When one complains, or says nothing
/// any more, the others get a moment to end too: a rank that died is then the cause, and what the
/// others report its consequence; otherwise the first is the cause.
[[nodiscard]] tl::expected<std::vector<Reply>, Loss> ask_round(
    const std::vector<Participant>& participants, const Command& command, const StepLimit& limit);

}  // namespace overlaptune::cuda
