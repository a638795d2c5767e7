#pragma once
// A machine that is simulated from a profile (docs/profiles.md).

#include <cstdint>

#include "machine/machine.hpp"
#include "machine/simulator/execution.hpp"
#include "machine/simulator/faults.hpp"
#include "machine/simulator/profile.hpp"

namespace overlaptune::sim {

struct SimOptions {
  std::uint64_t seed = 0;
  Faults faults{};
};

/// Results depend only on the seed, the problem, the config (or probe) and the repetition. Earlier
/// and concurrent measurements do not change them.
class SimMachine : public Machine {
 public:
  SimMachine(Profile profile, const SimOptions& options);

  [[nodiscard]] const Platform& platform() const override { return platform_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] Expected<Measurement> measure(const Probe& probe) override;
  [[nodiscard]] Expected<std::vector<RunResult>> run(const Problem& problem,
                                                     std::span<const Config> configs,
                                                     const RunOptions& options) override;

 private:
  class Prober;
  [[nodiscard]] Setting setting(const Problem& problem, const RunOptions& options) const;
  [[nodiscard]] Expected<Schedule> schedule_of(const Profile& profile, const Problem& problem,
                                               const Config& config) const;
  [[nodiscard]] RunResult run_config(const Problem& problem, const Config& config, Setting setting,
                                     const RunOptions& options) const;
  [[nodiscard]] Expected<void> check_memory(double bytes) const;
  [[nodiscard]] Conditions conditions(const ClockState& state) const;

  Profile profile_;
  SimOptions options_;
  Platform platform_;
  Capabilities capabilities_;
};

}  // namespace overlaptune::sim
