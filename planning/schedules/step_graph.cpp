#include "planning/schedules/step_graph.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/index.hpp"

namespace overlaptune {
namespace {

constexpr double kParameterBytes = 2;  // of a parameter or gradient in bf16
// Adam in mixed precision: the gradient is read; master weight and two moments are read and
// written in fp32; the weight is written in bf16.
constexpr double kUpdateBytes = 2 + 2 * 3 * 4 + 2;

class Assembly {
 public:
  /// Gradients that are summed, and updated, together.
  struct Bucket {
    int number = 0;
    double parameters = 0;
    std::vector<int> gradients{};  ///< tasks after which they are there
  };

  Assembly(const LayerOperations& operations, const StepShape& shape, const StepCosts& costs)
      : operations_(operations), shape_(shape), costs_(costs) {}

  /// Adds a pass through a layer. Returns the task of its first operation.
  int pass(const LayerPass& pass, int layer, int input) {
    const auto base = static_cast<int>(graph_.tasks.size());
    for (const LayerTask& each : pass.tasks) {
      Task task = each.task;
      for (int& before : task.after) before += base;
      task.name = fmt::format("{} {}", task.kind, layer);
      graph_.tasks.push_back(std::move(task));
    }
    for (Fusion fusion : pass.fusions) {
      fusion.compute += base;
      fusion.links += base;
      graph_.fusions.push_back(std::move(fusion));
    }
    if (input >= 0) {
      for (const int first : pass.first) wait(base + first, input);
    }
    return base;
  }
  void wait(int task, int before) { graph_.tasks[index(task)].after.push_back(before); }
  /// A collective of data parallelism over the parameters of some layers.
  int bucket(const std::string& what, Phase phase, Collective op, int number, double parameters) {
    const Cost cost =
        value_or_throw(costs_.data_parallel(op, parameters * kParameterBytes, shape_.dp));
    return add({.name = fmt::format("{} of bucket {}", what, number),
                .kind = what,
                .traffic = what,
                .resource = Resource::links,
                .phase = phase,
                .us = cost.us,
                .slows = cost.slows,
                .slowed = cost.slowed,
                .source = cost.source,
                .doubt = cost.doubt});
  }
  /// The optimiser of each bucket. Where gradients are clipped by their norm, none begins before
  /// the last gradient.
  void add_updates(const std::vector<Bucket>& buckets) {
    int norm = -1;
    if (shape_.gradient_norm) {
      norm = update("gradient norm", "gradient_norm",
                    operations_.parameters * kParameterBytes / shape_.dp * layers_);
      for (const Bucket& bucket : buckets) {
        for (const int gradient : bucket.gradients) wait(norm, gradient);
      }
    }
    for (const Bucket& bucket : buckets) {
      const int updated = update(fmt::format("optimiser of bucket {}", bucket.number), "optimiser",
                                 bucket.parameters * kUpdateBytes / shape_.dp);
      if (norm >= 0) {
        wait(updated, norm);
      } else {
        for (const int gradient : bucket.gradients) wait(updated, gradient);
      }
    }
  }
  /// An operation of the optimiser that reads and writes so many bytes.
  int update(std::string name, std::string kind, double bytes) {
    return add({.name = std::move(name),
                .kind = std::move(kind),
                .phase = Phase::update,
                .us = bytes / costs_.bytes_per_us + costs_.launch_us,
                .source = costs_.memory_source,
                .doubt = costs_.memory_doubt});
  }

  TaskGraph make(int layers, int bucket_layers) {
    layers_ = layers;
    const bool whole = shape_.scope == Scope::step;
    const bool exchanged = whole && shape_.dp > 1;
    const auto bucket_parameters = [&](int first) {
      return operations_.parameters * std::min(bucket_layers, layers - first);
    };
    int input = -1;
    int gather = -1;
    for (int layer = 0; layer < layers; ++layer) {
      if (exchanged && layer % bucket_layers == 0) {
        gather = bucket("parameter_all_gather", Phase::forward, Collective::all_gather,
                        layer / bucket_layers, bucket_parameters(layer));
      }
      const int base = pass(operations_.forward, layer, input);
      if (gather >= 0) {
        for (const int weight : operations_.forward.weights) wait(base + weight, gather);
      }
      input = base + operations_.forward.last;
    }
    if (!whole) return std::move(graph_);
    std::vector<int> gradients;
    std::vector<Bucket> buckets;
    std::vector<std::vector<int>> of_layer(index(layers));
    for (int layer = layers - 1; layer >= 0; --layer) {
      const int base = pass(operations_.backward, layer, input);
      const int latest = layer + 1 + shape_.put_off_layers;
      if (latest < layers) {
        for (const int first : operations_.backward.first) {
          for (const int gradient : of_layer[index(latest)]) {
            wait(base + first, gradient);
          }
        }
      }
      for (std::size_t i = 0; i < operations_.backward.tasks.size(); ++i) {
        if (operations_.backward.tasks[i].is_weight_gradient) {
          gradients.push_back(base + static_cast<int>(i));
          of_layer[index(layer)].push_back(gradients.back());
        }
      }
      input = base + operations_.backward.last;
      if (layer % bucket_layers != 0) continue;
      const int number = layer / bucket_layers;
      if (exchanged) {
        const int sum = bucket("gradient_reduce_scatter", Phase::backward,
                               Collective::reduce_scatter, number, bucket_parameters(layer));
        for (const int gradient : gradients) wait(sum, gradient);
        gradients = {sum};
      }
      buckets.push_back({number, bucket_parameters(layer), std::move(gradients)});
      gradients.clear();
    }
    add_updates(buckets);
    return std::move(graph_);
  }

 private:
  int add(Task task) {
    graph_.tasks.push_back(std::move(task));
    return static_cast<int>(graph_.tasks.size()) - 1;
  }

  const LayerOperations& operations_;
  const StepShape& shape_;
  const StepCosts& costs_;
  int layers_ = 0;
  TaskGraph graph_{};
};

}  // namespace

Expected<TaskGraph> step_graph(const LayerOperations& operations, const StepShape& shape,
                               const StepCosts& costs, int layers, int bucket_layers) {
  return outcome_of([&] { return Assembly(operations, shape, costs).make(layers, bucket_layers); });
}

}  // namespace overlaptune
