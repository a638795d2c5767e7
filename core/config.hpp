#pragma once
// A config: how to run a problem. Each strategy has a value of its own, with the fields that mean
// something for it; core/config_fields.hpp describes the fields, core/check.hpp says which configs
// are legal.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/names.hpp"
#include "core/tile.hpp"
#include "core/transport.hpp"

namespace overlaptune {

/// The strategies, in the order of the alternatives of `Config`.
enum class Strategy {
  sequential,  ///< a library GEMM, then the collective: the baseline, always a candidate
  chunked,     ///< several library GEMMs and collectives on two streams
  signaled,    ///< one GEMM that signals as groups of tiles finish, a collective per group
  waiting,     ///< one GEMM that waits, group by group of tiles, for the rows that arrive
  peer_store,  ///< one GEMM that stores each tile into the memory of the rank that owns it
};

template <>
struct NamesOf<Strategy> {
  static constexpr std::string_view what = "strategy";
  static constexpr std::array<Named<Strategy>, 5> all{{{Strategy::sequential, "sequential"},
                                                       {Strategy::chunked, "chunked"},
                                                       {Strategy::signaled, "signaled"},
                                                       {Strategy::waiting, "waiting"},
                                                       {Strategy::peer_store, "peer_store"}}};
};

/// How the collective of a wave group waits for its signal.
enum class Wait {
  driver,  ///< cuStreamWaitValue32
  kernel,  ///< a kernel that polls the signal for a bounded time and takes a small part of an SM
};

template <>
struct NamesOf<Wait> {
  static constexpr std::string_view what = "wait";
  static constexpr std::array<Named<Wait>, 2> all{
      {{Wait::driver, "driver"}, {Wait::kernel, "kernel"}}};
};

/// How wave groups move. The last group may move differently, because the GEMM needs no SMs any
/// more.
struct GroupTransports {
  Transport beside_gemm = Transport::ring;  ///< every group except the last one
  Transport last = Transport::ring;
  friend auto operator<=>(const GroupTransports&, const GroupTransports&) = default;
};

[[nodiscard]] constexpr GroupTransports all_groups_by(Transport transport) {
  return {transport, transport};
}

/// Symmetric windows while the GEMM runs; for the last group a ring with NCCL's own choice of CTAs.
inline constexpr GroupTransports kSymmetricThenRing{Transport::symmetric, Transport::ring};

template <>
struct NamesOf<GroupTransports> {
  static constexpr std::string_view what = "transport";
  static constexpr std::array<Named<GroupTransports>, 5> all{
      {{all_groups_by(Transport::ring), "ring"},
       {all_groups_by(Transport::symmetric), "symmetric"},
       {all_groups_by(Transport::copy_engine), "copy_engine"},
       {kSymmetricThenRing, "symmetric_then_ring"},
       {all_groups_by(Transport::peer_access), "peer_access"}}};
};

/// Value of `Sequential::comm_ctas`, and of a probe's `comm_ctas`: NCCL chooses the number of CTAs.
inline constexpr int kNcclsChoice = 0;
/// Value of `Signaled::comm_ctas`: the GEMM has one CTA for each tile, and collectives take over
/// the SMs of tiles that end.
inline constexpr int kHandedOver = 0;

/// Value of `Waiting::comm_ctas`: copy engines send the rows.
inline constexpr int kNoCtas = 0;

/// A library GEMM on all SMs, and the collective after it (all_gather_gemm: before it).
struct Sequential {
  int comm_ctas = kNcclsChoice;  ///< CTAs of the collective; 0 with `copy_engine`
  Transport transport = Transport::ring;
  friend auto operator<=>(const Sequential&, const Sequential&) = default;
};

/// A library GEMM and the collective, each cut into `chunks` parts that run beside each other.
struct Chunked {
  int comm_ctas = 0;  ///< CTAs of the collectives, and SMs that the GEMMs leave to them
  int chunks = 1;     ///< parts that the rows of each row block are cut into
  Transport transport = Transport::ring;
  friend auto operator<=>(const Chunked&, const Chunked&) = default;
};

/// A generated GEMM that signals as the tiles of each wave group are stored.
struct Signaled {
  Tile tile{};
  int raster = 0;  ///< row panels of one row block that are walked together, column by column
  /// SMs that the GEMM leaves to the collectives after the first group; or `kHandedOver`.
  int comm_ctas = kHandedOver;
  GroupTransports transport{};
  Wait wait = Wait::driver;
  /// Tiles of each group, in the order of `TileOrder`; the sum is the tile count.
  std::vector<std::int64_t> wave_groups{};
  friend auto operator<=>(const Signaled&, const Signaled&) = default;

  /// Whether the GEMM stays on its SMs: one CTA on each, which computes tile after tile.
  [[nodiscard]] bool is_persistent() const { return comm_ctas != kHandedOver; }
};

/// A generated GEMM that is there from the start. It begins with the rank's own rows; before the
/// tiles of each later wave group it waits until the group's rows have arrived.
struct Waiting {
  Tile tile{};
  int raster = 0;  ///< row panels of one row block that are walked together, column by column
  int comm_ctas = kNoCtas;  ///< SMs that the GEMM leaves to the CTAs that send rows
  Transport transport = Transport::copy_engine;
  /// Tiles of each group, in the order of `ArrivalOrder`. The first group is the rank's own row
  /// block; no other one has rows of two row blocks.
  std::vector<std::int64_t> wave_groups{};
  friend auto operator<=>(const Waiting&, const Waiting&) = default;
};

/// A generated GEMM on all SMs, without a collective beside it. Each tile has an owner among the
/// ranks (core/store_order.hpp). A rank stores the tiles of the others into their memory. To its
/// own tiles it adds what the others have stored for it.
struct PeerStore {
  Tile tile{};
  int raster = 0;  ///< row panels of one row block that are walked together, column by column
  /// Tiles of each group, in the order of `TileOrder`. Inside a group, a rank computes the tiles of
  /// the others first.
  std::vector<std::int64_t> wave_groups{};
  friend auto operator<=>(const PeerStore&, const PeerStore&) = default;
};

/// Upper limit of the tiles of all wave groups together, so that their sum cannot overflow.
inline constexpr std::int64_t kMostTiles = std::int64_t{1} << 62;

/// The strategy that all others are compared with.
inline constexpr Strategy kBaseline = Strategy::sequential;

/// How to run a problem. The default is the baseline.
using Config = std::variant<Sequential, Chunked, Signaled, Waiting, PeerStore>;

[[nodiscard]] inline Strategy strategy_of(const Config& config) {
  return static_cast<Strategy>(config.index());
}

/// The config of a strategy with every field at its default.
[[nodiscard]] Config default_config(Strategy strategy);

/// The `comm_ctas` of the config, with the meaning that its strategy gives it; 0 where its strategy
/// has none.
[[nodiscard]] inline int comm_ctas(const Config& config) {
  const auto own_ctas = [](const auto& own) {
    if constexpr (requires { own.comm_ctas; }) {
      return own.comm_ctas;
    } else {
      return 0;
    }
  };
  return std::visit(own_ctas, config);
}

/// Transport of the collectives while a GEMM may run beside them. The GEMM of `peer_store` reaches
/// the peers' memory itself.
[[nodiscard]] inline Transport transport_of(const Config& config) {
  const auto own_transport = [](const auto& own) {
    if constexpr (requires { own.transport.beside_gemm; }) {
      return own.transport.beside_gemm;
    } else if constexpr (requires { own.transport; }) {
      return own.transport;
    } else {
      return Transport::peer_access;
    }
  };
  return std::visit(own_transport, config);
}

/// The tile of the config's GEMM; all zero where the strategy uses a library GEMM.
[[nodiscard]] inline Tile tile_of(const Config& config) {
  const auto own_tile = [](const auto& own) {
    if constexpr (requires { own.tile; }) {
      return own.tile;
    } else {
      return Tile{};
    }
  };
  return std::visit(own_tile, config);
}

/// The wave groups of a config; null where its strategy has none.
[[nodiscard]] inline std::vector<std::int64_t>* wave_groups_of(Config& config) {
  const auto own_groups = [](auto& own) -> std::vector<std::int64_t>* {
    if constexpr (requires { own.wave_groups; }) {
      return &own.wave_groups;
    } else {
      return nullptr;
    }
  };
  return std::visit(own_groups, config);
}
[[nodiscard]] inline std::span<const std::int64_t> wave_groups_of(const Config& config) {
  const auto own_groups = [](const auto& own) -> std::span<const std::int64_t> {
    if constexpr (requires { own.wave_groups; }) {
      return own.wave_groups;
    } else {
      return {};
    }
  };
  return std::visit(own_groups, config);
}

/// The *canonical line* of a config: its strategy and the fields of this strategy. Equal configs
/// have equal lines, different configs have different ones: `signaled tile=128x256x64 stages=4
/// cluster=2 raster=8 ctas=16 transport=ring groups=928,96`. Databases, exports and messages
/// between processes have this form.
[[nodiscard]] std::string to_string(const Config& config);

/// Reads a config as people write it, or its canonical line: the strategy and `name=value` fields
/// in any order, separated by blanks. A field that is left out keeps its default, unless the
/// strategy needs it. The result passes `check(config)`. Error: the field and what is allowed.
[[nodiscard]] Expected<Config> parse_config(std::string_view text);

/// Reads a canonical line, and returns false for any other text, so that equal configs are equal
/// texts. It does not check whether the fields go together. It allocates memory for wave groups
/// only, and none where `config` has room for them, because a database may have many thousands of
/// lines.
[[nodiscard]] bool read_canonical(std::string_view line, Config& config);

/// The reason why `read_canonical` refuses a line, as one line of text.
[[nodiscard]] std::string why_not_canonical(std::string_view line);

}  // namespace overlaptune
