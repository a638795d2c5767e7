#include "core/nodes.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/hash.hpp"
#include "core/nccl_variables.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kNetwork = "network ";

std::string name_and_boot() {
  std::array<char, 256> host{};
  static_cast<void>(gethostname(host.data(), host.size() - 1));
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  file >> boot;
  return host.data() + boot;
}

bool are_equal(const std::vector<int>& counts) {
  return std::all_of(counts.begin(), counts.end(), [&](int count) { return count == counts[0]; });
}

}  // namespace

std::string this_node() {
  const auto given = nccl_variable("NCCL_HOSTID");
  return fmt::format("{:016x}", fnv1a(given ? *given : name_and_boot()));
}

Nodes nodes_of(const std::vector<std::string>& nodes) {
  Nodes found;
  std::vector<std::string> seen;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    const auto place = std::find(seen.begin(), seen.end(), nodes[rank]);
    const auto node = static_cast<std::size_t>(place - seen.begin());
    if (place == seen.end()) {
      seen.push_back(nodes[rank]);
      found.ranks.push_back(0);
    } else if (nodes[rank - 1] != nodes[rank]) {
      found.in_turn = true;
    }
    ++found.ranks[node];
  }
  return found;
}

std::string short_shape(const Nodes& nodes) {
  const std::string shape = are_equal(nodes.ranks)
                                ? fmt::format("{}x{}", nodes.ranks.size(), nodes.ranks.front())
                                : fmt::format("{}", fmt::join(nodes.ranks, "+"));
  return shape + (nodes.in_turn ? "-in-turn" : "");
}

std::string shape_in_words(const Nodes& nodes) {
  const std::string shape =
      are_equal(nodes.ranks)
          ? fmt::format("{} nodes x {} GPUs", nodes.ranks.size(), nodes.ranks.front())
          : fmt::format("{} nodes of {} GPUs", nodes.ranks.size(), fmt::join(nodes.ranks, "+"));
  return shape + (nodes.in_turn ? ", ranks in turn" : "");
}

std::string network_link(std::string_view network) {
  return std::string(kNetwork).append(network);
}

bool spans_nodes(const Platform& platform) {
  return platform.link.starts_with(kNetwork);
}

}  // namespace overlaptune
