#pragma once
// One collective on buffers in the standard layout.

#include "core/problem.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// What a collective of that kind takes on the first `ranks` ranks. `ctas`: how many CTAs it has;
/// or `kNcclsChoice` with NCCL's transports, `kAnySms` with copy engines.
[[nodiscard]] CommKey route(Collective collective, int ranks, int ctas, Transport transport);

/// Collective: makes the route's communicator. Error (`bad_input`, on every rank): copies or peer
/// access where the GPUs cannot reach one another's memory, or for more ranks than there are flags.
[[nodiscard]] Expected<void> make_ready(World& world, const CommKey& route);

/// `count` elements are the whole buffer (`collective_bytes`): what all_reduce reads and writes,
/// reduce_scatter reads, all_gather writes, all_to_all reads and writes. Enqueues only.
void enqueue(cudaStream_t stream, World& world, const CommKey& route, Collective collective,
             Dtype dtype, const void* send, void* receive, std::int64_t count);

/// Rank r's piece `r` of `send` (each `count` elements) goes to `receive[its rank]`, pieces of the
/// receiver `stride` elements apart.
void enqueue_all_to_all(cudaStream_t stream, World& world, const CommKey& route, Dtype dtype,
                        const void* send, void* receive, std::int64_t count, std::int64_t stride);

}  // namespace overlaptune::run
