#include "tuner/held_out_errors.hpp"

#include <algorithm>
#include <cmath>

#include <spdlog/spdlog.h>

#include "core/statistics.hpp"

namespace overlaptune {
namespace {

std::string kind_of(const HeldOutPoint& point) {
  if (const auto* collective = std::get_if<CollectiveProbe>(&point.probe)) {
    return std::string(to_string(collective->collective));
  }
  const auto* gemm = std::get_if<GemmProbe>(&point.probe);
  return gemm == nullptr || gemm->tile.is_library() ? "gemm" : "generated gemm";
}

}  // namespace

Expected<HeldOut> measure_held_out(Machine& machine, const Model& model,
                                   std::span<const Probe> probes, const Progress& progress) {
  HeldOut result;
  for (std::size_t i = 0; i < probes.size(); ++i) {
    const Probe& probe = probes[i];
    if (!progress(i, probes.size(), to_string(probe))) break;
    const auto predicted = model.predict(probe);
    const auto measured = machine.measure(probe);
    if (!measured && measured.error().kind != ErrorKind::bad_input) return error_of(measured);
    if (!measured || !predicted) {
      spdlog::warn("{}: left out: {}", to_string(probe),
                   (measured ? predicted.error() : measured.error()).message);
      ++result.left_out;
      continue;
    }
    result.points.push_back({probe, measured->time.median, *predicted});
  }
  return result;
}

std::vector<ErrorsOfKind> errors_by_kind(std::span<const HeldOutPoint> points) {
  const std::string all = "collectives";
  std::vector<std::pair<std::string, std::vector<double>>> kinds{{all, {}}};
  for (const HeldOutPoint& point : points) {
    const double error = std::abs(point.predicted / point.measured - 1);
    if (std::holds_alternative<CollectiveProbe>(point.probe)) kinds.front().second.push_back(error);
    const std::string kind = kind_of(point);
    auto found = std::ranges::find_if(kinds, [&](const auto& each) { return each.first == kind; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {kind, {}});
    found->second.push_back(error);
  }
  std::vector<ErrorsOfKind> list;
  for (const auto& [kind, errors] : kinds) {
    if (errors.empty()) continue;
    list.push_back({kind, errors.size(), quantile(errors, 0.5), quantile(errors, 0.9),
                    quantile(errors, 1), mean(errors)});
  }
  return list;
}

}  // namespace overlaptune
