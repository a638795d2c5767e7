#pragma once
// Clusters from JSON (docs/whatif.md has the schema), and those that are built in.

#include <string>
#include <string_view>
#include <vector>

#include "planning/whatif/cluster.hpp"

namespace overlaptune::cluster {

struct EmbeddedCluster {
  std::string name;
  std::string text;
};

/// The clusters of planning/whatif/systems/.
[[nodiscard]] const std::vector<EmbeddedCluster>& embedded_clusters();

/// Names of the built-in clusters, as "a, b, c".
[[nodiscard]] std::string names_of_clusters();

/// A cluster from JSON. `origin` stands in front of every message. Error: not JSON, a field that is
/// missing, unknown or out of range, a figure without a source; names it.
[[nodiscard]] Expected<Cluster> parse_cluster(std::string_view text, const std::string& origin);

/// A built-in cluster, or the file of that name; with `+NAME` the levels of another one follow, and
/// without it those of the cluster's own network. Error: neither name nor file; as `parse_cluster`.
[[nodiscard]] Expected<Cluster> find_cluster(const std::string& name);

}  // namespace overlaptune::cluster
