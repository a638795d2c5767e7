#include "probes/held_out.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <set>

namespace overlaptune {
namespace {

/// Most draws for each point that is asked for. When they are used up, the points found so far are
/// taken to be all that there are.
constexpr std::int64_t kDrawsPerPoint = 50;

/// Hidden sizes of published models: collectives move whole rows of this many elements.
constexpr std::array<std::int64_t, 8> kWidths{2048, 2560, 3584, 4096, 5120, 6144, 7168, 8192};

}  // namespace

std::vector<Probe> held_out_collectives(std::span<const Measurement> measurements, int count,
                                        std::uint64_t seed) {
  std::set<CollectiveProbe> found;
  std::set<std::string> probed;
  for (const Measurement& measurement : measurements) {
    probed.insert(to_string(measurement.probe));
    if (const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe)) {
      CollectiveProbe setting = *probe;
      setting.bytes = {};
      found.insert(setting);
    }
  }
  std::vector<Probe> list;
  if (found.empty()) return list;
  // In order: the points are the same however the rows are ordered.
  const std::vector<CollectiveProbe> settings(found.begin(), found.end());
  std::mt19937_64 random(seed);
  // mt19937_64 gives the same numbers with every standard library; the standard distributions do
  // not.
  const auto uniform = [&] { return static_cast<double>(random() >> 11) * 0x1p-53; };
  for (std::int64_t draws = kDrawsPerPoint * count; draws > 0 && std::ssize(list) < count;
       --draws) {
    const auto index = static_cast<std::size_t>(uniform() * static_cast<double>(settings.size()));
    CollectiveProbe probe = settings[std::min(index, settings.size() - 1)];
    const auto width = static_cast<std::size_t>(uniform() * kWidths.size());
    const std::int64_t row = kWidths[std::min(width, kWidths.size() - 1)] * bytes_of(Dtype::bf16);
    const std::int64_t step = row * probe.ranks;
    const double bytes = 4096 * std::pow(131072.0, uniform());
    probe.bytes = {std::max<std::int64_t>(1, std::llround(bytes / static_cast<double>(step))) *
                   step};
    if (probed.insert(to_string(probe)).second) list.emplace_back(probe);
  }
  return list;
}

std::vector<Probe> gemms_of(std::span<const Problem> problems) {
  std::vector<Probe> list;
  for (const Problem& problem : problems) {
    const Probe probe =
        GemmProbe{.m = problem.m, .n = problem.n, .k = problem.k, .elements = problem.elements};
    if (std::ranges::find(list, probe) == list.end()) list.push_back(probe);
  }
  return list;
}

}  // namespace overlaptune
