#pragma once
// A profile: the curves and constants of one simulated cluster (docs/profiles.md has the schema and
// the physics that each value enters). Every time is in microseconds, every rate in bytes or
// operations per microsecond, as the simulation uses them.

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune::sim {

/// Points of a curve over bytes, ascending.
struct Curve {
  std::vector<double> bytes{};
  std::vector<double> values{};

  /// Straight lines between the points; constant before the first, the last slope after the last.
  [[nodiscard]] double linear(double at) const;
  /// Straight lines over the logarithm of the bytes; constant outside the points.
  [[nodiscard]] double logarithmic(double at) const;
  /// Straight lines of the logarithms of both; constant before the first point, the last slope (not
  /// of logarithms) after the last.
  [[nodiscard]] double geometric(double at) const;
};

struct GpuProfile {
  std::string model{};
  int count = 0;
  int sms = 0;
  int compute_capability = 0;
  double memory_bytes = 0;
  double clock_mhz = 0;      ///< without a power limit
  double tensor_flops = 0;   ///< rate of the whole GPU at that clock, dense, per microsecond
  double tensor_half_m = 0;  ///< block_m at which the tensor cores reach half of their peak
  double tensor_half_n = 0;  ///< likewise block_n
  double sm_load = 0;        ///< rate from L2 into one SM's shared memory
  double l2_load = 0;        ///< rate from L2 into all SMs together
  /// Rate from L2 into all SMs where rows of the operands begin within a sector of L2; 0: as fast
  /// as others.
  double misaligned_load = 0;
  double l2_bytes = 0;
  double memory_load = 0;    ///< rate from device memory
  double memory_store = 0;   ///< rate to device memory, while it is also read
  double sm_store = 0;       ///< rate from one SM
  double uneven_store = 0;   ///< the same where block_n is no multiple of 32
  double load_latency = 0;   ///< time from the request of an operand block to its arrival
  double tile_overhead = 0;  ///< pipeline fill and drain of each tile that nothing hides
  double kernel_start = 0;   ///< time until the first tile starts computing
  double hidden_store = 0;   ///< share of a tile's store that the next tile hides, 0 to 1
  double tile_spread = 0;    ///< standard deviation of a tile's time, relative
};

/// The GEMM library: it picks the best tile of a fixed menu.
struct LibraryProfile {
  double efficiency = 1;  ///< relative to generated kernels with the same tile
  double partial = 1;     ///< factor on `efficiency` where it does not have all SMs
  double kernel_start = 0;
  double hidden_store = 0;
  int swizzle = 1;
  std::vector<Tile> menu{};
};

/// A power limit in another form: energy depends on the tile, voltage on the clock, and there is a
/// second limit for the power at any moment.
struct GovernorProfile {
  Curve volts{};             ///< MHz -> V
  double clock_w = 0;        ///< clocks of all SMs, at the highest clock
  double load_joules = 0;    ///< per byte that SMs load from L2, at the highest clock
  double memory_joules = 0;  ///< per byte to or from device memory
  double peak_w = 0;         ///< limit of the power while a GEMM runs
  double leak_share = 0;     ///< leakage of a hot GPU, as a share of its other power
};

struct PowerProfile {
  double idle_w = 0;
  double limit_w = 0;
  double flop_joules = 0;  ///< at the highest clock
  double byte_joules = 0;  ///< per byte that a collective sends
  double window = 0;       ///< length of one replay at which the limit is half in force
  std::optional<GovernorProfile> governor{};
};

/// The times of a collective on a number of CTAs.
struct CtaTimes {
  int ctas = 0;
  Curve times{};  ///< whole buffer -> microseconds of the kernel
};

/// One collective of one transport.
struct CollectiveProfile {
  Transport transport = Transport::ring;
  Collective collective = Collective::all_reduce;
  int ranks = 0;
  Curve times{};  ///< at NCCL's choice of CTAs: whole buffer -> microseconds of the kernel
  // Other numbers of CTAs: either the rate of one, or measured times of some.
  Curve cta_rates{};                ///< whole buffer -> bytes that one CTA sends per microsecond
  std::vector<CtaTimes> by_ctas{};  ///< ascending; empty: `cta_rates`
  // For `CongestionProfile`.
  double queue = 0;       ///< how much its CTAs delay the stores of a GEMM
  double wait_share = 0;  ///< how much longer it takes beside a GEMM where its CTAs are the limit
};

/// The kernel of `Transport::peer_access`: its time apart from the groups, which its curves
/// include.
struct PeerProfile {
  double start = 0;   ///< time to meet the other ranks, before the first group
  double finish = 0;  ///< time to part from them, after the last group
};

/// A GEMM that stores its tiles at their owners (`peer_store`).
struct StoreProfile {
  double tile_rate = 0;     ///< bytes of tiles that leave a rank over its links per microsecond
  double beside_share = 0;  ///< what the links lose beside a GEMM, in units of its time alone
  double sum_gap = 0;  ///< the links stand still for it behind the sums of a group (all-reduce)
  double run = 0;      ///< what the begin and end of a kernel take longer than a plain GEMM's
  /// The time that a subtile (core/config/staging.hpp) takes longer, if nothing hides it.
  double subtile = 0;
  double add_subtile = 0;  ///< reading and adding a subtile of a peer, likewise
  double receive = 0;      ///< from a peer's signal until its tile may be added
  double apart_share = 0;  ///< how much longer a tile takes that shares no operands with others
  double demand = 0;       ///< what its stores request, as a multiple of what the links carry
};

/// How an active side slows the other. The slowdown tends to `share`; at the load `half` (0 to 1 of
/// the resource) it is half of that.
struct ContentionProfile {
  double gemm_share = 0;
  double gemm_half = 1;
  double collective_share = 0;
  double collective_half = 1;
};

/// Contention in another form, which depends on tile, depth and CTAs. CTAs that request more than
/// the links carry make a queue in which a GEMM's stores wait. A GEMM makes each request of a
/// collective wait, which counts where latency or the CTAs are the limit, and hardly where the
/// links are.
struct CongestionProfile {
  double tile_wait = 0;      ///< time that a tile's stores wait behind a queue of 1, of any size
  double store_rate = 0;     ///< and the rate of all stores of a GEMM then
  double load_share = 0;     ///< how much longer loads from L2 take behind a queue of 1
  double latency_share = 0;  ///< how much longer latency takes beside a GEMM that fills the memory
  double link_share = 0;     ///< how much longer the links take for the same bytes
  double load_half = 1;      ///< load of the memory at which half of these shares count
};

struct CopyProfile {
  double engine_latency = 0;
  double engine_rate = 0;
  double meet = 0;   ///< time to meet the other ranks, before the first of several copies
  double piece = 0;  ///< cost of each of several copies, with the flag behind it
  double queue = 0;  ///< for `CongestionProfile`: the queue that copies make
  double store_latency = 0;
  double store_rate_per_cta = 0;
  double store_rate = 0;
};

struct LaunchProfile {
  double graph_replay = 0;
  double graph_kernel = 0;
  double eager_submit = 0;
  double eager_first = 0;
  double signal = 0;               ///< time until a group's last store is visible to its waiter
  double trigger = 0;              ///< time from there to the start of the collective
  double kernel_trigger = 0;       ///< the same where a kernel waits
  double reorder_rate = 0;         ///< rate of all SMs
  double reorder_rate_per_sm = 0;  ///< rate of one SM, where a GEMM leaves few
};

struct NoiseProfile {
  double gemm = 0;        ///< standard deviation of a repetition's GEMM time, relative
  double collective = 0;  ///< likewise of a collective
};

struct Profile {
  std::string name{};
  std::string description{};
  std::string driver_version{};
  std::string cuda_version{};
  std::string nccl_version{};
  int nccl_ctas = 0;  ///< CTAs that NCCL chooses
  std::string topology{};
  std::string link{};  ///< carrier of peer traffic, a name of core/link.hpp
  GpuProfile gpu{};
  LibraryProfile library{};
  PowerProfile power{};
  std::vector<CollectiveProfile> collectives{};
  std::optional<PeerProfile> peer{};
  std::optional<StoreProfile> store{};  ///< with `peer`
  ContentionProfile contention{};       ///< without `congestion`
  std::optional<CongestionProfile> congestion{};
  CopyProfile copy{};
  LaunchProfile launch{};
  NoiseProfile noise{};
  std::string digest{};  ///< hash of the text that it was read from
  /// One complaint for each field of the text that is not read.
  std::vector<std::string> unknown_fields{};
};

/// Larger files are refused before they are parsed.
inline constexpr std::size_t kLargestProfile = 1 << 20;

/// Reads and checks a profile. `origin` (a file, "built in") opens every message, followed by the
/// JSON path: "my.json: gpu.sms.value: expected a whole number from 2 to 1024, found -3".
[[nodiscard]] Expected<Profile> parse_profile(std::string_view text, std::string_view origin);

/// A profile built into the program; the first one is the default machine.
struct EmbeddedProfile {
  std::string_view name;
  std::string_view text;
};
[[nodiscard]] const std::vector<EmbeddedProfile>& embedded_profiles();

}  // namespace overlaptune::sim
