#include "core/device.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/text.hpp"
#include "core/gpu_sharing.hpp"
#include "core/network.hpp"
#include "core/nodes.hpp"

namespace overlaptune {
namespace {

/// The model without the words that do not tell models apart: "NVIDIA H200" -> "h200".
std::string short_name(const std::string& model) {
  constexpr std::array<std::string_view, 3> kVendorWords{"nvidia", "geforce", "graphics"};
  std::string name;
  std::istringstream words(model);
  for (std::string word; words >> word;) {
    word = lower_case(std::move(word));
    if (std::ranges::find(kVendorWords, word) != kVendorWords.end()) continue;
    name += (name.empty() ? "" : "-") + word;
  }
  return name.empty() ? "gpu" : name;
}

Expected<void> check_devices(const std::vector<PlacedDevice>& ranks, int ranks_per_gpu) {
  std::map<std::string, int> models;
  std::map<std::string, std::vector<std::size_t>> places;
  for (const PlacedDevice& rank : ranks) ++models[rank.device.model];
  const auto common =
      std::ranges::max_element(models, {}, [](const auto& each) { return each.second; });
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const auto& [host, node, device] = ranks[rank];
    if (device.model != common->first) {
      return unavailable(
          fmt::format("rank {} on {} has a {}, the others have {}: choose GPUs of "
                      "one model (CUDA_VISIBLE_DEVICES)",
                      rank, host, device.model, common->first));
    }
    if (device.pci_bus.empty()) continue;
    std::vector<std::size_t>& sharing = places[host + " " + device.pci_bus];
    sharing.push_back(rank);
    if (sharing.size() > static_cast<std::size_t>(ranks_per_gpu)) {
      return unavailable(fmt::format("ranks {} and {} share GPU {} of {}: start {} a GPU",
                                     sharing[sharing.size() - 2], rank, device.pci_bus, host,
                                     ranks_per_gpu == 1 ? "one rank" : "fewer ranks"));
    }
  }
  return {};
}

Nodes nodes_of(const std::vector<PlacedDevice>& ranks) {
  std::vector<std::string> nodes;
  nodes.reserve(ranks.size());
  for (const PlacedDevice& rank : ranks) nodes.push_back(rank.node);
  return overlaptune::nodes_of(nodes);
}

/// The networks of all ranks, which are one where all hosts are set up alike: "IB", "IB+Socket".
std::string network_of(const std::vector<PlacedDevice>& ranks) {
  std::set<std::string> networks;
  for (const PlacedDevice& rank : ranks) networks.insert(rank.device.network);
  return fmt::format("{}", fmt::join(networks, "+"));
}

/// The link or network that joins the ranks: a part of the platform's name, and two of its fields.
struct Fabric {
  std::string name;
  std::string topology;
  std::string link;
};

Fabric fabric_of(const std::vector<PlacedDevice>& ranks, int ranks_per_gpu) {
  const Device& first = ranks.front().device;
  if (ranks_per_gpu > 1) {
    return {fmt::format("{}-x{}", kSharedLink, ranks.size()), kSharedTopology, kSharedLink};
  }
  const Nodes nodes = nodes_of(ranks);
  if (nodes.ranks.size() == 1) {
    return {fmt::format("{}-x{}", first.link, ranks.size()), first.topology, first.link};
  }
  const std::string network = network_of(ranks);
  return {fmt::format("{}-{}-{}", first.link, short_shape(nodes), short_network(network)),
          fmt::format("{}, {}", shape_in_words(nodes), first.topology), network_link(network)};
}

}  // namespace

Expected<Platform> platform_of(const std::vector<PlacedDevice>& ranks, bool multicast_allowed,
                               int ranks_per_gpu) {
  if (const auto good = check_devices(ranks, ranks_per_gpu); !good) return error_of(good);
  const Device& device = ranks.front().device;
  const Fabric fabric = fabric_of(ranks, ranks_per_gpu);
  return Platform{.machine = "cuda",
                  .name = fmt::format("{}-{}", short_name(device.model), fabric.name),
                  .gpu_model = device.model,
                  .gpu_count = static_cast<int>(ranks.size()),
                  .sms = device.sms,
                  .compute_capability = device.compute_capability,
                  .memory = device.memory,
                  .driver_version = device.driver_version,
                  .cuda_version = device.cuda_version,
                  .nccl_version = device.nccl_version,
                  .topology = fabric.topology,
                  .link = fabric.link,
                  .multicast_allowed = multicast_allowed,
                  .details = fmt::format("power limit {:.0f} W, ECC {}, max clock {:.0f} MHz",
                                         device.power_limit_w, device.ecc ? "on" : "off",
                                         device.max_sm_clock_mhz)};
}

}  // namespace overlaptune
