#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "core/statistics.hpp"
#include "reports/bandwidth.hpp"
#include "reports/conditions.hpp"
#include "reports/page/page_parts.hpp"
#include "reports/peer_matrix.hpp"
#include "reports/products.hpp"
#include "reports/quality/evaluation.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

/// The rows of one platform.
Snapshot only(const Snapshot& snapshot, const PlatformRecord& record) {
  Snapshot part{.platforms = {record}};
  const auto mine = [&](const auto& row) { return row.platform == record.stored.id; };
  std::copy_if(snapshot.winners.begin(), snapshot.winners.end(), std::back_inserter(part.winners),
               mine);
  std::copy_if(snapshot.candidates.begin(), snapshot.candidates.end(),
               std::back_inserter(part.candidates), mine);
  return part;
}

OrderedJson summary_of(const Snapshot& part) {
  std::vector<double> speedups;
  std::vector<double> hidden;
  int faster = 0;
  for (const StoredWinner& row : part.winners) {
    if (const auto ratio = speedup(row.winner)) speedups.push_back(*ratio);
    if (const auto fraction = hidden_fraction(row.winner)) hidden.push_back(*fraction);
    if (strategy_of(row.winner.candidate.config) != kBaseline) ++faster;
  }
  return {{"winners", part.winners.size()},
          {"overlapped", faster},
          {"speedup_geomean", rounded(geometric_mean(speedups))},
          {"hidden_count", hidden.size()},
          {"hidden_mean", rounded(mean(hidden))}};
}

OrderedJson evaluation_of(const Snapshot& part, int shortlist) {
  const Evaluation evaluation = evaluate(part, part.platforms.front().stored.id, shortlist);
  return {{"count", evaluation.error.count},
          {"error_mean", rounded(evaluation.error.mean)},
          {"error_p90", rounded(evaluation.error.p90)},
          {"problems", evaluation.regret.problems},
          {"shortlist", shortlist},
          {"regret_top1_mean", rounded(evaluation.regret.top1_mean)},
          {"regret_shortlist_mean", rounded(evaluation.regret.shortlist_mean)}};
}

/// The time that a forward pass spends in the products of a model.
struct Pass {
  double sequential_us = 0;
  double overlapped_us = 0;  ///< by the paired speedups
  int products = 0;
  bool complete = true;  ///< each of its products has a winner
};

/// The passes whose products all have a winner.
OrderedJson passes_of(const Snapshot& part) {
  std::map<std::pair<Problem, Launch>, const Winner*> winners;
  for (const StoredWinner& row : part.winners) {
    const Candidate& candidate = row.winner.candidate;
    winners.emplace(std::pair{candidate.problem, candidate.launch}, &row.winner);
  }
  using Key = std::tuple<std::string, int, Parallelism, std::int64_t, Launch>;
  std::map<Key, Pass> passes;
  for (const LayerGemm& gemm : part.platforms.front().layer_gemms) {
    for (const auto& [launch, name] : NamesOf<Launch>::all) {
      Pass& pass = passes[{gemm.model, gemm.problem.ranks, gemm.parallelism, gemm.tokens, launch}];
      const auto found = winners.find({gemm.problem, launch});
      const auto ratio = found == winners.end() ? std::nullopt : speedup(*found->second);
      if (!ratio) {
        pass.complete = false;
        continue;
      }
      const double times = static_cast<double>(gemm.times_per_pass);
      pass.sequential_us += times * found->second->sequential.count();
      pass.overlapped_us += times * found->second->sequential.count() / *ratio;
      ++pass.products;
    }
  }
  OrderedJson list = OrderedJson::array();
  for (const auto& [key, pass] : passes) {
    if (!pass.complete) continue;
    const auto& [model, ranks, parallelism, tokens, launch] = key;
    list.push_back({{"model", model},
                    {"ranks", ranks},
                    {"parallelism", to_string(parallelism)},
                    {"tokens", tokens},
                    {"launch", to_string(launch)},
                    {"products", pass.products},
                    {"sequential_us", rounded(pass.sequential_us)},
                    {"overlapped_us", rounded(pass.overlapped_us)}});
  }
  return list;
}

/// The fastest copy from a GPU to its neighbour, in 10^9 bytes per second; null if none was probed.
OrderedJson fastest_copy(const std::vector<Measurement>& measurements) {
  double fastest = 0;
  for (const Measurement& measurement : measurements) {
    if (const auto* copy = std::get_if<CopyProbe>(&measurement.probe)) {
      fastest = std::max(fastest, algorithm_bandwidth(copy->bytes, measurement.time.median));
    }
  }
  return fastest > 0 ? rounded(fastest) : OrderedJson();
}

/// The links of the peer matrix, row after row, as [GB/s, latency]; null if no pair was probed.
OrderedJson peers_of(const std::vector<Measurement>& measurements) {
  const auto matrix = peer_matrix(measurements);
  if (!matrix) return {};
  OrderedJson links = OrderedJson::array();
  for (const PeerLink& link : matrix->links) {
    links.push_back({link.gb_per_s ? rounded(*link.gb_per_s) : OrderedJson(),
                     link.latency ? rounded(link.latency->count()) : OrderedJson()});
  }
  return {{"gpus", matrix->gpus}, {"links", std::move(links)}};
}

OrderedJson run_of(const PlatformRecord& record) {
  if (!record.last_run) return {};
  const Provenance& provenance = record.last_run->provenance;
  return {{"host", provenance.host},
          {"at", provenance.started_at},
          {"version", provenance.program_version},
          {"finished", record.last_run->finished}};
}

OrderedJson conditions_of(const Snapshot& part) {
  OrderedJson list = OrderedJson::array();
  for (const OrderedJson& row : to_json_rows(conditions(part))) {
    list.push_back({row.at("condition"), row.at("value")});
  }
  return list;
}

}  // namespace

OrderedJson page_platforms(const PageInput& input) {
  OrderedJson list = OrderedJson::array();
  for (const PlatformRecord& record : input.snapshot.platforms) {
    const Platform& platform = record.stored.platform;
    const Snapshot part = only(input.snapshot, record);
    list.push_back({{"name", input.snapshot.platform_name(record.stored.id)},
                    {"simulated", is_simulated(platform)},
                    {"fingerprint", fingerprint(platform)},
                    {"gpu_model", platform.gpu_model},
                    {"gpu_count", platform.gpu_count},
                    {"topology", platform.topology},
                    {"link", platform.link},
                    {"driver", platform.driver_version},
                    {"cuda", platform.cuda_version},
                    {"nccl", platform.nccl_version},
                    {"multicast", platform.multicast_allowed},
                    {"copy_gb_per_s", fastest_copy(record.measurements)},
                    {"peers", peers_of(record.measurements)},
                    {"run", run_of(record)},
                    {"summary", summary_of(part)},
                    {"evaluation", evaluation_of(part, input.shortlist)},
                    {"passes", passes_of(part)},
                    {"conditions", conditions_of(part)}});
  }
  return list;
}

}  // namespace overlaptune
