#include "machine/cuda/merge.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <string_view>

#include <fmt/format.h>

namespace overlaptune::cuda {
namespace {

using Times = std::vector<Microseconds>;

tl::unexpected<Error> unavailable(std::string message) {
  return tl::make_unexpected(Error{ErrorKind::machine_unavailable, std::move(message)});
}

/// Lists of ranks that took no part are passed over.
Expected<Times> slowest(const std::vector<const Times*>& ranks, std::size_t taking_part) {
  Times slowest = *ranks.front();
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const Times& times = *ranks[rank];
    if (times.empty() && rank >= taking_part) continue;
    if (times.size() != slowest.size()) {
      return unavailable(
          fmt::format("rank {} timed {} repetitions, rank 0 timed {}: all must be of "
                      "the same build",
                      rank, times.size(), slowest.size()));
    }
    for (std::size_t i = 0; i < times.size(); ++i) slowest[i] = std::max(slowest[i], times[i]);
  }
  return slowest;
}

/// `get` names the list within what one rank saw.
template <class T, class F>
Expected<Times> slowest_of(const std::vector<T>& ranks, std::size_t taking_part, F get) {
  std::vector<const Times*> lists;
  lists.reserve(ranks.size());
  for (const T& rank : ranks) lists.push_back(&get(rank));
  return slowest(lists, taking_part);
}

std::size_t ranks_of(const Probe& probe, std::size_t all) {
  int ranks = 0;
  if (const auto* collective = std::get_if<CollectiveProbe>(&probe)) ranks = collective->ranks;
  if (const auto* both = std::get_if<ConcurrentProbe>(&probe)) ranks = both->collective.ranks;
  if (const auto* both = std::get_if<SustainedProbe>(&probe)) ranks = both->collective.ranks;
  return ranks > 0 ? std::min(all, static_cast<std::size_t>(ranks)) : all;
}

/// The lowest clock and the highest power: what held the slowest rank back.
Conditions merged(Conditions all, const Conditions& one) {
  if (one.sm_clock_mhz) {
    all.sm_clock_mhz = std::min(all.sm_clock_mhz.value_or(*one.sm_clock_mhz), *one.sm_clock_mhz);
  }
  if (one.power_w) all.power_w = std::max(all.power_w.value_or(*one.power_w), *one.power_w);
  return all;
}

int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::valid:
      return 0;
    case Verdict::unsupported:
      return 1;
    case Verdict::wrong:
      return 2;
    default:
      return 3;
  }
}

RunResult merged_config(const std::vector<RunReply>& replies, std::size_t config) {
  RunResult result;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const ConfigSamples& samples = replies[rank].configs[config];
    if (severity(samples.verdict) > severity(result.verdict)) {
      result.verdict = samples.verdict;
      result.reason = fmt::format("rank {}: {}", rank, samples.reason);
    }
    if (!samples.times.empty()) result.rank_times.push_back(samples.times);
    result.conditions = merged(result.conditions, samples.conditions);
    result.activities.insert(result.activities.end(), samples.activities.begin(),
                             samples.activities.end());
  }
  // Times of some ranks only say nothing about the slowest.
  if (result.rank_times.size() != replies.size()) result.rank_times.clear();
  return result;
}

/// "NVIDIA H200" -> "h200": without the words that do not tell models apart.
std::string short_name(const std::string& model) {
  constexpr std::array<std::string_view, 3> kVendorWords{"nvidia", "geforce", "graphics"};
  std::string name;
  std::string word;
  const auto finish_word = [&] {
    const bool told = !word.empty() && std::find(kVendorWords.begin(), kVendorWords.end(), word) ==
                                           kVendorWords.end();
    if (told) name += (name.empty() ? "" : "-") + word;
    word.clear();
  };
  for (const char c : model) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) {
      finish_word();
    } else {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  finish_word();
  return name.empty() ? "gpu" : name;
}

Expected<void> check_devices(const std::vector<Hello>& hellos) {
  std::map<std::string, int> models;
  std::map<std::string, int> places;
  for (const Hello& hello : hellos) ++models[hello.device.model];
  const auto common =
      std::max_element(models.begin(), models.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  for (std::size_t rank = 0; rank < hellos.size(); ++rank) {
    const Hello& hello = hellos[rank];
    if (hello.device.model != common->first) {
      return unavailable(
          fmt::format("rank {} on {} has a {}, the others have {}: choose GPUs of "
                      "one model (CUDA_VISIBLE_DEVICES)",
                      rank, hello.host, hello.device.model, common->first));
    }
    if (hello.device.pci_bus.empty()) continue;
    const auto [place, is_new] =
        places.emplace(hello.host + " " + hello.device.pci_bus, static_cast<int>(rank));
    if (!is_new) {
      return unavailable(fmt::format("ranks {} and {} share GPU {} of {}: start one rank a GPU",
                                     place->second, rank, hello.device.pci_bus, hello.host));
    }
  }
  return {};
}

}  // namespace

Expected<Measurement> merge(const Probe& probe, const std::vector<Samples>& samples) {
  const std::size_t ranks = ranks_of(probe, samples.size());
  const auto times =
      slowest_of(samples, ranks, [](const Samples& one) -> const Times& { return one.times; });
  if (!times) return tl::make_unexpected(times.error());
  if (times->empty()) return unavailable("rank 0 timed no repetition of " + to_string(probe));
  const auto others = slowest_of(
      samples, ranks, [](const Samples& one) -> const Times& { return one.collective_times; });
  if (!others) return tl::make_unexpected(others.error());
  Measurement measurement{
      .probe = probe, .time = summarize(*times), .library_tile = samples.front().library_tile};
  if (std::holds_alternative<ConcurrentProbe>(probe)) {
    if (others->empty()) {
      return unavailable("rank 0 timed no collective of " + to_string(probe));
    }
    measurement.collective_time = summarize(*others);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    measurement.conditions = merged(measurement.conditions, samples[rank].conditions);
  }
  return measurement;
}

Expected<std::vector<RunResult>> merge(const std::vector<RunReply>& replies, std::size_t configs) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (replies[rank].configs.size() != configs) {
      return unavailable(fmt::format("rank {} answered for {} configs, expected {}", rank,
                                     replies[rank].configs.size(), configs));
    }
  }
  const std::size_t ranks = replies.size();
  const auto gemm = slowest_of(replies, ranks,
                               [](const RunReply& one) -> const Times& { return one.gemm_alone; });
  if (!gemm) return tl::make_unexpected(gemm.error());
  const auto collective = slowest_of(
      replies, ranks, [](const RunReply& one) -> const Times& { return one.collective_alone; });
  if (!collective) return tl::make_unexpected(collective.error());
  std::vector<RunResult> results;
  for (std::size_t config = 0; config < configs; ++config) {
    RunResult result = merged_config(replies, config);
    for (const Times& times : result.rank_times) {
      if (times.size() != result.rank_times.front().size()) {
        return unavailable(
            fmt::format("config {}: the ranks timed different numbers of repetitions", config));
      }
    }
    result.gemm_alone = *gemm;
    result.collective_alone = *collective;
    results.push_back(std::move(result));
  }
  return results;
}

Expected<Platform> merge(const std::vector<Hello>& hellos, bool multicast_allowed) {
  if (const auto good = check_devices(hellos); !good) return tl::make_unexpected(good.error());
  const Device& device = hellos.front().device;
  const auto count = static_cast<int>(hellos.size());
  return Platform{
      .machine = "cuda",
      .name = fmt::format("{}-{}-x{}", short_name(device.model), device.transport, count),
      .gpu_model = device.model,
      .gpu_count = count,
      .sms = device.sms,
      .compute_capability = device.compute_capability,
      .memory = device.memory,
      .driver_version = device.driver_version,
      .cuda_version = device.cuda_version,
      .nccl_version = device.nccl_version,
      .topology = device.topology,
      .transport = device.transport,
      .multicast_allowed = multicast_allowed,
      .details =
          fmt::format("power limit {:.0f} W, ECC {}, max clock {:.0f} MHz", device.power_limit_w,
                      device.ecc ? "on" : "off", device.max_sm_clock_mhz)};
}

}  // namespace overlaptune::cuda
