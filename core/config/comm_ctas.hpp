#pragma once
// Numbers of CTAs with a meaning of their own.

namespace overlaptune {

/// Value of `Sequential::comm_ctas`, and of a probe's `comm_ctas`: NCCL chooses the number of CTAs.
inline constexpr int kNcclsChoice = 0;
/// Value of `Signaled::comm_ctas`: the GEMM has one CTA for each tile, and collectives take over
/// the SMs of tiles that end.
inline constexpr int kHandedOver = 0;
/// Value of `Waiting::comm_ctas` by peer access: the tiles of a rank's own rows push them, and no
/// CTA is taken for that.
inline constexpr int kTilesPush = 0;
/// Value of `comm_ctas` with copy engines: they send the rows, and take no CTA.
inline constexpr int kNoCtas = 0;

}  // namespace overlaptune
