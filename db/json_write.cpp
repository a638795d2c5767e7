// Values to JSON.

#include "db/json_values.hpp"

namespace overlaptune::db {
namespace {

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json to_json(const Problem& problem) {
  return {{"op", to_string(problem.op)},
          {"m", problem.m},
          {"n", problem.n},
          {"k", problem.k},
          {"dtype", to_string(problem.dtype)},
          {"ranks", problem.ranks}};
}

Json to_json(const std::optional<Summary>& summary) {
  if (!summary) return nullptr;
  return {{"median_us", summary->median.count()},
          {"p10_us", summary->p10.count()},
          {"p90_us", summary->p90.count()},
          {"count", summary->count}};
}

Json fields_of(const GemmProbe& probe) {
  return {{"m", probe.m},
          {"n", probe.n},
          {"k", probe.k},
          {"dtype", to_string(probe.dtype)},
          {"block_m", probe.tile.block_m},
          {"block_n", probe.tile.block_n},
          {"block_k", probe.tile.block_k},
          {"stages", probe.tile.stages},
          {"cluster", probe.tile.cluster},
          {"raster", probe.raster},
          {"sms", probe.sms}};
}

Json fields_of(const CollectiveProbe& probe) {
  return {{"collective", to_string(probe.collective)},
          {"bytes", probe.bytes.count},
          {"ranks", probe.ranks},
          {"comm_ctas", probe.comm_ctas},
          {"transport", to_string(probe.transport)}};
}

Json to_json(const Probe& probe) {
  struct Visitor {
    Json operator()(const GemmProbe& p) const { return kind("gemm", fields_of(p)); }
    Json operator()(const CollectiveProbe& p) const { return kind("collective", fields_of(p)); }
    Json operator()(const ConcurrentProbe& p) const {
      return kind("concurrent",
                  {{"gemm", fields_of(p.gemm)}, {"collective", fields_of(p.collective)}});
    }
    Json operator()(const SustainedProbe& p) const {
      return kind("sustained",
                  {{"gemm", fields_of(p.gemm)}, {"collective", fields_of(p.collective)}});
    }
    Json operator()(const CopyProbe& p) const {
      return kind("copy", {{"bytes", p.bytes.count}, {"ctas", p.ctas}});
    }
    Json operator()(const LaunchProbe& p) const {
      return kind("launch", Json::object({{"cost", to_string(p.cost)}}));
    }
    static Json kind(const char* name, const Json& fields) {
      Json made = Json::object();
      made["kind"] = name;
      made.update(fields);
      return made;
    }
  };
  return std::visit(Visitor{}, probe);
}

}  // namespace

Json to_json(const Platform& platform) {
  return {{"fingerprint", fingerprint(platform)},
          {"machine", platform.machine},
          {"name", platform.name},
          {"gpu_model", platform.gpu_model},
          {"gpu_count", platform.gpu_count},
          {"sms", platform.sms},
          {"compute_capability", platform.compute_capability},
          {"memory_bytes", platform.memory.count},
          {"driver_version", platform.driver_version},
          {"cuda_version", platform.cuda_version},
          {"nccl_version", platform.nccl_version},
          {"topology", platform.topology},
          {"transport", platform.link},
          {"multicast_allowed", platform.multicast_allowed},
          {"details", platform.details}};
}

Json to_json(const StoredRun& run, RunKind kind, const std::string& platform) {
  Json made{{"uid", run.uid},
            {"platform", platform},
            {"program_version", run.provenance.program_version},
            {"host", run.provenance.host},
            {"command_line", run.provenance.command_line},
            {"seed", run.provenance.seed},
            {"started_at", run.provenance.started_at},
            {"finished_at", or_null(run.finished_at)}};
  if (kind == RunKind::tuning) made["request"] = run.request;
  return made;
}

Json to_json(const Measurement& measurement) {
  Json library_tile = nullptr;
  if (const auto& tile = measurement.library_tile) {
    library_tile = {{"block_m", tile->block_m},
                    {"block_n", tile->block_n},
                    {"block_k", tile->block_k},
                    {"stages", tile->stages},
                    {"cluster", tile->cluster}};
  }
  return {{"probe", to_json(measurement.probe)},
          {"time", to_json(std::optional(measurement.time))},
          {"collective_time", to_json(measurement.collective_time)},
          {"library_tile", library_tile},
          {"sm_clock_mhz", or_null(measurement.conditions.sm_clock_mhz)},
          {"power_w", or_null(measurement.conditions.power_w)}};
}

Json to_json(const LayerGemm& gemm) {
  return {{"model", gemm.model},
          {"product", to_string(gemm.product)},
          {"parallelism", to_string(gemm.parallelism)},
          {"tokens", gemm.tokens},
          {"times_per_pass", gemm.times_per_pass},
          {"problem", to_json(gemm.problem)}};
}

Json to_json(const Candidate& candidate) {
  Json speedup = nullptr;
  if (candidate.speedup) {
    speedup = {{"median", candidate.speedup->median},
               {"p10", candidate.speedup->p10},
               {"p90", candidate.speedup->p90}};
  }
  return {{"problem", to_json(candidate.problem)},
          {"launch", to_string(candidate.launch)},
          {"config", to_string(candidate.config)},
          {"origin", to_string(candidate.origin)},
          {"rank_by_model", or_null(candidate.rank_by_model)},
          {"predicted_us", candidate.predicted.count()},
          {"verdict", to_string(candidate.verdict)},
          {"reason", candidate.reason},
          {"measured", to_json(candidate.measured)},
          {"speedup", std::move(speedup)},
          {"sm_clock_mhz", or_null(candidate.conditions.sm_clock_mhz)},
          {"power_w", or_null(candidate.conditions.power_w)}};
}

Json to_json(const StoredWinner& stored, const std::string& platform, const std::string& run) {
  return {{"platform", platform},
          {"run", run},
          {"validated_at", stored.validated_at},
          {"candidate", to_json(stored.winner.candidate)},
          {"sequential_us", stored.winner.sequential.count()},
          {"gemm_alone_us", stored.winner.gemm_alone.count()},
          {"collective_alone_us", stored.winner.collective_alone.count()},
          {"overlap_fraction", or_null(stored.winner.overlap_fraction)}};
}

}  // namespace overlaptune::db
