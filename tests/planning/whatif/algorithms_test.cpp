#include "planning/whatif/algorithms.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/whatif/cluster_file.hpp"

namespace overlaptune::cluster {
namespace {

using ::testing::HasSubstr;

Cluster plain(LevelKind kind, int size, double gb_per_s) {
  return {.name = "plain",
          .levels = {{.name = "links", .kind = kind, .sizes = {size}, .gb_per_s = gb_per_s}}};
}

double best_us(const Cluster& cluster, const Question& question) {
  return value_or_throw(times_of(cluster, question)).front().us;
}

double by(const Cluster& cluster, const Question& question, Algorithm algorithm) {
  for (const AlgorithmTime& time : value_or_throw(times_of(cluster, question))) {
    if (time.algorithm == algorithm) return time.us;
  }
  return NAN;
}

/// Without latency a ring reaches the bandwidth of the link, as nccl-tests defines bus bandwidth.
TEST(Algorithms, a_ring_s_bus_bandwidth_is_that_of_the_link) {
  const Cluster cluster = plain(LevelKind::switched, 64, 100);
  for (const Operation operation :
       {Operation::all_reduce, Operation::reduce_scatter, Operation::all_gather}) {
    for (const int gpus : {2, 3, 8, 64}) {
      const double us = by(cluster, {operation, 1e9, gpus}, Algorithm::ring);
      EXPECT_NEAR(1e9 / us / 1e3 * bus_factor(operation, gpus), 100, 1e-9);
    }
  }
  const double exchange = best_us(cluster, {Operation::all_to_all, 1e9, 8});
  EXPECT_NEAR(1e9 / exchange / 1e3 * bus_factor(Operation::all_to_all, 8), 100, 1e-9);
  // Two GPUs: each sends half of its bytes to the other one.
  EXPECT_NEAR(best_us(cluster, {Operation::all_to_all, 1e9, 2}), 0.5e9 / 100e3, 1e-6);
  EXPECT_NEAR(best_us(cluster, {Operation::send, 1e9, 2}), 1e9 / 100e3, 1e-6);
}

/// A ring of neighbours has a link each way: twice the rate of one.
TEST(Algorithms, a_ring_of_neighbours_uses_both_ways) {
  const double one_way =
      by(plain(LevelKind::switched, 8, 100), {Operation::all_reduce, 1e9, 8}, Algorithm::ring);
  const double both =
      by(plain(LevelKind::ring, 8, 100), {Operation::all_reduce, 1e9, 8}, Algorithm::ring);
  EXPECT_NEAR(one_way / both, 2, 1e-9);
}

/// By hand: 14 steps of 2 us, a start of 5 us, a launch of 3 us.
TEST(Algorithms, the_latency_of_a_ring) {
  Cluster cluster = plain(LevelKind::switched, 8, 1e5);
  cluster.launch_us = 3;
  cluster.levels[0].latency_us = 1.5;
  cluster.levels[0].protocols = {{"only", 5, 0.5, 1}};
  EXPECT_NEAR(by(cluster, {Operation::all_reduce, 8, 8}, Algorithm::ring), 36, 1e-3);
  const auto time = value_or_throw(times_of(cluster, {Operation::all_reduce, 8, 8})).front();
  EXPECT_EQ(time.bound_by, "latency");
}

TEST(Algorithms, the_best_protocol_changes_with_the_bytes) {
  const Cluster cluster = value_or_throw(find_cluster("h200-rings"));
  std::string before;
  std::string order;
  for (double bytes = 1024; bytes <= 1e10; bytes *= 2) {
    const auto times = value_or_throw(times_of(cluster, {Operation::all_reduce, bytes, 8}));
    if (times.front().protocol != before) order += times.front().protocol + " ";
    before = times.front().protocol;
  }
  EXPECT_EQ(order, "ll ll128 simple ");
}

TEST(Algorithms, more_bytes_never_take_less_time) {
  for (const EmbeddedCluster& each : embedded_clusters()) {
    const Cluster cluster = value_or_throw(find_cluster(each.name));
    for (const auto& [operation, name] : NamesOf<Operation>::all) {
      double last = 0;
      for (double bytes = 1; bytes <= 1e12; bytes *= 1.5) {
        const double us = best_us(cluster, {operation, bytes, 4});
        EXPECT_GE(us, last) << each.name << " " << name << " " << bytes;
        EXPECT_TRUE(std::isfinite(us));
        last = us;
      }
    }
  }
}

/// Published: 480 GB/s of bus bandwidth on 8 H100 with NVLink SHARP, 370 GB/s by rings
/// (github.com/NVIDIA/nccl-tests/issues/212); 830 GB/s on 8 B200
/// (github.com/NVIDIA/nccl/issues/1807); 192 GB/s between DGX A100
/// (github.com/NVIDIA/nccl/issues/812).
TEST(Algorithms, published_bus_bandwidths) {
  const auto busbw = [](const char* name, int gpus, Algorithm algorithm) {
    const double bytes = std::pow(2.0, 34);
    const double us =
        by(value_or_throw(find_cluster(name)), {Operation::all_reduce, bytes, gpus}, algorithm);
    return bytes / us / 1e3 * bus_factor(Operation::all_reduce, gpus);
  };
  EXPECT_NEAR(busbw("hgx-h100", 8, Algorithm::nvls), 480, 10);
  EXPECT_NEAR(busbw("hgx-h100", 8, Algorithm::ring), 370, 10);
  EXPECT_NEAR(busbw("hgx-b200", 8, Algorithm::nvls), 830, 50);
  EXPECT_NEAR(busbw("dgx-a100", 16, Algorithm::ring), 192, 4);
}

TEST(Algorithms, the_level_that_bounds_is_named) {
  Cluster cluster = value_or_throw(find_cluster("hgx-h100"));
  const Question question{Operation::all_to_all, 1e10, 64};
  EXPECT_EQ(value_or_throw(times_of(cluster, question)).front().bound_by, "400 Gb/s");
  EXPECT_EQ(value_or_throw(times_of(cluster, {Operation::all_reduce, 1e10, 8})).front().bound_by,
            "NVLink");
}

/// Sizes multiply to the GPUs, fit into the torus, and have the least sum.
TEST(Slices, of_a_torus_are_as_even_as_its_sides_allow) {
  const auto sizes = [](std::vector<int> sides, int gpus) {
    const Cluster torus{.name = "t",
                        .levels = {{.kind = LevelKind::torus, .sizes = std::move(sides)}}};
    return value_or_throw(slices_of(torus, gpus)).front().sizes;
  };
  EXPECT_THAT(sizes({16, 2}, 16), testing::ElementsAre(8, 2));  // the first side is the longer
  EXPECT_THAT(sizes({2, 16}, 16), testing::ElementsAre(2, 8));
  EXPECT_THAT(sizes({16, 3}, 24), testing::ElementsAre(8, 3));
  EXPECT_THAT(sizes({8, 8}, 16), testing::ElementsAre(4, 4));
  EXPECT_THAT(sizes({8, 2}, 7), testing::ElementsAre(7, 1));
  EXPECT_THAT(sizes({12, 2, 2}, 24), testing::ElementsAre(6, 2, 2));
  EXPECT_THAT(sizes({16, 2}, 32), testing::ElementsAre(16, 2));  // all of it
}

TEST(Algorithms, questions_that_cannot_be_asked) {
  const Cluster h100 = value_or_throw(find_cluster("hgx-h100"));
  const Cluster torus = value_or_throw(find_cluster("tpu-v5e"));
  const auto message = [](const Cluster& cluster, int gpus, double bytes = 1) {
    const auto times = times_of(cluster, {Operation::all_reduce, bytes, gpus});
    return times ? "none" : times.error().message;
  };
  EXPECT_THAT(message(h100, 1), HasSubstr("--gpus 1: expected at least 2"));
  EXPECT_THAT(message(h100, 12), HasSubstr("--gpus 12: expected a multiple of the 8"));
  EXPECT_THAT(message(h100, 8 * 129), HasSubstr("at most the 1024 GPUs"));
  EXPECT_THAT(message(torus, 34), HasSubstr("do not multiply to it"));
  EXPECT_THAT(message(h100, 8, 0), HasSubstr("--bytes"));
  EXPECT_EQ(message(torus, 32), "none");
}

TEST(Slices, a_torus_is_cut_as_evenly_as_it_can_be) {
  const Cluster v4 = value_or_throw(find_cluster("tpu-v4"));
  EXPECT_THAT(value_or_throw(slices_of(v4, 64)).front().sizes,
              testing::UnorderedElementsAre(4, 4, 4));
  EXPECT_THAT(value_or_throw(slices_of(v4, 128)).front().sizes,
              testing::UnorderedElementsAre(4, 4, 8));
  EXPECT_THAT(value_or_throw(slices_of(v4, 4096)).front().sizes, testing::ElementsAre(16, 16, 16));
}

}  // namespace
}  // namespace overlaptune::cluster
