// Probes as columns. A probe fills the columns of its kind and leaves the others NULL.

#include <variant>

#include "db/rows.hpp"

namespace overlaptune::db {
namespace {

/// The parts of a probe; some probes have a GEMM and a collective.
struct Parts {
  std::string_view kind;
  std::optional<GemmProbe> gemm{};
  std::optional<CollectiveProbe> collective{};
  std::optional<CopyProbe> copy{};
  std::optional<LaunchProbe> launch{};
  std::optional<PeerProbe> peer{};
  std::optional<LayerProbe> layer{};
};

struct PartsOf {
  Parts operator()(const GemmProbe& p) const { return {.kind = "gemm", .gemm = p}; }
  Parts operator()(const CollectiveProbe& p) const {
    return {.kind = "collective", .collective = p};
  }
  Parts operator()(const ConcurrentProbe& p) const {
    return {.kind = "concurrent", .gemm = p.gemm, .collective = p.collective};
  }
  Parts operator()(const SustainedProbe& p) const {
    return {.kind = "sustained", .gemm = p.gemm, .collective = p.collective};
  }
  Parts operator()(const CopyProbe& p) const { return {.kind = "copy", .copy = p}; }
  Parts operator()(const LaunchProbe& p) const { return {.kind = "launch", .launch = p}; }
  Parts operator()(const PeerProbe& p) const { return {.kind = "peer", .peer = p}; }
  Parts operator()(const LayerProbe& p) const { return {.kind = "layer", .layer = p}; }
};

constexpr int kGemmColumns = 11;
constexpr std::tuple kLaunchProbeFields{Field{"launch_cost", &LaunchProbe::cost}};

std::optional<GemmProbe> read_gemm(Query& query, bool is_there) {
  if (!is_there) {
    query.skip(kGemmColumns);
    return std::nullopt;
  }
  GemmProbe probe;
  query.read(probe.m, probe.n, probe.k, probe.elements);
  probe.tile = read_fields<Tile>(query, kTileFields);
  query.read(probe.swizzle, probe.sms);
  return probe;
}

/// A part of a probe, whose columns are passed over where it is not there.
template <class T, class... Fields>
std::optional<T> read_part(Query& query, const std::tuple<Fields...>& fields, bool is_there) {
  if (is_there) return read_fields<T>(query, fields);
  query.skip(sizeof...(Fields));
  return std::nullopt;
}

Probe read_probe(Query& query) {
  const std::string kind = query.text();
  const bool concurrent = kind == "concurrent";
  const bool sustained = kind == "sustained";
  const bool both = concurrent || sustained;
  const auto gemm = read_gemm(query, both || kind == "gemm");
  const auto collective =
      read_part<CollectiveProbe>(query, kCollectiveProbeFields, both || kind == "collective");
  const auto copy = read_part<CopyProbe>(query, kCopyProbeFields, kind == "copy");
  const auto launch = read_part<LaunchProbe>(query, kLaunchProbeFields, kind == "launch");
  const auto peer = read_part<PeerProbe>(query, kPeerProbeFields, kind == "peer");
  const auto layer = read_part<LayerProbe>(query, kLayerProbeFields, kind == "layer");
  if (concurrent) return ConcurrentProbe{*gemm, *collective};
  if (sustained) return SustainedProbe{*gemm, *collective};
  if (gemm) return *gemm;
  if (collective) return *collective;
  if (copy) return *copy;
  if (launch) return *launch;
  if (peer) return *peer;
  if (layer) return *layer;
  query.damaged("kind '" + kind + "' of a probe is unknown");
}

}  // namespace

void put(Query& query, const Probe& probe) {
  const Parts parts = std::visit(PartsOf{}, probe);
  query.bind(parts.kind);
  if (const auto& gemm = parts.gemm) {
    query.bind(gemm->m).bind(gemm->n).bind(gemm->k).bind(gemm->elements);
    put_fields(query, kTileFields, gemm->tile);
    query.bind(gemm->swizzle).bind(gemm->sms);
  } else {
    for (int i = 0; i < kGemmColumns; ++i) query.bind_null();
  }
  put_fields(query, kCollectiveProbeFields, parts.collective);
  put_fields(query, kCopyProbeFields, parts.copy);
  put_fields(query, kLaunchProbeFields, parts.launch);
  put_fields(query, kPeerProbeFields, parts.peer);
  put_fields(query, kLayerProbeFields, parts.layer);
}

void put_measured(Query& query, const Measurement& measurement) {
  put_fields(query, kSummaryFields, measurement.time);
  put_fields(query, kSummaryFields, measurement.collective_time);
  put_fields(query, kTileFields, measurement.library_tile);
  put_fields(query, kConditionsFields, measurement.conditions);
}

Measurement read_measurement(Query& query) {
  Measurement measurement;
  measurement.probe = read_probe(query);
  const auto time = read_summary(query);
  if (!time) query.damaged("a measurement without a time");
  measurement.time = *time;
  measurement.collective_time = read_summary(query);
  measurement.library_tile = read_optional<Tile>(query, kTileFields, "a part of a library's tile");
  measurement.conditions = read_fields<Conditions>(query, kConditionsFields);
  if (const auto wrong = complaint(measurement)) query.damaged(*wrong);
  return measurement;
}

}  // namespace overlaptune::db
