#pragma once
// How the wave groups of `signaled` become part of the result as their signals come. To add a way:
// a class in group_exchange.cpp, and a line in `make_group_exchange`.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/generated_gemm.hpp"
#include "run/strategies.hpp"
#include "run/stream_wait.hpp"

namespace overlaptune::run {

class GroupExchange {
 public:
  virtual ~GroupExchange() = default;
  GroupExchange(const GroupExchange&) = delete;
  GroupExchange& operator=(const GroupExchange&) = delete;

  /// One for each group, in device memory: what the GEMM counts finished tiles with.
  [[nodiscard]] virtual std::uint32_t* counters() const = 0;

  /// Where the tiles store: one a region, in the order of the tiles.
  [[nodiscard]] virtual std::vector<GeneratedSegment> segments(const Operands& operands) const = 0;

  /// All groups in their order, each once its signal is there (none: at once). Enqueues only. On
  /// ranks that take part.
  virtual void enqueue(cudaStream_t stream, const Operands& operands,
                       std::span<const std::optional<Signal>> signals) = 0;

 protected:
  GroupExchange() = default;
};

/// Collective: makes the communicators. Error: as `make_ready`.
[[nodiscard]] Expected<std::unique_ptr<GroupExchange>> make_group_exchange(const Request& request);

/// Workspace of the groups. What NCCL moves may be any tiles: they are staged, and in all_to_all
/// received apart. Other transports leave sums of all ranks in place, and stage all else.
[[nodiscard]] std::int64_t workspace_of_groups(const Work& work);

}  // namespace overlaptune::run
