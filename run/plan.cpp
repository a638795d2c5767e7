#include "run/plan.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/error.hpp"
#include "core/tiling.hpp"
#include "kernels/peer_exchange.hpp"
#include "run/strategies.hpp"

namespace overlaptune::run {
namespace {

std::int64_t rows_of_a(const Problem& problem) {
  return problem.op == Op::all_gather_gemm ? problem.m / problem.ranks : problem.m;
}

Expected<void> signaled_runnable(const Problem& problem, const Config& config) {
  if (problem.op == Op::all_gather_gemm) {
    return bad_input("signaled needs the GEMM before the collective, not all_gather_gemm");
  }
  if (config.tile.is_library()) return bad_input("tile: signaled needs one of ours");
  if (config.comm_ctas == 0 && needs_ctas(config)) {
    return bad_input(
        fmt::format("comm_ctas = 0: transport {} needs one at least", to_string(config.transport)));
  }
  const auto cuts = group_cuts(tile_order(problem, config.tile, config.raster), config);
  if (!cuts) return tl::make_unexpected(cuts.error());
  const auto allowed = [&](const Cut& cut) { return allows(config.transport, cut); };
  if (!std::all_of(cuts->begin(), cuts->end(), allowed)) {
    return bad_input("wave_groups: transport copy_engine needs groups of whole super panels");
  }
  if (config.transport == Transport::peer_access &&
      problem.m / row_blocks(problem) * problem.n >= kernels::PeerExchange::kMostElements) {
    return bad_input("m: too many rows for transport peer_access");
  }
  return {};
}

Expected<void> library_runnable(const Problem& problem, const Config& config) {
  if (!config.tile.is_library()) {
    return bad_input("tile " + to_string(config.tile) + ": strategy " +
                     std::string(to_string(config.strategy)) + " runs the library's");
  }
  if (!is_librarys(config.transport)) {
    return bad_input("transport " + std::string(to_string(config.transport)) +
                     ": for strategy signaled only");
  }
  if (config.strategy == Strategy::chunked) {
    if (auto rows = chunk_rows(problem, config.chunks); !rows) {
      return tl::make_unexpected(rows.error());
    }
  }
  return {};
}

}  // namespace

std::int64_t elements_of_a(const Problem& problem) {
  return rows_of_a(problem) * problem.k;
}
std::int64_t elements_of_b(const Problem& problem) {
  return problem.n * problem.k;
}
std::int64_t elements_of_c(const Problem& problem) {
  const bool scatter = problem.op == Op::gemm_reduce_scatter;
  return (scatter ? problem.m / problem.ranks : problem.m) * problem.n;
}

std::int64_t workspace_bytes(const Problem& problem) {
  return workspace_bytes(problem, {.strategy = Strategy::signaled});
}

std::int64_t workspace_bytes(const Problem& problem, const Config& config) {
  const std::int64_t bytes = collective_bytes(problem).count;
  // Where groups of any tiles are staged, so is what a rank receives of them (sums in place).
  const bool any_groups =
      config.strategy == Strategy::signaled && is_librarys(beside_gemm(config.transport));
  switch (problem.op) {
    case Op::gemm_all_reduce:
      return any_groups ? bytes : 0;
    case Op::gemm_all_to_all:
      return any_groups ? 2 * bytes : bytes;
    default:
      return bytes;
  }
}

Expected<void> runnable(const Problem& problem, const Config& config) {
  if (!is_served(problem, config)) {
    return bad_input(fmt::format("transport {}: there is none for {}",
                                 to_string(beside_gemm(config.transport)),
                                 to_string(collective_of(problem.op))));
  }
  if (auto sound = waits(config); !sound) return sound;
  switch (config.strategy) {
    case Strategy::sequential:
    case Strategy::chunked:
      return library_runnable(problem, config);
    case Strategy::signaled:
      return signaled_runnable(problem, config);
    default:
      return bad_input("strategy " + std::string(to_string(config.strategy)) +
                       ": not available on GPUs yet");
  }
}

Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Problem& problem,
                                          const Config& config, std::span<const Operands> operands,
                                          Mutant mutant) {
  if (auto sound = runnable(problem, config); !sound) return tl::make_unexpected(sound.error());
  const Collective collective = collective_of(problem.op);
  auto on = route(engine.world, collective, problem.ranks, config.comm_ctas,
                  beside_gemm(config.transport));
  if (!on) return tl::make_unexpected(on.error());
  // What stays here is moved by the SMs that the GEMM leaves, and by the others after it.
  if (on->copies) on->ctas = 0;
  CommKey last = *on;
  if (config.transport == Transport::symmetric_then_ring) {
    last = value_or_throw(route(engine.world, collective, problem.ranks, 0, Transport::ring));
  }
  for (const CommKey& key : {*on, last}) {
    if (auto ready = make_ready(engine.world, key); !ready) {
      return tl::make_unexpected(ready.error());
    }
  }
  const Request request{.engine = engine,
                        .problem = problem,
                        .config = config,
                        .operands = operands,
                        .mutant = mutant,
                        .route = *on,
                        .last_route = last};
  switch (config.strategy) {
    case Strategy::sequential:
      return make_sequential(request);
    case Strategy::chunked:
      return make_chunked(request);
    default:
      return make_signaled(request);
  }
}

}  // namespace overlaptune::run
