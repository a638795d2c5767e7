#include "planning/whatif/gradients.hpp"

#include <cmath>

#include <fmt/format.h>

#include "core/elements.hpp"
#include "workload/weights.hpp"

namespace overlaptune::cluster {
namespace {

constexpr double kMostGradients = 1e18;  // bytes

}  // namespace

Expected<Synchronisation> synchronisation(const ModelConfig& config, const Cluster& cluster,
                                          const Training& training) {
  const auto weights = weights_of(config);
  if (!weights) return error_of(weights);
  if (!(cluster.tflops > 0)) {
    return bad_input(
        fmt::format("{}: tflops is missing: expected the rate of one GPU, which "
                    "--model needs",
                    cluster.name));
  }
  const double gradients = weights->all * static_cast<double>(result_bytes(config.elements));
  if (!(gradients >= training.tensor_parallel && gradients <= kMostGradients)) {
    return bad_input(fmt::format(
        "model '{}': its sizes make {:.3g} weights, {:.3g} bytes of gradients: expected at least 1 "
        "byte a GPU and at most {:.0e} bytes: check the sizes in its config",
        config.name, weights->all, gradients, kMostGradients));
  }
  // 2 operations a weight and token forward, 4 backward (Kaplan et al., Scaling laws for neural
  // language models, 2020, 2.1).
  constexpr double kOperations = 6;
  constexpr double kPerUs = 1e6;  // of 1 TFLOP/s
  return Synchronisation{
      .parameters = std::llround(weights->all),
      .gradient_bytes = gradients / training.tensor_parallel,
      .us_per_token = kOperations * weights->per_token /
                      (training.tensor_parallel * cluster.tflops * kPerUs * training.utilisation)};
}

Expected<Cluster> across_replicas(const Cluster& cluster, int tensor_parallel) {
  if (tensor_parallel == 1) return cluster;
  Cluster across = cluster;
  Level& inner = across.levels.front();
  if (inner.sizes.size() > 1) {
    return bad_input(fmt::format("--tensor-parallel {}: '{}' of {} is a torus: expected 1",
                                 tensor_parallel, inner.name, cluster.name));
  }
  if (inner.sizes.front() % tensor_parallel != 0) {
    return bad_input(fmt::format("--tensor-parallel {}: expected a divisor of the {} GPUs of '{}'",
                                 tensor_parallel, inner.sizes.front(), inner.name));
  }
  inner.sizes.front() /= tensor_parallel;
  // All GPUs of a group send at the same time, each for its own place: they share what leaves it.
  inner.root_gb_per_s /= tensor_parallel;
  for (std::size_t i = 1; i < across.levels.size(); ++i) {
    across.levels[i].gb_per_s /= tensor_parallel;
  }
  if (inner.sizes.front() == 1 && across.levels.size() > 1) {
    across.levels.erase(across.levels.begin());
  }
  return across;
}

double hiding_tokens(const Synchronisation& step, double all_reduce_us) {
  return std::ceil(all_reduce_us / (step.us_per_token * step.backward_share));
}

HiddenAllReduce hidden_all_reduce(const ModelConfig& config, const Cluster& cluster,
                                  const MeasuredTimes& measured, const Training& training,
                                  int replicas) {
  const std::int64_t gpus = std::int64_t{replicas} * training.tensor_parallel;
  if (gpus > most_gpus(cluster)) {
    throw Failure(
        ErrorKind::bad_input,
        fmt::format("--data-parallel {}: with --tensor-parallel {} {} GPUs: expected at "
                    "most the {} of {}",
                    replicas, training.tensor_parallel, gpus, most_gpus(cluster), cluster.name));
  }
  HiddenAllReduce step{.synchronisation =
                           value_or_throw(synchronisation(config, cluster, training))};
  step.all_reduce =
      answers(value_or_throw(across_replicas(cluster, training.tensor_parallel)), measured,
              Operation::all_reduce,
              {static_cast<std::int64_t>(step.synchronisation.gradient_bytes)}, replicas)
          .front();
  step.tokens = hiding_tokens(step.synchronisation, step.all_reduce.estimate.us);
  return step;
}

}  // namespace overlaptune::cluster
