#pragma once
// Faults that tests inject into a config, to see that it costs that config only.

#include <string>

#include "run/mutant.hpp"
#include "run/world.hpp"

namespace overlaptune::cuda {

struct Fault {
  enum class Kind { none, illegal_address, spin, killed_rank, delays };
  Kind kind = Kind::none;
  run::Mutant mutant = run::Mutant::none;
};

/// The fault that "INDEX:KIND" names, where INDEX is this config's; KIND is illegal_address, spin,
/// killed_rank, delays (no fault: a thousand checked runs, before each of which the last rank waits
/// for a random while), wrong (a skipped tile), skipped_k_step, missing_wait or missing_signal.
/// Throws `Failure` (bad_input) for another.
[[nodiscard]] Fault fault_for(const std::string& text, int config);

/// Does it, on the last rank where one is enough.
void inject(const Fault& fault, run::World& world);

}  // namespace overlaptune::cuda
