#pragma once
// A config: how to run a problem.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/names.hpp"
#include "core/problem.hpp"

namespace overlaptune {

enum class Strategy {
  sequential,   ///< the library's GEMM, then the collective: the baseline, always a candidate
  chunked,      ///< several library GEMMs and collectives on two streams
  signaled,     ///< one GEMM that signals as groups of tiles finish, a collective per group
  peer_store,   ///< the GEMM's epilogue stores tiles into the peer that owns them
  copy_engine,  ///< copy engines move chunks while a GEMM waits on flags or raises them
};

enum class Transport {
  ring,
  symmetric,    ///< NCCL's symmetric windows
  copy_engine,  ///< no collectives of NCCL's (run/copies.hpp)
  /// `signaled`: symmetric windows while the GEMM runs; for the last group, when nothing else needs
  /// SMs any more, NCCL's own choice of CTAs on a ring.
  symmetric_then_ring,
  /// `signaled`: no collectives of NCCL's either: CTAs of ours take what they need from the peers'
  /// memory, group after group (kernels/peer_exchange.hpp).
  peer_access,
};

/// `signaled`: how the collective of a wave group waits for its signal.
enum class Wait {
  driver,  ///< cuStreamWaitValue32
  kernel,  ///< a bounded kernel of ours, which takes a bit of an SM
};

/// That of all groups but the last.
[[nodiscard]] constexpr Transport beside_gemm(Transport transport) {
  return transport == Transport::symmetric_then_ring ? Transport::symmetric : transport;
}

/// NCCL's own, with one curve for a whole collective: what strategies with the library's GEMM use.
[[nodiscard]] constexpr bool is_librarys(Transport transport) {
  return transport == Transport::ring || transport == Transport::symmetric;
}

/// Whether one collective can go that way: NCCL 2.28 has no symmetric kernel for all_to_all, copy
/// engines do not add, and peer access needs a GEMM before it.
[[nodiscard]] constexpr bool serves(Transport transport, Collective collective) {
  switch (transport) {
    case Transport::ring:
      return true;
    case Transport::symmetric:
      return collective != Collective::all_to_all;
    case Transport::copy_engine:
      return collective == Collective::all_to_all;
    case Transport::peer_access:
      return collective != Collective::all_gather;
    case Transport::symmetric_then_ring:
      break;  // of several collectives
  }
  return false;
}

template <>
struct NamesOf<Strategy> {
  static constexpr std::string_view what = "strategy";
  static constexpr std::array<Named<Strategy>, 5> all{{{Strategy::sequential, "sequential"},
                                                       {Strategy::chunked, "chunked"},
                                                       {Strategy::signaled, "signaled"},
                                                       {Strategy::peer_store, "peer_store"},
                                                       {Strategy::copy_engine, "copy_engine"}}};
};

template <>
struct NamesOf<Transport> {
  static constexpr std::string_view what = "transport";
  static constexpr std::array<Named<Transport>, 5> all{
      {{Transport::ring, "ring"},
       {Transport::symmetric, "symmetric"},
       {Transport::copy_engine, "copy_engine"},
       {Transport::symmetric_then_ring, "symmetric_then_ring"},
       {Transport::peer_access, "peer_access"}}};
};

template <>
struct NamesOf<Wait> {
  static constexpr std::string_view what = "wait";
  static constexpr std::array<Named<Wait>, 2> all{
      {{Wait::driver, "driver"}, {Wait::kernel, "kernel"}}};
};

/// One output block of the GEMM and how it is computed. All zero: the library (cuBLASLt) chooses.
struct Tile {
  int block_m = 0;
  int block_n = 0;
  int block_k = 0;
  int stages = 0;   ///< depth of the load pipeline, in k blocks
  int cluster = 0;  ///< CTAs that share operand loads: 1 or 2
  friend auto operator<=>(const Tile&, const Tile&) = default;
  [[nodiscard]] bool is_library() const { return block_m == 0; }
};

/// `128x256x64`, or `library`.
[[nodiscard]] std::string to_string(const Tile& tile);

/// Fields that a strategy does not use keep their defaults, so that `==` means "the same plan".
struct Config {
  Strategy strategy = Strategy::sequential;
  Tile tile{};
  /// Row panels of one row block that are walked together, column by column (0: library's choice).
  int raster = 0;
  /// SMs that the collective may use; the GEMM gets the rest. 0: the collective library's own
  /// default, after the GEMM (`sequential`) or beside one whose tiles have a CTA each (`signaled`),
  /// on the SMs of those that end.
  int comm_ctas = 0;
  /// `signaled`: tiles of each group, in the order of `TileOrder`; the sum is the tile count.
  std::vector<std::int64_t> wave_groups{};
  /// `chunked`: parts that the rows of each row block are cut into; otherwise 1.
  int chunks = 1;
  Transport transport = Transport::ring;
  Wait wait = Wait::driver;
  friend auto operator<=>(const Config&, const Config&) = default;
};

/// Whether the config's transport serves the problem; what once did may be in a database still.
[[nodiscard]] inline bool is_served(const Problem& problem, const Config& config) {
  return serves(beside_gemm(config.transport), collective_of(problem.op));
}

/// Kernels wait for groups of `signaled` only, and not for copy engines, whose waits are batches of
/// operations of the driver. Error: the field and what is allowed.
[[nodiscard]] Expected<void> waits(const Config& config);

/// Whether its collective must be told how many CTAs it has: NCCL's beside the library's GEMM, and
/// beside ours what is not NCCL's.
[[nodiscard]] inline bool needs_ctas(const Config& config) {
  const bool by_nccl = is_librarys(beside_gemm(config.transport));
  return config.strategy == (by_nccl ? Strategy::chunked : Strategy::signaled);
}

/// One line with every field that applies, the same for equal configs and different for different
/// ones: `signaled tile=128x256x64 stages=4 cluster=2 raster=8 ctas=16 transport=ring
/// groups=928,96`.
[[nodiscard]] std::string to_string(const Config& config);

/// Reads that line, for people too: the strategy and `name=value` fields in any order, separated by
/// blanks. What is left out keeps its default, but for what the strategy cannot do without:
/// `signaled` has a tile, groups and CTAs (0 is a choice), a tile has stages, cluster and raster,
/// and a collective that `needs_ctas` has some. Whether a machine can run the config is not judged.
/// Error: the field and what is allowed.
[[nodiscard]] Expected<Config> parse_config(std::string_view text);

}  // namespace overlaptune
