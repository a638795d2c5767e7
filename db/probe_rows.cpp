// Probes as columns. A probe fills the columns of its kind and leaves the others NULL.

#include <variant>

#include "db/rows.hpp"

namespace overlaptune::db {
namespace {

/// The parts of a probe; some probes have a GEMM and a collective.
struct Parts {
  std::string_view kind;
  std::optional<GemmProbe> gemm;
  std::optional<CollectiveProbe> collective;
  std::optional<CopyProbe> copy;
  std::optional<LaunchProbe> launch;
  std::optional<PeerProbe> peer;
  std::optional<LayerProbe> layer;
};

Parts take_apart(const Probe& probe) {
  struct Visitor {
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
  return std::visit(Visitor{}, probe);
}

void put_nulls(Query& query, int count) {
  for (int i = 0; i < count; ++i) query.bind_null();
}

// Number of columns of each part, in the order of kProbeColumns.
constexpr int kGemmColumns = 11;
constexpr int kCollectiveColumns = 5;
constexpr int kCopyColumns = 2;
constexpr int kPeerColumns = 3;
constexpr int kLayerColumns = 3;
// Number of columns of a tile in kMeasuredColumns.
constexpr int kTileColumns = 5;

GemmProbe read_gemm(Query& query) {
  GemmProbe probe;
  probe.m = query.integer();
  probe.n = query.integer();
  probe.k = query.integer();
  probe.elements = query.name<Elements>();
  probe.tile = read_fields<Tile>(query, kTileFields);
  probe.swizzle = query.small_integer();
  probe.sms = query.small_integer();
  return probe;
}

Probe read_probe(Query& query) {
  const std::string kind = query.text();
  const bool concurrent = kind == "concurrent";
  const bool sustained = kind == "sustained";
  Parts parts;
  if (concurrent || sustained || kind == "gemm") {
    parts.gemm = read_gemm(query);
  } else {
    query.skip(kGemmColumns);
  }
  if (concurrent || sustained || kind == "collective") {
    parts.collective = read_fields<CollectiveProbe>(query, kCollectiveProbeFields);
  } else {
    query.skip(kCollectiveColumns);
  }
  if (kind == "copy") {
    parts.copy = read_fields<CopyProbe>(query, kCopyProbeFields);
  } else {
    query.skip(kCopyColumns);
  }
  if (kind == "launch") {
    parts.launch = LaunchProbe{query.name<LaunchCost>()};
  } else {
    query.skip(1);
  }
  if (kind == "peer") {
    parts.peer = read_fields<PeerProbe>(query, kPeerProbeFields);
  } else {
    query.skip(kPeerColumns);
  }
  if (kind == "layer") {
    parts.layer = read_fields<LayerProbe>(query, kLayerProbeFields);
  } else {
    query.skip(kLayerColumns);
  }
  if (concurrent) return ConcurrentProbe{*parts.gemm, *parts.collective};
  if (sustained) return SustainedProbe{*parts.gemm, *parts.collective};
  if (parts.gemm) return *parts.gemm;
  if (parts.collective) return *parts.collective;
  if (parts.copy) return *parts.copy;
  if (parts.launch) return *parts.launch;
  if (parts.peer) return *parts.peer;
  if (parts.layer) return *parts.layer;
  query.damaged("kind '" + kind + "' of a probe is unknown");
}

std::optional<Tile> read_library_tile(Query& query) {
  const auto block_m = query.optional_integer();
  const auto block_n = query.optional_integer();
  const auto block_k = query.optional_integer();
  const auto stages = query.optional_integer();
  const auto cluster = query.optional_integer();
  if (!block_m) return std::nullopt;
  if (!block_n || !block_k || !stages || !cluster) query.damaged("a part of a library's tile");
  return Tile{*block_m, *block_n, *block_k, *stages, *cluster};
}

}  // namespace

void put(Query& query, const Probe& probe) {
  const Parts parts = take_apart(probe);
  query.bind(parts.kind);
  if (const auto& gemm = parts.gemm) {
    query.bind(gemm->m).bind(gemm->n).bind(gemm->k).bind(gemm->elements);
    put_fields(query, kTileFields, gemm->tile);
    query.bind(gemm->swizzle).bind(gemm->sms);
  } else {
    put_nulls(query, kGemmColumns);
  }
  if (const auto& collective = parts.collective) {
    put_fields(query, kCollectiveProbeFields, *collective);
  } else {
    put_nulls(query, kCollectiveColumns);
  }
  if (parts.copy) {
    put_fields(query, kCopyProbeFields, *parts.copy);
  } else {
    put_nulls(query, kCopyColumns);
  }
  if (parts.launch) {
    query.bind(parts.launch->cost);
  } else {
    query.bind_null();
  }
  if (parts.peer) {
    put_fields(query, kPeerProbeFields, *parts.peer);
  } else {
    put_nulls(query, kPeerColumns);
  }
  if (parts.layer) {
    put_fields(query, kLayerProbeFields, *parts.layer);
  } else {
    put_nulls(query, kLayerColumns);
  }
}

void put_measured(Query& query, const Measurement& measurement) {
  put(query, std::optional(measurement.time));
  put(query, measurement.collective_time);
  if (const auto& tile = measurement.library_tile) {
    put_fields(query, kTileFields, *tile);
  } else {
    put_nulls(query, kTileColumns);
  }
  put(query, measurement.conditions);
}

Measurement read_measurement(Query& query) {
  Measurement measurement;
  measurement.probe = read_probe(query);
  const auto time = read_summary(query);
  if (!time) query.damaged("a measurement without a time");
  measurement.time = *time;
  measurement.collective_time = read_summary(query);
  measurement.library_tile = read_library_tile(query);
  measurement.conditions = read_conditions(query);
  if (const auto wrong = complaint(measurement)) query.damaged(*wrong);
  return measurement;
}

}  // namespace overlaptune::db
