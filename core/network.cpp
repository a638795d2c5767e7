#include "core/network.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

#include "core/base/text.hpp"

namespace overlaptune {

std::string network_of(const NetworkFacts& facts) {
  std::vector<std::string> networks;
  const bool needs_verbs = facts.plugin.starts_with("IB");
  if (!facts.plugin.empty() && (facts.verbs || !needs_verbs)) networks.push_back(facts.plugin);
  if (facts.verbs) networks.emplace_back("IB");
  networks.emplace_back("Socket");
  if (facts.wanted.empty()) return networks.front();
  const auto found = std::ranges::find(networks, lower_case(facts.wanted), lower_case);
  return found == networks.end() ? facts.wanted : *found;  // NCCL will refuse what is not there
}

std::string short_network(const std::string& network) {
  std::string name = lower_case(network);
  std::replace_if(
      name.begin(), name.end(),
      [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_'; }, '-');
  return name;
}

}  // namespace overlaptune
