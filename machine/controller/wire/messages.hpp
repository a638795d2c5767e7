#pragma once
// The messages between the controller (the `overlaptune` process) and its workers (one process for
// each GPU). They are plain values; wire.hpp turns them into lines of JSON.

#include <optional>
#include <string>
#include <vector>

#include "core/activity.hpp"
#include "core/config/candidate.hpp"
#include "core/config/config.hpp"
#include "core/config/phase.hpp"
#include "core/config/tiling.hpp"
#include "core/device.hpp"
#include "core/measurement.hpp"

namespace overlaptune::cuda {

/// Version of the messages, raised when one changes. Both sides must have the same.
inline constexpr int kProtocol = 8;

/// The first line of a worker after the handshake (handshake.hpp).
struct Hello {
  int protocol = kProtocol;
  std::string version;  ///< version of the program
  int rank = 0;
  int pid = 0;
  std::string host;  ///< its name, for messages
  std::string node;  ///< `this_node` (core/nodes.hpp)
  Device device{};
};

/// To all ranks: make the communicator of all ranks.
struct JoinRequest {
  std::string nccl_id;  ///< hexadecimal, from rank 0's `unique_id`
  int ranks = 0;
  bool allow_multicast = false;
};

/// To all ranks: compile these kernels, each rank its share.
struct PrepareRequest {
  std::vector<TiledKernel> kernels{};
};

/// One rank's result of a probe: one time for each repetition, the same number on every rank.
struct Samples {
  std::vector<Microseconds> times{};
  std::vector<Microseconds> collective_times{};  ///< only for a `ConcurrentProbe`
  std::optional<Tile> library_tile{};
  Conditions conditions{};
};

struct RunRequest {
  Problem problem{};
  std::vector<Config> configs{};  ///< interleaved, one repetition of each in turn
  Launch launch = Launch::graph;
  int repetitions = 9;
  std::uint64_t seed = 0;  ///< seed of the inputs
  bool spread = false;     ///< spread the repetitions over about a second
  RunPhase phase = RunPhase::steady;
  bool own_memory = false;  ///< `RunOptions::own_memory`
  bool trace = false;       ///< record the GPU's activities in one more repetition, after timing
  /// Faults to inject, for tests: "config-index:kind" with kind one of illegal_address, spin,
  /// wrong, killed_rank.
  std::string fault{};
};

/// One rank's result of one config.
struct ConfigSamples {
  Verdict verdict = Verdict::valid;  ///< `valid`, `wrong` or `unsupported`
  std::string reason{};
  std::vector<Microseconds> times{};
  Conditions conditions{};
  /// Activities of the traced repetition; empty if no trace was asked for, or there is no profiler.
  std::vector<Activity> activities{};
};

struct RunReply {
  std::vector<ConfigSamples> configs{};
  /// Times of the plain GEMM and of the single collective of the problem, in the same rounds.
  std::vector<Microseconds> gemm_alone{};
  std::vector<Microseconds> collective_alone{};
};

/// Progress of a `run`, reported before each step. It tells the controller which config hung or
/// died, and how long to wait for the next message.
struct RunStep {
  int config = -1;     ///< index of the config; -1: none in particular
  std::string step{};  ///< "prepare", "check", "time", "trace"
};

}  // namespace overlaptune::cuda
