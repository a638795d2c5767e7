#pragma once
// A unit of work: a problem and a checked config of it, with everything that follows from the two.
// It is made once, where both are first known, and passed down.

#include <optional>
#include <utility>
#include <variant>

#include "core/config/check.hpp"
#include "core/config/work_parts.hpp"

namespace overlaptune {

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
  Work(const Problem& problem, Config config, WorkParts parts)
      : problem_(problem), config_(std::move(config)), parts_(std::move(parts)) {}

  Problem problem_;
  Config config_;
  WorkParts parts_;
};

}  // namespace overlaptune
