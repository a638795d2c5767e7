#pragma once
// A unit of work: a problem and a checked config of it, with everything that follows from the two.
// It is made once, where both are first known, and passed down.

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "core/check.hpp"
#include "core/tiling.hpp"

namespace overlaptune {

/// The work of a generated GEMM: the order of its tiles, and where wave groups end. The tiles of
/// `waiting` are in the order of `ArrivalOrder`, those of `peer_store` in that of `StoreOrder`,
/// with the same tiles and raster as `order`.
struct TiledWork {
  TileOrder order{};
  std::vector<Cut> cuts{};  ///< one after each wave group
  TiledKernel kernel{};
};

/// The work of a library GEMM, in chunks; `sequential` has one.
struct ChunkedWork {
  std::vector<std::int64_t> rows{};  ///< rows of each part, in one row block
};

class Work {
 public:
  /// Checks the config for the problem. Error: as `check`.
  [[nodiscard]] static Expected<Work> make(const Problem& problem, Config config,
                                           const Capabilities& capabilities = {});

  [[nodiscard]] const Problem& problem() const { return problem_; }
  [[nodiscard]] const Config& config() const { return config_; }
  [[nodiscard]] Strategy strategy() const { return strategy_of(config_); }
  [[nodiscard]] Collective collective() const { return collective_of(problem_.op); }

  /// The config as the value of its strategy. Throws `std::bad_variant_access` for another
  /// strategy.
  template <class Own>
  [[nodiscard]] const Own& config_as() const {
    return std::get<Own>(config_);
  }
  /// The work of a strategy with a generated GEMM; throws `std::bad_variant_access` for others.
  [[nodiscard]] const TiledWork& tiled() const { return std::get<TiledWork>(parts_); }
  /// The work of a strategy with a library GEMM; throws `std::bad_variant_access` for others.
  [[nodiscard]] const ChunkedWork& chunked() const { return std::get<ChunkedWork>(parts_); }

  /// The kernel to compile; absent where the GEMM library computes.
  [[nodiscard]] std::optional<TiledKernel> kernel() const;

 private:
  using Parts = std::variant<ChunkedWork, TiledWork>;
  Work(const Problem& problem, Config config, Parts parts)
      : problem_(problem), config_(std::move(config)), parts_(std::move(parts)) {}

  Problem problem_;
  Config config_;
  Parts parts_;
};

}  // namespace overlaptune
