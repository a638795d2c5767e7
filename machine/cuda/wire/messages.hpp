#pragma once
// What the controller (the `overlaptune` process) and its workers (one process a GPU) tell each
// other. Plain values; wire.hpp turns them into lines of JSON.

#include <optional>
#include <string>
#include <vector>

#include "core/activity.hpp"
#include "core/candidate.hpp"
#include "core/config.hpp"
#include "core/device.hpp"
#include "core/measurement.hpp"
#include "core/tiling.hpp"
#include "core/timeline.hpp"

namespace overlaptune::cuda {

/// Raised when a message changes: both sides must speak the same.
inline constexpr int kProtocol = 4;

/// The first line of a worker.
struct Hello {
  int protocol = kProtocol;
  std::string version;  ///< of the program
  int rank = 0;
  int pid = 0;
  std::string host;
  Device device{};
};

/// To all ranks: make the communicator of all of them.
struct JoinRequest {
  std::string nccl_id;  ///< hexadecimal, from rank 0's `unique_id`
  int ranks = 0;
  bool allow_multicast = false;
};

/// To all ranks: compile these, each its share.
struct PrepareRequest {
  std::vector<TiledKernel> kernels{};
};

/// What one rank saw of a probe: one time a repetition, the same number on every rank.
struct Samples {
  std::vector<Microseconds> times{};
  std::vector<Microseconds> collective_times{};  ///< of a `ConcurrentProbe`
  std::optional<Tile> library_tile{};
  Conditions conditions{};
};

struct RunRequest {
  Problem problem{};
  std::vector<Config> configs{};  ///< interleaved, one repetition of each in turn
  Launch launch = Launch::graph;
  int repetitions = 9;
  std::uint64_t seed = 0;  ///< of the inputs
  bool spread = false;     ///< the repetitions, over about a second
  bool trace = false;      ///< record what the GPU does in one more repetition, after timing
  /// Faults to inject, for tests: "config-index:kind" with kind one of illegal_address, spin,
  /// wrong, killed_rank.
  std::string fault{};
};

/// What one rank saw of one config.
struct ConfigSamples {
  Verdict verdict = Verdict::valid;  ///< `valid`, `wrong` or `unsupported`
  std::string reason{};
  std::vector<Microseconds> times{};
  Conditions conditions{};
  /// Of the traced repetition; empty where nothing was to be traced or the GPU's profiler is not
  /// there.
  std::vector<Activity> activities{};
};

struct RunReply {
  std::vector<ConfigSamples> configs{};
  /// The best plain GEMM and the best single collective of the problem, timed in the same rounds.
  std::vector<Microseconds> gemm_alone{};
  std::vector<Microseconds> collective_alone{};
};

/// Where a `run` is, told before each step, so that the controller knows which config hung or died
/// and how long to wait for the next word.
struct RunStep {
  int config = -1;     ///< -1: none in particular
  std::string step{};  ///< "prepare", "check", "time", "trace"
};

}  // namespace overlaptune::cuda
