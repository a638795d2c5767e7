#pragma once
// How the wave groups of `signaled` become part of the result as their signals come. To add a way:
// a class in group_exchange.cpp, and a line at its end.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/copies.hpp"
#include "run/strategies.hpp"

namespace overlaptune::run {

class GroupExchange {
 public:
  virtual ~GroupExchange() = default;
  GroupExchange(const GroupExchange&) = delete;
  GroupExchange& operator=(const GroupExchange&) = delete;

  /// One for each group, in device memory: what the GEMM counts finished tiles with.
  [[nodiscard]] virtual std::uint32_t* counters() const = 0;

  /// Where the tiles store: one a region, in the order of the tiles.
  [[nodiscard]] virtual std::vector<OwnSegment> segments(const Operands& operands) const = 0;

  /// All groups in their order, each once its signal is there (none: at once). Enqueues only. On
  /// ranks that take part.
  virtual void enqueue(cudaStream_t stream, const Operands& operands,
                       std::span<const std::optional<Signal>> signals) = 0;

 protected:
  GroupExchange() = default;
};

/// By the request's routes, made ready. `cuts`: one after each group.
[[nodiscard]] std::unique_ptr<GroupExchange> make_group_exchange(const Request& request,
                                                                 const TileOrder& order,
                                                                 std::span<const Cut> cuts);

}  // namespace overlaptune::run
