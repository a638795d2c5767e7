#pragma once
// A machine with the times that a test gives it.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "machine/machine.hpp"

namespace overlaptune {

/// A config as it is printed.
inline std::string line(std::string_view config) {
  return to_string(value_or_throw(parse_config(config)));
}

/// A config takes the time that `times` has for its line (`to_string`), or 100 us, in each
/// repetition on its one rank; in a phase, the time that `times_in` has for it there. Every probe
/// takes `probe_time`, or fails with its error.
class ScriptedMachine : public Machine {
 public:
  struct Run {
    std::string config{};  ///< the last one, as a line
    std::size_t configs = 0;
    RunOptions options{};
  };

  ScriptedMachine() {
    platform_.name = "scripted";
    platform_.gpu_count = 8;
  }
  [[nodiscard]] const Platform& platform() const override { return platform_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] Expected<void> prepare(std::span<const TiledKernel> kernels) override {
    compiled += kernels.size();
    return {};
  }
  [[nodiscard]] Expected<Measurement> measure(const Probe& probe) override {
    const auto time = probe_time(probe);
    if (!time) return error_of(time);
    return Measurement{.probe = probe, .time = {*time, *time, *time, 1}};
  }
  [[nodiscard]] Expected<std::vector<RunResult>> run(const Problem&,
                                                     std::span<const Config> configs,
                                                     const RunOptions& options) override {
    runs.push_back({to_string(configs.back()), configs.size(), options});
    if (before_result) before_result(runs.back());
    if (refusal) return tl::make_unexpected(*refusal);
    if (cannot.contains(options.phase)) return bad_input("this phase is not for this machine");
    std::vector<RunResult> results;
    for (const Config& config : configs) results.push_back(result_of(to_string(config), options));
    return results;
  }

  std::map<std::string, double> times{};  ///< by config, us
  /// By phase and config: the times of the repetitions, in turn, us.
  std::map<std::pair<RunPhase, std::string>, std::vector<double>> times_in{};
  std::set<RunPhase> cannot{};                    ///< phases that it refuses
  std::map<std::string, Verdict> failures{};      ///< by config
  std::function<void(const Run&)> before_result;  ///< called once a run has begun
  std::optional<Error> refusal{};  ///< the error that `run` returns instead of results
  std::function<Expected<Microseconds>(const Probe&)> probe_time = [](const Probe&) {
    return us(10);
  };
  std::vector<Microseconds> gemm_alone{};  ///< in the rounds of every config; empty: not timed
  std::vector<Microseconds> collective_alone{};
  std::vector<Run> runs{};
  std::size_t compiled = 0;  ///< number of kernels that were prepared

 private:
  [[nodiscard]] RunResult result_of(const std::string& config, const RunOptions& options) const {
    if (const auto failure = failures.find(config); failure != failures.end()) {
      return {.verdict = failure->second, .reason = "as the test wants it"};
    }
    const auto given = times.find(config);
    std::vector<Microseconds> each(static_cast<std::size_t>(options.repetitions),
                                   us(given == times.end() ? 100 : given->second));
    if (const auto own = times_in.find({options.phase, config}); own != times_in.end()) {
      for (std::size_t i = 0; i < each.size(); ++i)
        each[i] = us(own->second[i % own->second.size()]);
    }
    return {.rank_times = {std::move(each)},
            .gemm_alone = gemm_alone,
            .collective_alone = collective_alone};
  }

  Platform platform_{};
  Capabilities capabilities_{.transports = {Transport::ring}, .gemms = {GemmFamily::library}};
};

}  // namespace overlaptune
