#pragma once
// The properties and rules of `waiting`.

#include "core/config/shares.hpp"
#include "core/config/strategy_traits.hpp"
#include "core/config/work_parts.hpp"
#include "core/problem.hpp"

namespace overlaptune {

template <>
struct TraitsOf<Waiting> {
  // Tiles wait before they begin, so the collective comes before the GEMM.
  static constexpr StrategyTraits row{
      .gemm = GemmFamily::generated,
      .ops = {Op::all_gather_gemm},
      .transports = {Transport::copy_engine, Transport::peer_access},
      .needs = {Need::peer_memory, Need::queue},
      .in_gemm = {Transport::peer_access},
      .copies = {Transport::copy_engine},
      .collective_per_group = false};

  [[nodiscard]] static Expected<void> check(const Waiting& config);
  [[nodiscard]] static Expected<void> check(const Problem& problem, const Waiting& config);
  [[nodiscard]] static TiledWork work(const Problem& problem, const Waiting& config);

  [[nodiscard]] static int divided(const Problem& problem);
  [[nodiscard]] static std::vector<Share> shares(const Problem& problem, const Waiting& config);
  static void fit(const Problem& problem, Waiting& config, std::span<const Share> shares, int sms);
};

}  // namespace overlaptune
