#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "core/timeline_activities.hpp"
#include "reports/bandwidth.hpp"
#include "reports/page/page_parts.hpp"
#include "reports/phases.hpp"
#include "reports/quality/evaluation.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kMostCandidates = 4000;  // more points cannot be told apart in a figure
constexpr std::size_t kMostFailures = 500;

OrderedJson optional_of(const std::optional<double>& value) {
  return value ? rounded(*value) : OrderedJson();
}

OrderedJson optional_of(const std::optional<Microseconds>& time) {
  return time ? rounded(time->count()) : OrderedJson();
}

/// The predicted run: the parts of its GEMM as [begin, end], its groups as [ready, start, end,
/// exposed], from the start of the config.
OrderedJson run_json(const PredictedRun& run, Op op) {
  OrderedJson gemm = OrderedJson::array();
  for (const Activity& activity : activities_of(run.timeline, op)) {
    if (activity.kind != ActivityKind::gemm) continue;
    gemm.push_back({rounded(activity.start.count()), rounded(activity.end.count())});
  }
  OrderedJson groups = OrderedJson::array();
  for (const GroupTimes& group : run.timeline.groups) {
    groups.push_back({rounded(group.ready.count()), rounded(group.start.count()),
                      rounded(group.end.count()), rounded(group.exposed.count())});
  }
  return {{"time", rounded(run.time.count())},
          {"gemm", std::move(gemm)},
          {"groups", std::move(groups)}};
}

OrderedJson pair_json(const std::optional<PredictedPair>& pair, Op op) {
  if (!pair) return {};
  return {{"winner", run_json(pair->winner, op)}, {"sequential", run_json(pair->sequential, op)}};
}

/// The regret of the model's first choice, by problem.
std::map<ProblemKey, double> regrets(const Snapshot& snapshot, int shortlist) {
  std::map<ProblemKey, double> all;
  for (const auto& [key, rows] : newest_by_problem(snapshot.candidates)) {
    if (const auto regret = regret_of(rows, shortlist)) all.emplace(key, regret->top1);
  }
  return all;
}

OrderedJson table(std::string_view columns) {
  OrderedJson names = OrderedJson::array();
  for (const Column& column : columns_of(columns)) names.push_back(column.name);
  return {{"columns", std::move(names)}, {"rows", OrderedJson::array()}};
}

}  // namespace

OrderedJson page_winners(const PageInput& input, const PlatformIndex& platforms) {
  OrderedJson made = table(
      "platform, op, m, n, k, dtype, ranks, launch, model, product, parallelism, tokens, times, "
      "strategy, partition, config, predicted_us, measured_us, p10_us, p90_us, sequential_us, "
      "gemm_us, collective_us, speedup, speedup_p10, speedup_p90, hidden, overlap, cold, beside, "
      "regret, validated_at, timeline");
  const WinnerPhases phases(input.snapshot);
  const auto all_regrets = regrets(input.snapshot, input.shortlist);
  for (std::size_t i = 0; i < input.snapshot.winners.size(); ++i) {
    const StoredWinner& row = input.snapshot.winners[i];
    const Candidate& candidate = row.winner.candidate;
    const Problem& problem = candidate.problem;
    const auto regret = all_regrets.find({row.platform, problem, candidate.launch});
    const auto& measured = candidate.measured;
    const auto& paired = candidate.speedup;
    const OrderedJson before{platforms.at(row.platform),
                             to_string(problem.op),
                             problem.m,
                             problem.n,
                             problem.k,
                             to_string(problem.elements),
                             problem.ranks,
                             to_string(candidate.launch)};
    const OrderedJson after{
        to_string(strategy_of(candidate.config)),
        brief_partition(candidate.config),
        to_string(candidate.config),
        rounded(candidate.predicted.count()),
        optional_of(part_of(measured, &Summary::median)),
        optional_of(part_of(measured, &Summary::p10)),
        optional_of(part_of(measured, &Summary::p90)),
        rounded(row.winner.sequential.count()),
        rounded(row.winner.gemm_alone.count()),
        rounded(row.winner.collective_alone.count()),
        optional_of(speedup(row.winner)),
        optional_of(part_of(paired, &Candidate::Speedup::p10)),
        optional_of(part_of(paired, &Candidate::Speedup::p90)),
        optional_of(hidden_fraction(row.winner)),
        optional_of(row.winner.overlap_fraction),
        optional_of(phases.speedup(row, RunPhase::cold)),
        optional_of(phases.speedup(row, RunPhase::beside)),
        regret == all_regrets.end() ? OrderedJson() : rounded(regret->second),
        row.validated_at,
        pair_json(i < input.predicted.size() ? input.predicted[i] : std::nullopt, problem.op)};
    const auto add = [&](const OrderedJson& product) {
      OrderedJson cells = before;
      cells.insert(cells.end(), product.begin(), product.end());
      cells.insert(cells.end(), after.begin(), after.end());
      made["rows"].push_back(std::move(cells));
    };
    const auto products = input.snapshot.products(row.platform, problem);
    for (const LayerGemm& gemm : products) {
      add({gemm.model, to_string(gemm.product), to_string(gemm.parallelism), gemm.tokens,
           gemm.times_per_pass});
    }
    if (products.empty()) add({nullptr, nullptr, nullptr, nullptr, nullptr});
  }
  return made;
}

OrderedJson page_candidates(const Snapshot& snapshot, const PlatformIndex& platforms) {
  std::vector<const StoredCandidate*> measured;
  for (const auto& [key, rows] : newest_by_problem(snapshot.candidates)) {
    std::copy_if(rows.begin(), rows.end(), std::back_inserter(measured),
                 [](const auto* row) { return counts(row->candidate); });
  }
  OrderedJson made = table("platform, problem, strategy, config, rank, predicted_us, measured_us");
  const std::size_t step = measured.size() / kMostCandidates + 1;
  for (std::size_t i = 0; i < measured.size(); i += step) {
    const Candidate& candidate = measured[i]->candidate;
    made["rows"].push_back(
        {platforms.at(measured[i]->platform), to_string(candidate.problem),
         to_string(strategy_of(candidate.config)), to_string(candidate.config),
         candidate.rank_by_model ? OrderedJson(*candidate.rank_by_model) : OrderedJson(),
         rounded(candidate.predicted.count()), rounded(candidate.measured->median.count())});
  }
  made["total"] = measured.size();
  return made;
}

OrderedJson page_collectives(const Snapshot& snapshot, const PlatformIndex& platforms) {
  OrderedJson made =
      table("platform, collective, ranks, transport, comm_ctas, bytes, time_us, bus_factor");
  for (const PlatformRecord& record : snapshot.platforms) {
    std::vector<std::pair<CollectiveProbe, Microseconds>> points;
    for (const Measurement& measurement : record.measurements) {
      if (const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe)) {
        points.emplace_back(*probe, measurement.time.median);
      }
    }
    std::sort(points.begin(), points.end());
    for (const auto& [probe, time] : points) {
      made["rows"].push_back({platforms.at(record.stored.id), to_string(probe.collective),
                              probe.ranks, to_string(probe.transport), probe.comm_ctas,
                              probe.bytes.count, rounded(time.count()),
                              bus_factor(probe.collective, probe.ranks)});
    }
  }
  return made;
}

OrderedJson page_failures(const Snapshot& snapshot, const PlatformIndex& platforms) {
  OrderedJson made = table("platform, problem, config, verdict, reason");
  std::size_t total = 0;
  for (auto row = snapshot.candidates.rbegin(); row != snapshot.candidates.rend(); ++row) {
    const Candidate& candidate = row->candidate;
    if (candidate.verdict == Verdict::valid || ++total > kMostFailures) continue;
    made["rows"].push_back({platforms.at(row->platform), to_string(candidate.problem),
                            to_string(candidate.config), to_string(candidate.verdict),
                            candidate.reason});
  }
  made["total"] = total;
  return made;
}

}  // namespace overlaptune
