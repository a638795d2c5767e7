#pragma once
// The properties and rules of `signaled`.

#include "core/config/rules.hpp"
#include "core/config/strategy_traits.hpp"
#include "core/config/work_parts.hpp"
#include "core/problem.hpp"

namespace overlaptune {

template <>
struct TraitsOf<Signaled> : GroupsInTileOrder<Signaled> {
  // Tiles signal when they end, so the GEMM comes before the collective.
  static constexpr StrategyTraits row{
      .gemm = GemmFamily::generated,
      .ops = {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all},
      .transports = {Transport::ring, Transport::symmetric, Transport::copy_engine,
                     Transport::peer_access},
      .across_row_blocks = true};

  /// Transports whose collectives a kernel can wait for (`Wait::kernel`). Copy engines wait by
  /// batched stream operations of the driver.
  static constexpr EnumSet<Transport> kernel_waits{Transport::ring, Transport::symmetric,
                                                   Transport::peer_access};

  [[nodiscard]] static Expected<void> check(const Signaled& config);
  [[nodiscard]] static Expected<void> check(const Problem& problem, const Signaled& config);
  [[nodiscard]] static TiledWork work(const Problem& problem, const Signaled& config);
};

}  // namespace overlaptune
