#pragma once
// The capabilities of a machine, or of the ranks of a communicator, as a value by which
// core/config/check.hpp judges configs.

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/config/strategies.hpp"
#include "core/gpu.hpp"
#include "core/platform.hpp"

namespace overlaptune {

/// The most channels of a communicator of NCCL (MAXCHANNELS in its sources): the most CTAs of a
/// collective on GPUs.
inline constexpr int kMostChannels = 64;

/// The limits of what a machine can run. The default allows everything that any machine can run.
struct Capabilities {
  int ranks = kMostRanks;                           ///< most ranks of a problem
  int sms = std::numeric_limits<int>::max();        ///< SMs of one GPU
  int comm_ctas = std::numeric_limits<int>::max();  ///< most CTAs of a collective
  EnumSet<Transport> transports{Transport::ring, Transport::symmetric, Transport::copy_engine,
                                Transport::peer_access};
  EnumSet<GemmFamily> gemms{GemmFamily::library, GemmFamily::generated};
  EnumSet<Strategy> strategies = kAllStrategies;
  std::optional<GpuLimits> limits{};  ///< limits of a generated GEMM's tile; absent: any tile
  std::string apart{};  ///< what keeps ranks from their peers' memory, for errors; empty: unknown
};

/// The families of GEMM kernels that run on a GPU of this compute capability (10 * major + minor).
[[nodiscard]] EnumSet<GemmFamily> gemm_families(int compute_capability);

/// Ranks, SMs, tiles, transports and kernels of a platform. A simulated platform may lack the
/// curves of a transport; only its machine knows that.
[[nodiscard]] Capabilities capabilities_of(const Platform& platform);

/// The transports that a machine has, in the order of `Transport`.
[[nodiscard]] std::vector<Transport> transports_of(const Capabilities& capabilities);

/// Whether there are kernels for a strategy.
[[nodiscard]] bool has_kernel(const Capabilities& capabilities, Strategy strategy);

/// The strategies whose kernels a machine has, in the order of `Strategy`.
[[nodiscard]] std::vector<Strategy> strategies_of(const Capabilities& capabilities);

/// The abilities of a platform's GPUs, for people: "sequential, chunked, signaled, waiting; the
/// portable kernel, not tried on such GPUs".
[[nodiscard]] std::string abilities_in_words(const Platform& platform);

/// A line on the strategies and transports that ranks of several nodes lack: "2 nodes x 4 GPUs, …,
/// joined by network IB: left out, as they need the memory of peers: …". Empty on one node.
[[nodiscard]] std::string left_out_in_words(const Platform& platform);

}  // namespace overlaptune
