#pragma once
// The part of a training step that data parallelism adds: the gradients of a model, and their
// all-reduce.

#include <cstdint>

#include "planning/whatif/answers.hpp"
#include "planning/whatif/cluster.hpp"
#include "workload/model_config.hpp"

namespace overlaptune::cluster {

/// How each replica of a model is trained.
struct Training {
  int tensor_parallel = 1;   ///< GPUs that share a replica: neighbours in the innermost level
  double utilisation = 0.4;  ///< share of the data sheet's rate that the step reaches
};

struct Synchronisation {
  std::int64_t parameters = 0;      ///< of the whole model
  double gradient_bytes = 0;        ///< that one GPU all-reduces
  double us_per_token = 0;          ///< compute time of a step for each token of a replica
  double backward_share = 2.0 / 3;  ///< of the step, beside which gradients can be reduced
};

/// Experts are taken to be in each replica, and a token to meet the weights of its own only.
/// Error: as `weights_of`; more weights than any machine has; a cluster without `tflops`.
[[nodiscard]] Expected<Synchronisation> synchronisation(const ModelConfig& config,
                                                        const Cluster& cluster,
                                                        const Training& training);

/// The cluster as the GPUs of one place in each replica see it. Error: `tensor_parallel` does not
/// divide the innermost level, or that level is a torus.
[[nodiscard]] Expected<Cluster> across_replicas(const Cluster& cluster, int tensor_parallel);

/// The least tokens of a replica whose backward pass is as long as the all-reduce.
[[nodiscard]] double hiding_tokens(const Synchronisation& step, double all_reduce_us);

/// The gradients of a step, and the all-reduce over replicas that the backward pass is to hide.
struct HiddenAllReduce {
  Synchronisation synchronisation{};
  WhatIfAnswer all_reduce{};
  double tokens = 0;  ///< the least of a replica, as `hiding_tokens`
};

/// Throws `Failure` (`bad_input`): more GPUs than the cluster has; as `synchronisation`,
/// `across_replicas` and `answers`.
[[nodiscard]] HiddenAllReduce hidden_all_reduce(const ModelConfig& config, const Cluster& cluster,
                                                const MeasuredTimes& measured,
                                                const Training& training, int replicas);

}  // namespace overlaptune::cluster
