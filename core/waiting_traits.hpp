#pragma once
// The properties and rules of `waiting`.

#include "core/problem.hpp"
#include "core/strategy_traits.hpp"
#include "core/work_parts.hpp"

namespace overlaptune {

template <>
struct TraitsOf<Waiting> {
  // Tiles wait before they begin, so the collective comes before the GEMM.
  static constexpr StrategyTraits row{
      .gemm = GemmFamily::generated,
      .ops = {Op::all_gather_gemm},
      .transports = {Transport::copy_engine, Transport::peer_access},
      .needs = {Need::peer_memory},
      .in_gemm = {Transport::peer_access},
      .copies = {Transport::copy_engine},
      .collective_per_group = false};

  [[nodiscard]] static Expected<void> check(const Waiting& config);
  [[nodiscard]] static Expected<void> check(const Problem& problem, const Waiting& config);
  [[nodiscard]] static TiledWork work(const Problem& problem, const Waiting& config);
};

}  // namespace overlaptune
