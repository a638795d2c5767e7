#include "tests/gpu/plan_check/nodes.hpp"

#include <string_view>

#include <fmt/format.h>

#include "core/config/check.hpp"
#include "tests/gpu/plan_check/every_config.hpp"

namespace overlaptune::plan_check {
namespace {

void check_platform(Bench& bench, Results& results) {
  const Placement& placement = bench.process().placement();
  ovt_platform platform{};
  platform.size = sizeof platform;
  check(ovt_platform_detect(bench.world(), &platform));
  const auto shape = fmt::format("-{}x{}-socket", placement.nodes, placement.ranks_per_node());
  const bool right = std::string_view(platform.name).ends_with(shape) &&
                     std::string_view(platform.transport) == "network Socket";
  results.row("the platform's nodes", bench.largest(right ? 0 : 1) == 0,
              fmt::format("{}: {}, {}", platform.name, platform.topology, platform.transport));
}

/// The refusal of CUDA IPC names hosts, that of NCCL's windows an NVLink domain.
bool tells_why(const std::string& error) {
  return error.find("several hosts") != error.npos || error.find("NVLink domain") != error.npos;
}

}  // namespace

bool needs_peers(const Config& config) {
  const Strategy strategy = strategy_of(config);
  return strategy == strategy_of<Waiting>() || strategy == strategy_of<PeerStore>() ||
         transport_of(config) != Transport::ring;
}

void check_nodes(Bench& bench, Results& results) {
  check_platform(bench, results);
  for (const Op op : {Op::gemm_reduce_scatter, Op::all_gather_gemm}) {
    const Problem of = problem(op, bench.process().ranks());
    for (const Config& config : configs(of)) {
      if (!needs_peers(config) || transport_of(config) == Transport::symmetric) continue;
      const MadePlan plan(bench, of, config);
      const bool right = plan.status() == OVT_ERROR_ARGUMENT && tells_why(plan.error());
      results.row(name_of(of, config) + ": refused between nodes",
                  bench.largest(right ? 0 : 1) == 0,
                  plan.status() == OVT_OK ? "the plan was made" : plan.error());
    }
  }
}

}  // namespace overlaptune::plan_check
