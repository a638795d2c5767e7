#include "machine/worker/fault.hpp"

#include <csignal>

#include "core/base/error.hpp"
#include "kernels/support.hpp"

namespace overlaptune::cuda {
namespace {

/// Longer than any time-out of a config, but not endless.
constexpr std::int64_t kSpin = 300'000'000'000;  // ns

}  // namespace

Fault fault_for(const std::string& text, int config) {
  const std::size_t colon = text.find(':');
  if (colon == std::string::npos || text.substr(0, colon) != std::to_string(config)) return {};
  const std::string kind = text.substr(colon + 1);
  if (kind == "illegal_address") return {.kind = Fault::Kind::illegal_address};
  if (kind == "spin") return {.kind = Fault::Kind::spin};
  if (kind == "killed_rank") return {.kind = Fault::Kind::killed_rank};
  if (kind == "delays") return {.kind = Fault::Kind::delays};
  if (kind == "wrong_replays") return {.kind = Fault::Kind::wrong_replays};
  if (kind == "wrong") return {.mutant = run::Mutant::skipped_tile};
  if (kind == "skipped_k_step") return {.mutant = run::Mutant::skipped_k_step};
  if (kind == "missing_wait") return {.mutant = run::Mutant::missing_wait};
  if (kind == "missing_signal") return {.mutant = run::Mutant::missing_signal};
  throw Failure(ErrorKind::bad_input, "fault '" + kind +
                                          "': expected illegal_address, spin, killed_rank, delays, "
                                          "wrong, wrong_replays, skipped_k_step, missing_wait or "
                                          "missing_signal");
}

void inject(const Fault& fault, run::World& world) {
  switch (fault.kind) {
    case Fault::Kind::none:
    case Fault::Kind::delays:
    case Fault::Kind::wrong_replays:
      return;
    case Fault::Kind::illegal_address:
      OVT_CHECK(kernels::illegal_store(world.stream()));
      return;
    case Fault::Kind::spin:
      OVT_CHECK(kernels::spin(world.stream(), kSpin));
      return;
    case Fault::Kind::killed_rank:
      if (world.rank() + 1 == world.ranks()) raise(SIGKILL);
      return;
  }
}

}  // namespace overlaptune::cuda
