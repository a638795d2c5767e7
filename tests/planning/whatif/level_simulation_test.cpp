// The time of hierarchical collectives against a simulation of their messages.

#include <cstdint>
#include <map>

#include <gtest/gtest.h>

#include "planning/whatif/algorithms.hpp"

namespace overlaptune::cluster {
namespace {

constexpr double kBytes = 64 * 1024 * 1024.0;
constexpr double kLatency = 0.5;
constexpr double kGbPerS = 50;
constexpr double kBytesPerUs = kGbPerS * 1e3;

double time_by(const Cluster& cluster, const Question& question, Algorithm algorithm) {
  for (const AlgorithmTime& time : value_or_throw(times_of(cluster, question))) {
    if (time.algorithm == algorithm) return time.us;
  }
  ADD_FAILURE() << "no " << to_string(algorithm);
  return 0;
}

/// Nodes of `gpus` GPUs. Each element has an owner; a GPU reaches the switch of its node over one
/// link, and all GPUs of a node reach the other nodes over the node's cards.
class TwoLevels {
 public:
  TwoLevels(int nodes, int gpus) : nodes_(nodes), gpus_(gpus) {
    for (int g = 0; g < nodes * gpus; ++g) {
      held_.emplace_back(static_cast<std::size_t>(nodes * gpus), std::uint64_t{1} << g);
    }
  }
  static constexpr double kCardsGbPerS = 100;  ///< of a node
  static constexpr double kCardLatency = 3;

  /// Reduce-scatter within the nodes, then among the GPUs of one place in all nodes.
  double run() {
    double time = 0;
    for (int t = 0; t + 1 < gpus_; ++t) {
      time += kLatency + step(t, gpus_, false) / kBytesPerUs;
    }
    for (int t = 0; t + 1 < nodes_; ++t) {
      time += kCardLatency + step(t, nodes_, true) / (kCardsGbPerS * 1e3);
    }
    return time;
  }
  void expect_complete() const {
    const int all = nodes_ * gpus_;
    for (int g = 0; g < all; ++g) {
      const auto at = static_cast<std::size_t>(g);
      ASSERT_EQ(held_[at][at], all == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << all) - 1);
    }
  }

 private:
  /// One step of all rings at once. Returns the bytes over the busiest GPU's link, or node's cards.
  double step(int t, int size, bool outside) {
    struct Message {
      int to, element;
      std::uint64_t mask;
    };
    std::vector<Message> messages;
    std::map<int, double> load;
    const double each = kBytes / (nodes_ * gpus_);
    for (int node = 0; node < nodes_; ++node) {
      for (int gpu = 0; gpu < gpus_; ++gpu) {
        const int own = node * gpus_ + gpu;
        const int place = outside ? node : gpu;
        const int chunk = ((place - 1 - t) % size + size) % size;
        const int to =
            outside ? (node + 1) % nodes_ * gpus_ + gpu : node * gpus_ + (gpu + 1) % gpus_;
        for (int element = 0; element < nodes_ * gpus_; ++element) {
          const bool mine = outside ? element / gpus_ == chunk && element % gpus_ == gpu
                                    : element % gpus_ == chunk;
          if (!mine) continue;
          messages.push_back(
              {to, element,
               held_[static_cast<std::size_t>(own)][static_cast<std::size_t>(element)]});
          load[outside ? node : own] += each;
        }
      }
    }
    for (const Message& m : messages) {
      held_[static_cast<std::size_t>(m.to)][static_cast<std::size_t>(m.element)] |= m.mask;
    }
    double most = 0;
    for (const auto& [sender, bytes] : load) most = std::max(most, bytes);
    return most;
  }

  int nodes_, gpus_;
  std::vector<std::vector<std::uint64_t>> held_{};
};

TEST(LevelSimulation, levels_reduce_one_after_another) {
  for (const auto& [nodes, gpus] : {std::pair{2, 8}, {8, 8}, {4, 2}, {3, 5}}) {
    SCOPED_TRACE(std::to_string(nodes) + " nodes of " + std::to_string(gpus));
    TwoLevels simulation(nodes, gpus);
    const double simulated = simulation.run();
    simulation.expect_complete();
    const Cluster cluster{.name = "nodes",
                          .levels = {{.name = "inside",
                                      .kind = LevelKind::switched,
                                      .sizes = {gpus},
                                      .gb_per_s = kGbPerS,
                                      .latency_us = kLatency},
                                     {.name = "outside",
                                      .kind = LevelKind::rails,
                                      .sizes = {nodes},
                                      .links = 4,
                                      .gb_per_s = TwoLevels::kCardsGbPerS / 4,
                                      .latency_us = TwoLevels::kCardLatency}}};
    const auto time = [&](Operation operation) {
      return time_by(cluster, {operation, kBytes, nodes * gpus}, Algorithm::hierarchical);
    };
    EXPECT_NEAR(time(Operation::reduce_scatter), simulated, 1e-9 * simulated);
    EXPECT_NEAR(time(Operation::all_reduce), 2 * simulated, 2e-9 * simulated);
  }
}

}  // namespace
}  // namespace overlaptune::cluster
