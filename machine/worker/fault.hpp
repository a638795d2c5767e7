#pragma once
// Faults that tests inject into a config, to see that only that config fails.

#include <string>

#include "run/mutant.hpp"
#include "run/world.hpp"

namespace overlaptune::cuda {

struct Fault {
  enum class Kind { none, illegal_address, spin, killed_rank, delays, wrong_replays };
  Kind kind = Kind::none;
  run::Mutant mutant = run::Mutant::none;
};

/// The fault that "INDEX:KIND" names if INDEX is this config's, else none. KIND is illegal_address,
/// spin, killed_rank, wrong (a skipped tile), skipped_k_step, missing_wait, missing_signal,
/// wrong_replays or delays. With `wrong_replays` the second of several checked runs that follow one
/// another at once does nothing. `delays` is no fault: it means a thousand checked runs, and before
/// each of them the last rank waits for a random time. Throws `Failure` (bad_input) for another
/// KIND.
[[nodiscard]] Fault fault_for(const std::string& text, int config);

/// Brings the fault about; a killed rank is the last one.
void inject(const Fault& fault, run::World& world);

}  // namespace overlaptune::cuda
