#pragma once
// Ranks that share a GPU, by which plans of several ranks are proved where there is only one. They
// run in turn, so their times mean nothing.

#include <string>
#include <utility>
#include <vector>

namespace overlaptune {

/// `Platform::topology` and `Platform::link` of such ranks.
inline constexpr const char* kSharedTopology = "shared GPU";
inline constexpr const char* kSharedLink = "shared_gpu";

inline constexpr int kMostRanksPerGpu = 4;

/// Environment variables, by name and value, that a rank sets before NCCL starts. NCCL refuses two
/// ranks of one host on one GPU. A rank with a host name of its own counts as one of another host,
/// which is reached by sockets.
[[nodiscard]] inline std::vector<std::pair<std::string, std::string>> variables_of_sharing_rank(
    int rank) {
  return {{"NCCL_HOSTID", "overlaptune-rank-" + std::to_string(rank)},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_NET", "Socket"}};
}

}  // namespace overlaptune
