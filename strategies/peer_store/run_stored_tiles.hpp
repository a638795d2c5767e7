#pragma once
// The description of the GEMM of `peer_store`, for one rank.

#include <vector>

#include "core/problem.hpp"
#include "run/gemm/generated_kernel.hpp"
#include "strategies/peer_store/store_order.hpp"

namespace overlaptune::run {

/// Stores and waits of the GEMM of rank `rank`. `peers`: the memory of every rank.
/// `signals_a_tile`: that of the GEMM.
[[nodiscard]] GeneratedStores stores_of(const Problem& problem, const StoreOrder& order, int rank,
                                        std::vector<GeneratedStores::Peer> peers,
                                        int signals_a_tile);

/// Bytes of the slots of a rank; 0 where tiles go to their place at once.
[[nodiscard]] std::int64_t bytes_of_slots(const Problem& problem, const StoreOrder& order);

}  // namespace overlaptune::run
