#pragma once
// The exchange of the wave groups of `signaled`: each group is exchanged after its signal. To add
// another way: write a class in run_group_exchange.cpp, and add a line in `make_group_exchange`.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "run/gemm/generated_gemm.hpp"
#include "run/strategy_runner.hpp"
#include "run/streams/stream_wait.hpp"

namespace overlaptune::run {

class GroupExchange {
 public:
  virtual ~GroupExchange() = default;
  GroupExchange(const GroupExchange&) = delete;
  GroupExchange& operator=(const GroupExchange&) = delete;

  /// The counters of stored tiles, one for each group, in device memory. The GEMM increments them.
  [[nodiscard]] virtual std::uint32_t* counters() const = 0;

  /// The memory into which the tiles store: one segment for each region, in the order of the tiles.
  [[nodiscard]] virtual std::vector<GeneratedSegment> segments(const Operands& operands) const = 0;

  /// Enqueues what comes before the GEMM, on its stream: counters are zero behind it. Returns what
  /// the GEMM's launch is told.
  virtual kernels::Before begin(cudaStream_t stream, const Operands& operands) = 0;

  /// `Plan::places_c`.
  [[nodiscard]] virtual bool places_c() const { return false; }

  /// Enqueues the exchange of all groups, in their order. Each begins once its signal has come, or
  /// at once where it has none. Only ranks that take part call this.
  virtual void enqueue(cudaStream_t stream, const Operands& operands,
                       std::span<const std::optional<Signal>> signals) = 0;

 protected:
  GroupExchange() = default;
};

/// Collective: makes the communicators. Error: as `make_ready`.
[[nodiscard]] Expected<std::unique_ptr<GroupExchange>> make_group_exchange(const Request& request);

}  // namespace overlaptune::run
