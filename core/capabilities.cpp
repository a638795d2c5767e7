#include "core/capabilities.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/gpu_sharing.hpp"
#include "core/link.hpp"
#include "core/nodes.hpp"

namespace overlaptune {
namespace {

/// Whether NCCL's symmetric kernels end when a rank is lost: since 2.29.7 they look whether their
/// communicator is aborted (run/nccl.hpp). A version that is none is not judged.
bool symmetric_kernels_end(const std::string& nccl_version) {
  constexpr std::array kFirst{2, 29, 7};
  std::array<int, 3> version{};
  const char* from = nccl_version.data();
  const char* const end = from + nccl_version.size();
  for (int& number : version) {
    const auto [behind, error] = std::from_chars(from, end, number);
    if (error != std::errc{}) break;
    from = behind < end ? behind + 1 : end;
  }
  return version >= kFirst || version.front() == 0;
}

}  // namespace

EnumSet<GemmFamily> gemm_families(int compute_capability) {
  constexpr int kAmpere = 80;  // the first with the instructions of the portable kernel
  EnumSet<GemmFamily> families{GemmFamily::library};
  if (compute_capability >= kAmpere) families.insert(GemmFamily::generated);
  return families;
}

Capabilities capabilities_of(const Platform& platform) {
  Capabilities capabilities{.ranks = platform.gpu_count,
                            .sms = platform.sms,
                            .limits = gpu_limits(platform.compute_capability)};
  // Ranks that share a GPU run all that the run library has, so that it can be proved. They lack
  // NCCL's windows, which do not reach the peers.
  const bool is_shared = platform.link == kSharedLink;
  const bool is_cuda = is_shared || platform.machine == "cuda";
  // Only over NVLink is the memory of peers worth a strategy or a transport of its own.
  if (!is_shared && !is_link(platform.link, Link::nvlink)) {
    capabilities.strategies = strategies_where(
        [](const StrategyTraits& traits) { return !traits.needs.contains(Need::peer_memory); });
    if (is_cuda) capabilities.transports = {Transport::ring};
  }
  if (is_shared || (is_cuda && !symmetric_kernels_end(platform.nccl_version))) {
    capabilities.transports.erase(Transport::symmetric);
  }
  if (spans_nodes(platform)) {
    capabilities.apart =
        fmt::format("it needs the memory of peers, and {} joins their nodes", platform.link);
  }
  if (is_cuda) {
    capabilities.comm_ctas = kMostChannels;
    capabilities.gemms = gemm_families(platform.compute_capability);
  }
  return capabilities;
}

std::vector<Transport> transports_of(const Capabilities& capabilities) {
  std::vector<Transport> list;
  for (const auto& [transport, name] : NamesOf<Transport>::all) {
    if (capabilities.transports.contains(transport)) list.push_back(transport);
  }
  return list;
}

bool has_kernel(const Capabilities& capabilities, Strategy strategy) {
  const StrategyTraits& traits = traits_of(strategy);
  const auto& limits = capabilities.limits;
  if (traits.needs.contains(Need::queue) && limits && !limits->queue) return false;
  return capabilities.gemms.contains(traits.gemm);
}

std::vector<Strategy> strategies_of(const Capabilities& capabilities) {
  std::vector<Strategy> list;
  for (const StrategyTraits& traits : kStrategies) {
    if (has_kernel(capabilities, traits.strategy) &&
        capabilities.strategies.contains(traits.strategy)) {
      list.push_back(traits.strategy);
    }
  }
  return list;
}

std::string abilities_in_words(const Platform& platform) {
  constexpr int kHopper = 90;
  std::string words;
  const Capabilities capabilities = capabilities_of(platform);
  for (const Strategy strategy : strategies_of(capabilities)) {
    words += (words.empty() ? "" : ", ") + std::string(to_string(strategy));
  }
  const bool generated = capabilities.gemms.contains(GemmFamily::generated);
  if (!generated) return words + "; no generated kernel";
  if (platform.compute_capability == kHopper) return words;
  return words + "; the portable kernel, not tried on such GPUs";
}

std::string left_out_in_words(const Platform& platform) {
  if (!spans_nodes(platform)) return "";
  const Capabilities here = capabilities_of(platform);
  Platform one_node = platform;
  one_node.link = to_string(Link::nvlink);
  const Capabilities all = capabilities_of(one_node);
  std::vector<std::string_view> names;
  for (const Strategy strategy : strategies_of(all)) {
    if (!here.strategies.contains(strategy)) names.push_back(to_string(strategy));
  }
  for (const Transport transport : transports_of(all)) {
    if (!here.transports.contains(transport)) names.push_back(to_string(transport));
  }
  return fmt::format("{}, joined by {}: left out, as they need the memory of peers: {}",
                     platform.topology, platform.link, fmt::join(names, ", "));
}

}  // namespace overlaptune
