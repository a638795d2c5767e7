#pragma once
// Times of a collective on a cluster, by algorithm. docs/whatif.md has each formula.

#include <array>
#include <string>
#include <vector>

#include "planning/whatif/cluster.hpp"

namespace overlaptune::cluster {

enum class Operation { all_reduce, reduce_scatter, all_gather, all_to_all, send };

enum class Algorithm {
  ring,               ///< one ring through all GPUs
  tree,               ///< a chain in each innermost group, a double binary tree over the groups
  hierarchical,       ///< level by level: reduce-scatter outwards, all-gather back
  multi_dimensional,  ///< a part of the data for each dimension and direction of a torus
  nvls,               ///< reduced and multicast by the switch
  nvls_tree,          ///< the same in each innermost group, a double binary tree over the groups
  direct,             ///< every GPU sends to each other one itself
};

/// A question: the operation over `gpus` GPUs whose whole buffer has `bytes` (as nccl-tests counts
/// them: for all_gather the gathered buffer, for reduce_scatter the one before the reduction).
struct Question {
  Operation operation = Operation::all_reduce;
  double bytes = 0;
  int gpus = 2;
};

struct AlgorithmTime {
  Algorithm algorithm = Algorithm::ring;
  std::string protocol{};  ///< of the innermost level
  double us = 0;
  double latency_us = 0;   ///< the part that does not depend on the bytes
  std::string bound_by{};  ///< name of the level whose links bound it; "latency" if they do not
};

/// Times of all algorithms, the fastest one first. Error: that of `slices_of`; fewer than 2 GPUs;
/// no bytes.
[[nodiscard]] Expected<std::vector<AlgorithmTime>> times_of(const Cluster& cluster,
                                                            const Question& question);

/// Bus bandwidth over algorithm bandwidth, as nccl-tests defines it (its doc/PERFORMANCE.md).
[[nodiscard]] double bus_factor(Operation operation, int gpus);

}  // namespace overlaptune::cluster

namespace overlaptune {

template <>
struct NamesOf<cluster::Operation> {
  static constexpr std::string_view what = "op";
  static constexpr std::array<Named<cluster::Operation>, 5> all{
      {{cluster::Operation::all_reduce, "all_reduce"},
       {cluster::Operation::reduce_scatter, "reduce_scatter"},
       {cluster::Operation::all_gather, "all_gather"},
       {cluster::Operation::all_to_all, "all_to_all"},
       {cluster::Operation::send, "send"}}};
};

template <>
struct NamesOf<cluster::Algorithm> {
  static constexpr std::string_view what = "algorithm";
  static constexpr std::array<Named<cluster::Algorithm>, 7> all{
      {{cluster::Algorithm::ring, "ring"},
       {cluster::Algorithm::tree, "tree"},
       {cluster::Algorithm::hierarchical, "hierarchical"},
       {cluster::Algorithm::multi_dimensional, "multi_dimensional"},
       {cluster::Algorithm::nvls, "nvls"},
       {cluster::Algorithm::nvls_tree, "nvls_tree"},
       {cluster::Algorithm::direct, "direct"}}};
};

}  // namespace overlaptune
