#pragma once
// The properties of each strategy, one row a strategy. Legality and the strategies of a machine
// follow from them. The fields of each strategy are in core/config_fields.hpp.

#include <array>

#include "core/config.hpp"
#include "core/enum_set.hpp"

namespace overlaptune {

/// Where the kernels of a GEMM come from.
enum class GemmFamily {
  library,    ///< cuBLASLt
  generated,  ///< the generated GEMM, compiled at run time for a tile
};

struct StrategyTraits {
  Strategy strategy = Strategy::sequential;
  GemmFamily gemm = GemmFamily::library;
  EnumSet<Op> ops{};
  EnumSet<Transport> transports{};
  int least_ctas = 0;  ///< 1 where 0 would mean nothing
  /// Transports whose collectives a kernel can wait for (`Wait::kernel`).
  EnumSet<Transport> kernel_waits{};
  /// Transports by which the GEMM's own kernel exchanges: a trace shows no collective beside it.
  EnumSet<Transport> in_gemm{};
};

inline constexpr EnumSet<Op> kAllOps = [] {
  EnumSet<Op> all;
  for (const OpTraits& row : kOps) all.insert(row.op);
  return all;
}();

/// The traits of every strategy, in the order of `Strategy`.
inline constexpr std::array<StrategyTraits, 5> kStrategies{{
    {.strategy = Strategy::sequential,
     .gemm = GemmFamily::library,
     .ops = kAllOps,
     .transports = {Transport::ring, Transport::symmetric, Transport::copy_engine,
                    Transport::peer_access}},
    {.strategy = Strategy::chunked,
     .gemm = GemmFamily::library,
     .ops = kAllOps,
     .transports = {Transport::ring, Transport::symmetric},
     .least_ctas = 1},
    // Tiles signal when they end, so the GEMM comes before the collective. Copy engines wait by
    // batched stream operations of the driver, so no kernel waits for them.
    {.strategy = Strategy::signaled,
     .gemm = GemmFamily::generated,
     .ops = {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all},
     .transports = {Transport::ring, Transport::symmetric, Transport::copy_engine,
                    Transport::peer_access},
     .kernel_waits = {Transport::ring, Transport::symmetric, Transport::peer_access}},
    // Tiles wait before they begin, so the collective comes before the GEMM.
    {.strategy = Strategy::waiting,
     .gemm = GemmFamily::generated,
     .ops = {Op::all_gather_gemm},
     .transports = {Transport::copy_engine, Transport::peer_access},
     .in_gemm = {Transport::peer_access}},
    {.strategy = Strategy::peer_store,
     .gemm = GemmFamily::generated,
     .ops = {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all},
     .transports = {Transport::peer_access},
     .in_gemm = {Transport::peer_access}},
}};

[[nodiscard]] constexpr const StrategyTraits& traits_of(Strategy strategy) {
  return kStrategies[static_cast<std::size_t>(strategy)];
}

}  // namespace overlaptune
