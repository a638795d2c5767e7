#include "planning/schedules/step_clock.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace overlaptune {
namespace {

/// A round of all passes, at full clock.
struct Round {
  Load load{};                        ///< without what the tiles of fused GEMMs load
  std::map<Elements, double> work{};  ///< multiply-adds by the elements of their products
  double loads = 0;                   ///< that
  double apart = 0;                   ///< time of all operations, one after the other
  double overlapped = 0;              ///< with the best fusions
};

double multiply_adds(const GemmSize& size) {
  return static_cast<double>(size.m) * static_cast<double>(size.n) * static_cast<double>(size.k);
}

void add(Round& round, const LayerPass& pass) {
  TaskGraph graph{.fusions = pass.fusions};
  for (const LayerTask& each : pass.tasks) {
    const Task& task = graph.tasks.emplace_back(each.task);
    round.apart += task.us;
    round.overlapped += task.us;
    if (task.resource == Resource::links) round.load.collective += task.us;
    if (!task.is_gemm) continue;
    const auto& [m, n, k] = each.size;
    round.load.gemm += task.us;
    round.load.work += multiply_adds(each.size);
    round.work[task.elements] += multiply_adds(each.size);
    round.load.bytes += product_bytes(m, n, k, task.elements);
  }
  for (const Fusion* fusion : best_fusions(graph)) {
    const LayerTask& gemm = pass.tasks[static_cast<std::size_t>(fusion->compute)];
    round.overlapped -= saved(graph, *fusion);
    round.loads += multiply_adds(gemm.size) * fusion->extra_loads;
  }
}

/// The factor at which the GEMMs of a round draw the power that slows them so much. What overlaps
/// takes its share of the time at any clock.
double settled(const Round& full, double share,
               const std::function<double(const Load&)>& slowdown) {
  constexpr int kHalfSteps = 12;
  double factor = 1;
  for (int i = 0; i < kHalfSteps; ++i) {
    Load load = full.load;
    load.gemm *= factor;
    load.rest = full.apart - full.load.gemm - load.collective;
    load.round = share * (load.gemm + load.collective + load.rest);
    factor = (factor + slowdown(load)) / 2;
  }
  return factor;
}

}  // namespace

StepClocks step_clocks(const LayerOperations& operations,
                       const std::function<double(const Load&)>& slowdown) {
  Round round;
  add(round, operations.forward);
  add(round, operations.backward);
  if (round.load.gemm <= 0) return {};
  using Work = std::pair<const Elements, double>;
  round.load.elements = std::ranges::max_element(round.work, {}, &Work::second)->first;
  const double apart = settled(round, 1, slowdown);
  round.load.loads = round.loads;
  return {.apart = apart, .overlapped = settled(round, round.overlapped / round.apart, slowdown)};
}

}  // namespace overlaptune
