// The times of torus algorithms against a simulation of their messages: in each step, who sends
// what over which link. The simulation also follows whose contributions each part of the buffer
// holds, so an algorithm that moves too little is seen.

#include <cmath>
#include <cstdint>
#include <map>

#include <gtest/gtest.h>

#include "planning/whatif/algorithms.hpp"

namespace overlaptune::cluster {
namespace {

constexpr double kTorusBytes = 64 * 1024 * 1024.0;
constexpr double kTorusLatency = 0.5;
constexpr double kTorusGbPerS = 50;
constexpr double kTorusBytesPerUs = kTorusGbPerS * 1e3;

using Coordinates = std::vector<int>;

/// A torus of at most 64 nodes. A dimension wraps around from `wrap_from` members on.
struct Torus {
  std::vector<int> sizes;
  int wrap_from;

  [[nodiscard]] int nodes() const {
    int count = 1;
    for (const int size : sizes) count *= size;
    return count;
  }
  [[nodiscard]] Coordinates at(int node) const {
    Coordinates c;
    for (const int size : sizes) {
      c.push_back(node % size);
      node /= size;
    }
    return c;
  }
  [[nodiscard]] int node(const Coordinates& c) const {
    int node = 0;
    for (std::size_t d = sizes.size(); d-- > 0;) node = node * sizes[d] + c[d];
    return node;
  }
  [[nodiscard]] bool wraps(std::size_t d) const { return sizes[d] >= wrap_from && sizes[d] > 2; }
};

/// Masks of the nodes whose contributions are in an element. An element belongs to a part, to a way
/// round, and to the node that owns it at the end.
class ReduceScatter {
 public:
  explicit ReduceScatter(const Torus& torus) : torus_(torus) {
    for (int node = 0; node < torus.nodes(); ++node) {
      held_.emplace_back(static_cast<std::size_t>(parts() * 2 * torus.nodes()),
                         std::uint64_t{1} << node);
    }
  }

  /// All phases. Returns their time: parts of a phase use links of different dimensions, and a
  /// phase waits for the slowest of them.
  double run() {
    double time = 0;
    for (int phase = 0; phase < parts(); ++phase) {
      double longest = 0;
      for (int part = 0; part < parts(); ++part) {
        longest = std::max(longest, run_part(part, (part + phase) % parts()));
      }
      time += longest;
    }
    return time;
  }

  /// Every element holds the contributions of all nodes at its owner.
  void expect_complete() const {
    const std::uint64_t all =
        torus_.nodes() == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << torus_.nodes()) - 1;
    for (int part = 0; part < parts(); ++part) {
      for (int way = 0; way < 2; ++way) {
        for (int owner = 0; owner < torus_.nodes(); ++owner) {
          ASSERT_EQ(held_[static_cast<std::size_t>(owner)][element(part, way, owner)], all);
        }
      }
    }
  }

  /// No link carries more than it can in the time.
  void expect_carried_within(double us) const {
    for (const auto& [link, bytes] : sent_) EXPECT_LE(bytes, us * kTorusBytesPerUs);
  }

 private:
  struct Message {
    int to;
    std::size_t element;
    std::uint64_t mask;
  };

  [[nodiscard]] int parts() const { return static_cast<int>(torus_.sizes.size()); }
  [[nodiscard]] std::size_t element(int part, int way, int owner) const {
    return static_cast<std::size_t>((part * 2 + way) * torus_.nodes() + owner);
  }
  [[nodiscard]] double element_bytes() const {
    return kTorusBytes / (2.0 * parts() * torus_.nodes());
  }

  /// Whether a node still holds an element before the part's phase on `dimension`.
  [[nodiscard]] bool holds(int node, int owner, int part, int dimension) const {
    for (int d = part; d != dimension; d = (d + 1) % parts()) {
      const auto at = static_cast<std::size_t>(d);
      if (torus_.at(node)[at] != torus_.at(owner)[at]) return false;
    }
    return true;
  }

  /// The chunk that place `i` sends in step `t` in direction `s`; -1 for none.
  [[nodiscard]] static int chunk_of(int i, int t, int s, int size, bool wraps) {
    if (wraps) return ((i - s * (1 + t)) % size + size) % size;
    const int chunk = s > 0 ? size - 1 - (t - i) : t - (size - 1 - i);
    const bool begun = s > 0 ? t >= i : t >= size - 1 - i;
    return begun && chunk >= 0 && chunk < size && (s > 0 ? chunk > i : chunk < i) ? chunk : -1;
  }

  double run_part(int part, int dimension) {
    const auto d = static_cast<std::size_t>(dimension);
    const int size = torus_.sizes[d];
    double time = 0;
    for (int t = 0; t + 1 < size; ++t) {
      std::vector<Message> messages;
      std::map<std::pair<int, int>, double> load;  // of the link from a node in a direction
      for (int node = 0; node < torus_.nodes(); ++node) {
        const Coordinates here = torus_.at(node);
        for (const int s : {1, -1}) {
          const int chunk = chunk_of(here[d], t, s, size, torus_.wraps(d));
          if (chunk < 0) continue;
          Coordinates there = here;
          there[d] = ((here[d] + s) % size + size) % size;
          for (int owner = 0; owner < torus_.nodes(); ++owner) {
            if (torus_.at(owner)[d] != chunk || !holds(node, owner, part, dimension)) continue;
            for (int way = 0; way < 2; ++way) {
              // In a ring each way round carries its half; in a line both halves go together.
              if (torus_.wraps(d) && (way == 0) != (s > 0)) continue;
              const std::size_t e = element(part, way, owner);
              messages.push_back({torus_.node(there), e, held_[static_cast<std::size_t>(node)][e]});
              load[{node, s}] += element_bytes();
            }
          }
        }
      }
      double most = 0;
      for (const auto& [link, bytes] : load) {
        most = std::max(most, bytes);
        sent_[{link.first, dimension, link.second}] += bytes;
      }
      const double step = most / kTorusBytesPerUs;
      for (const Message& m : messages) held_[static_cast<std::size_t>(m.to)][m.element] |= m.mask;
      time += kTorusLatency + step;
    }
    return time;
  }

  Torus torus_;
  std::vector<std::vector<std::uint64_t>> held_{};
  std::map<std::tuple<int, int, int>, double> sent_{};  ///< by node, dimension and direction
};

Cluster torus_cluster(const Torus& torus) {
  return {.name = "torus",
          .levels = {{.name = "links",
                      .kind = LevelKind::torus,
                      .sizes = torus.sizes,
                      .gb_per_s = kTorusGbPerS,
                      .latency_us = kTorusLatency,
                      .wrap_from = torus.wrap_from}}};
}

double torus_time(const Cluster& cluster, const Question& question, Algorithm algorithm) {
  for (const AlgorithmTime& time : value_or_throw(times_of(cluster, question))) {
    if (time.algorithm == algorithm) return time.us;
  }
  ADD_FAILURE() << "no " << to_string(algorithm);
  return 0;
}

TEST(TorusSimulation, a_torus_reduces_over_all_its_links) {
  const Torus shapes[] = {{{8}, 2},       {{4, 4}, 2},  {{4, 4, 4}, 2}, {{3, 3, 3}, 2},
                          {{4, 4, 4}, 8}, {{8, 8}, 16}, {{2, 2, 2}, 2}};
  for (const Torus& torus : shapes) {
    SCOPED_TRACE(testing::PrintToString(torus.sizes) + " from " + std::to_string(torus.wrap_from));
    ReduceScatter simulation(torus);
    const double simulated = simulation.run();
    simulation.expect_complete();
    const Cluster cluster = torus_cluster(torus);
    const auto time = [&](Operation operation) {
      return torus_time(cluster, {operation, kTorusBytes, torus.nodes()},
                        Algorithm::multi_dimensional);
    };
    EXPECT_NEAR(time(Operation::reduce_scatter), simulated, 1e-9 * simulated);
    simulation.expect_carried_within(time(Operation::reduce_scatter));
    // An all-gather sends the same messages in the other order.
    EXPECT_NEAR(time(Operation::all_reduce), 2 * simulated, 2e-9 * simulated);
  }
}

/// With unequal sizes the formula adds the longest latency and the longest transfer of a phase,
/// which may be of different dimensions.
TEST(TorusSimulation, an_uneven_torus_is_bounded) {
  for (const Torus& torus : {Torus{{2, 4}, 2}, {{4, 8}, 2}, {{2, 4, 8}, 2}, {{2, 4, 8}, 8}}) {
    ReduceScatter simulation(torus);
    const double simulated = simulation.run();
    simulation.expect_complete();
    const double time =
        torus_time(torus_cluster(torus), {Operation::reduce_scatter, kTorusBytes, torus.nodes()},
                   Algorithm::multi_dimensional);
    EXPECT_GE(time, simulated * (1 - 1e-9));
    EXPECT_LE(time, simulated + 16 * kTorusLatency);
    simulation.expect_carried_within(time);
  }
}

/// Every node sends to every other one along the dimensions in turn, the shorter way round; where
/// both ways are as long, half by each.
double busiest_link_of_all_to_all(const Torus& torus) {
  std::map<std::tuple<int, std::size_t, int>, double> load;
  const double each = kTorusBytes / torus.nodes();
  for (int from = 0; from < torus.nodes(); ++from) {
    for (int to = 0; to < torus.nodes(); ++to) {
      Coordinates here = torus.at(from);
      const Coordinates goal = torus.at(to);
      for (std::size_t d = 0; d < torus.sizes.size(); ++d) {
        const int size = torus.sizes[d];
        const int right = (goal[d] - here[d] + size) % size;
        for (const int s : {1, -1}) {
          const int way = s > 0 ? right : size - right;
          double share = way * 2 == size ? 0.5 : (way * 2 < size ? 1.0 : 0.0);
          if (!torus.wraps(d)) share = (s > 0) == (goal[d] > here[d]) ? 1 : 0;
          const int hops = torus.wraps(d) ? way : std::abs(goal[d] - here[d]);
          if (right == 0 || share == 0) continue;
          Coordinates c = here;
          for (int hop = 0; hop < hops; ++hop) {
            load[{torus.node(c), d, s}] += share * each;
            c[d] = ((c[d] + s) % size + size) % size;
          }
        }
        here[d] = goal[d];
      }
    }
  }
  double most = 0;
  for (const auto& [link, bytes] : load) most = std::max(most, bytes);
  return most;
}

TEST(TorusSimulation, all_to_all_is_bound_by_the_busiest_link) {
  for (const Torus& torus : {Torus{{8}, 2}, {{4, 4}, 2}, {{4, 4, 4}, 2}, {{8}, 16}, {{4, 8}, 2}}) {
    SCOPED_TRACE(testing::PrintToString(torus.sizes));
    Cluster cluster = torus_cluster(torus);
    cluster.levels[0].latency_us = 0;
    const double time =
        torus_time(cluster, {Operation::all_to_all, kTorusBytes, torus.nodes()}, Algorithm::direct);
    EXPECT_NEAR(time, busiest_link_of_all_to_all(torus) / kTorusBytesPerUs, 1e-9 * time);
  }
}

}  // namespace
}  // namespace overlaptune::cluster
