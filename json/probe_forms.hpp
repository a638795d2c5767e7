#pragma once
// The kinds of probes as JSON: the same in messages between processes and in exports, but for the
// tile of a GEMM, which one of them nests.

#include <string>
#include <tuple>

#include "core/measurement.hpp"
#include "json/fields.hpp"

namespace overlaptune {

/// The alternatives of `Probe` with their names and forms; `gemm` is the form of a `GemmProbe`.
template <class GemmForm>
[[nodiscard]] constexpr auto probe_forms(GemmForm gemm) {
  constexpr Object kCollective(kCollectiveProbeFields);
  return std::tuple(
      alternative<GemmProbe>("gemm", gemm), alternative<CollectiveProbe>("collective", kCollective),
      alternative<ConcurrentProbe>(
          "concurrent", Object(field("gemm", &ConcurrentProbe::gemm, gemm),
                               field("collective", &ConcurrentProbe::collective, kCollective))),
      alternative<SustainedProbe>(
          "sustained", Object(field("gemm", &SustainedProbe::gemm, gemm),
                              field("collective", &SustainedProbe::collective, kCollective))),
      alternative<CopyProbe>("copy", Object(kCopyProbeFields)),
      alternative<LaunchProbe>("launch", Object(Field{"cost", &LaunchProbe::cost})),
      alternative<PeerProbe>("peer", Object(kPeerProbeFields)),
      alternative<LayerProbe>("layer", Object(kLayerProbeFields)));
}

/// "gemm, collective, …": the names of alternatives, for messages.
template <class... T, class... Form>
[[nodiscard]] std::string names_of(const std::tuple<Alternative<T, Form>...>& all) {
  std::string names;
  const auto add = [&](std::string_view name) {
    if (!names.empty()) names += ", ";
    names += name;
  };
  std::apply([&](const auto&... each) { (add(each.name), ...); }, all);
  return names;
}

}  // namespace overlaptune
