#pragma once
// One collective on buffers in the standard layout.

#include "core/problem.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// The address of element `index` of a matrix.
[[nodiscard]] inline std::byte* at(void* base, std::int64_t index, Dtype dtype) {
  return static_cast<std::byte*>(base) + index * bytes_of(dtype);
}
[[nodiscard]] inline const std::byte* at(const void* base, std::int64_t index, Dtype dtype) {
  return static_cast<const std::byte*>(base) + index * bytes_of(dtype);
}

/// The key of the communicator that a collective uses, over the first `ranks` ranks. `ctas`: its
/// number of CTAs; `kNcclsChoice` is allowed with NCCL's transports, `kAnySms` with copy engines.
[[nodiscard]] CommKey route(Collective collective, int ranks, int ctas, Transport transport);

/// Collective: makes the communicator of the route. Error (`bad_input`, on every rank): with copy
/// engines or peer access, the ranks cannot reach one another's memory, or there are more ranks
/// than flags; with symmetric kernels, NCCL's windows do not serve.
[[nodiscard]] Expected<void> make_ready(World& world, const CommKey& route);

/// Enqueues a collective. `count`: elements of the whole buffer (`collective_bytes`), which
/// all_reduce (in place, but with peer access, where `receive` may lie anywhere, and what is sent
/// is overwritten) and all_to_all read and write, reduce_scatter reads, and all_gather writes; with
/// e4m3, which is moved and never added, whole 16 bytes for each rank. Copy engines need `receive`
/// in `World::memory`; peer access needs `send` there, for all_gather `receive`.
void enqueue(cudaStream_t stream, World& world, const CommKey& route, Collective collective,
             Dtype dtype, const void* send, void* receive, std::int64_t count);

/// The parts of an all_to_all, in elements: one from each rank to each. The part for rank r begins
/// at `r * send_stride` of what is sent, that from rank r at `r * receive_stride` of what is
/// received.
struct RankParts {
  std::int64_t count = 0;
  std::int64_t send_stride = 0;
  std::int64_t receive_stride = 0;
};

/// Enqueues an all_to_all. Copy engines and peer access need both strides to be `count`.
void enqueue_all_to_all(cudaStream_t stream, World& world, const CommKey& route, Dtype dtype,
                        const void* send, void* receive, const RankParts& parts);

}  // namespace overlaptune::run
