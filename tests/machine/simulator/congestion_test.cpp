// Contention that depends on tile, depth and CTAs, against concurrent probes of 8 H200.

#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "machine/catalogue.hpp"
#include "tests/machine/simulator/csv.hpp"

namespace overlaptune {
namespace {

struct Factors {
  double gemm = 1;
  double collective = 1;
};

ConcurrentProbe probe(int block_n, int stages, std::int64_t k, const CollectiveProbe& collective) {
  return {.gemm = {.m = 4096,
                   .n = 8192,
                   .k = k,
                   .tile = {128, block_n, 64, stages, 1},
                   .swizzle = 4,
                   .sms = 132 - collective.comm_ctas},
          .collective = collective};
}

CollectiveProbe exchange(int ctas, Transport transport = Transport::peer_access) {
  return {.collective = Collective::reduce_scatter,
          .bytes = {1 << 24},
          .ranks = 8,
          .comm_ctas = ctas,
          .transport = transport};
}

/// How much longer each takes beside the other, at the same clock.
Factors factors(const ConcurrentProbe& both) {
  const auto machine = value_or_throw(open_machine("sim:h200-nvlink-x8", {.seed = 3}));
  const auto measured = [&](const Probe& each) { return value_or_throw(machine->measure(each)); };
  const auto cycles = [](const Measurement& each) {
    return each.time.median.count() * each.conditions.sm_clock_mhz.value();
  };
  const Measurement beside = measured(both);
  return {.gemm = cycles(beside) / cycles(measured(both.gemm)),
          .collective = beside.collective_time.value().median.count() /
                        measured(both.collective).time.median.count()};
}

// The measured GEMM is eager and the clock is that of the moment, so single rows are far off.
TEST(Congestion, is_what_was_measured_on_eight_gpus) {
  const auto machine = value_or_throw(open_machine("sim:h200-nvlink-x8", {.seed = 3}));
  std::map<std::string, std::vector<double>> gemm;
  std::map<std::string, std::vector<double>> collective;
  for (const test::Row& row : test::read_csv("h200x8_contention.csv")) {
    const CollectiveProbe beside{.collective = *parse_name<Collective>(row.at("collective")),
                                 .bytes = {1 << 24},
                                 .ranks = 8,
                                 .comm_ctas = std::stoi(row.at("ctas")),
                                 .transport = *parse_name<Transport>(row.at("transport"))};
    const Measurement both = value_or_throw(
        machine->measure(probe(std::stoi(row.at("block_n")), std::stoi(row.at("stages")),
                               std::stoll(row.at("k")), beside)));
    const std::string key = row.at("transport") + ", " + row.at("block_n") + ", " + row.at("k");
    gemm[key].push_back(std::log(both.time.median.count() / std::stod(row.at("gemm_us"))));
    collective[key].push_back(
        std::log(both.collective_time.value().median.count() / std::stod(row.at("collective_us"))));
  }
  ASSERT_EQ(gemm.size(), 8U);
  for (const auto& [key, errors] : gemm) EXPECT_LT(std::abs(mean(errors)), 0.25) << key;
  for (const auto& [key, errors] : collective) EXPECT_LT(std::abs(mean(errors)), 0.08) << key;
  EXPECT_LT(std::abs(mean(gemm.at("peer_access, 256, 1024"))), 0.05);
}

TEST(Congestion, more_ctas_than_fill_the_links_slow_a_gemm_more) {
  double before = 1;
  for (const int ctas : {2, 4, 8, 16}) {
    const double slower = factors(probe(256, 4, 1024, exchange(ctas))).gemm;
    EXPECT_GT(slower, before) << ctas;
    before = slower;
  }
  EXPECT_GT(before, 1.7);
  // NCCL's rings request less at a time.
  EXPECT_LT(factors(probe(256, 4, 1024, exchange(16, Transport::ring))).gemm, 1.15);
}

TEST(Congestion, a_deep_gemm_is_slowed_less_and_a_small_tile_more) {
  const double shallow = factors(probe(256, 4, 1024, exchange(16))).gemm;
  EXPECT_LT(factors(probe(256, 4, 8192, exchange(16))).gemm, 1 + (shallow - 1) / 3);
  EXPECT_GT(factors(probe(128, 6, 1024, exchange(16))).gemm, 1.05 * shallow);
}

TEST(Congestion, a_collective_is_slowed_where_its_ctas_are_the_limit_and_hardly_where_links_are) {
  const double by_few = factors(probe(256, 4, 1024, exchange(4))).collective;
  const double by_many = factors(probe(256, 4, 1024, exchange(16))).collective;
  EXPECT_GT(by_few, 1.15);
  EXPECT_LT(by_many, 1.1);
  EXPECT_GT(by_many, 1.005);
}

}  // namespace
}  // namespace overlaptune
