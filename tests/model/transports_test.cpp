// Transports that no simulated machine has: their measurements are made of the ring's.

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "core/tiling.hpp"
#include "fitted.hpp"
#include "model/search.hpp"

namespace overlaptune {
namespace {

Summary times(Summary time, double factor) {
  for (Microseconds* each : {&time.median, &time.p10, &time.p90}) *each = *each * factor;
  return time;
}

/// Windows are faster than the ring while they are few bytes, and slower when they are many.
double window_factor(Bytes bytes) {
  return bytes.count < (16 << 20) ? 0.8 : 1.3;
}

/// Copy engines: `narrow` times the ring of 16 CTAs where the sums have few, half of it where they
/// have all.
std::vector<Measurement> with_other_transports(const std::vector<Measurement>& ring,
                                               double narrow) {
  std::vector<Measurement> all = ring;
  for (const Measurement& measurement : ring) {
    Measurement other = measurement;
    if (auto* alone = std::get_if<CollectiveProbe>(&other.probe)) {
      if (alone->comm_ctas > 0 && serves(Transport::symmetric, alone->collective)) {
        alone->transport = Transport::symmetric;
        other.time = times(measurement.time, window_factor(alone->bytes));
        all.push_back(other);
      }
      if (alone->comm_ctas != 16 || !serves(Transport::copy_engine, alone->collective)) continue;
      alone->transport = Transport::copy_engine;
      for (const int ctas : {0, 4, 8, 16}) {
        alone->comm_ctas = ctas;
        other.time = times(measurement.time, ctas == 0 ? 0.5 : narrow);
        all.push_back(other);
      }
    } else if (auto* both = std::get_if<ConcurrentProbe>(&other.probe)) {
      CollectiveProbe& exchange = both->collective;
      if (serves(Transport::symmetric, exchange.collective)) {
        exchange.transport = Transport::symmetric;
        other.collective_time = times(*measurement.collective_time, window_factor(exchange.bytes));
        all.push_back(other);
      }
      if (exchange.comm_ctas != 16 || !serves(Transport::copy_engine, exchange.collective))
        continue;
      exchange.transport = Transport::copy_engine;
      other.collective_time = times(*measurement.collective_time, narrow);
      all.push_back(other);
    }
  }
  return all;
}

class TransportsTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-nvlink-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }

  static Model model(double narrow) {
    return value_or_throw(Model::fit(fitted_->machine->platform(),
                                     with_other_transports(fitted_->measurements, narrow)));
  }
  inline static std::unique_ptr<FittedMachine> fitted_;
};

constexpr Problem kScatter{Op::gemm_reduce_scatter, 8192, 8192, 1024, Dtype::bf16, 8};

TEST_F(TransportsTest, all_that_serve_the_op_are_searched_and_predicted_as_promised) {
  const Model fitted = model(1.2);
  const SearchOptions many{.best = 3000, .strategies = {Strategy::signaled, Strategy::chunked}};
  for (const Op op : {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all}) {
    Problem problem = kScatter;
    problem.op = op;
    std::set<Transport> seen;
    for (const Scored& scored : value_or_throw(search(fitted, problem, Launch::graph, many))) {
      const Config& config = scored.config;
      const auto prediction = fitted.predict(problem, config, Launch::graph);
      ASSERT_TRUE(prediction) << to_string(config) << ": " << prediction.error().message;
      EXPECT_NEAR(prediction->time / scored.time, 1, 1e-9) << to_string(config);
      if (config.strategy != Strategy::signaled) {
        EXPECT_TRUE(config.transport == Transport::ring || config.transport == Transport::symmetric)
            << to_string(config);
        continue;
      }
      seen.insert(config.transport);
      EXPECT_TRUE(serves(beside_gemm(config.transport), collective_of(op))) << to_string(config);
      if (config.transport != Transport::copy_engine) continue;
      for (const Cut& cut :
           value_or_throw(group_cuts(tile_order(problem, config.tile, config.raster), config))) {
        EXPECT_TRUE(cut.contiguous) << to_string(config);
      }
    }
    EXPECT_EQ(seen.contains(Transport::copy_engine), op != Op::gemm_all_reduce);
    EXPECT_EQ(seen.contains(Transport::symmetric_then_ring), op != Op::gemm_all_to_all);
  }
}

TEST_F(TransportsTest, copies_need_whole_rows_and_probes_with_all_sms) {
  const auto message = [](const Model& fitted, const Config& config) {
    const auto prediction = fitted.predict(kScatter, config, Launch::graph);
    return prediction ? std::string() : prediction.error().message;
  };
  Config copies{.strategy = Strategy::signaled,
                .tile = {128, 256, 64, 4, 1},
                .raster = 1,
                .comm_ctas = 8,
                .wave_groups = {1024, 1024},
                .transport = Transport::copy_engine};
  const Model fitted = model(1.2);
  EXPECT_EQ(message(fitted, copies), "");
  copies.wave_groups = {1024 + 8, 1024 - 8};  // a column of one panel of every block
  EXPECT_NE(message(fitted, copies).find("whole rows"), std::string::npos);
  copies.wave_groups = {1024, 1024};
  std::vector<Measurement> few = with_other_transports(fitted_->measurements, 1.2);
  std::erase_if(few, [](const Measurement& m) {
    const auto* probe = std::get_if<CollectiveProbe>(&m.probe);
    return probe != nullptr && probe->transport == Transport::copy_engine && probe->comm_ctas == 0;
  });
  const Model without = value_or_throw(Model::fit(fitted_->machine->platform(), few));
  EXPECT_NE(message(without, copies).find("all SMs"), std::string::npos);
}

/// Sums that do not keep up are made when the GEMM has ended: never later than if all were.
TEST_F(TransportsTest, sums_that_fall_behind_cost_no_more_than_all_of_them_at_the_end) {
  const Model keeps_up = model(0.01);
  const Model falls_behind = model(100);
  const Microseconds a_megabyte = [] {
    for (const Measurement& m : fitted_->measurements) {
      const auto* probe = std::get_if<LaunchProbe>(&m.probe);
      if (probe != nullptr && probe->cost == LaunchCost::reorder_per_mb) return m.time.median;
    }
    return Microseconds{};
  }();
  ASSERT_GT(a_megabyte.count(), 0);
  // Of each MB sent by 8 ranks an eighth is written, and 8 eighths are read; a copy reads and
  // writes one.
  const Microseconds all = a_megabyte * (8192.0 * 8192 * 2 / 1e6) * ((8.0 + 1) / 8 / 2);
  int later = 0;
  for (const std::vector<std::int64_t>& groups :
       {std::vector<std::int64_t>{1024, 1024}, {512, 512, 512, 512}, {1792, 256}, {2048}}) {
    const Config copies{.strategy = Strategy::signaled,
                        .tile = {128, 256, 64, 4, 1},
                        .raster = 1,
                        .comm_ctas = 8,
                        .wave_groups = groups,
                        .transport = Transport::copy_engine};
    const auto soon = value_or_throw(keeps_up.predict(kScatter, copies, Launch::graph)).time;
    const auto late = value_or_throw(falls_behind.predict(kScatter, copies, Launch::graph)).time;
    // The clock, too, depends on how long the exchange takes: a little.
    EXPECT_GE(late.count(), soon.count() * 0.999);
    EXPECT_LE(late.count(), (soon + all).count() * 1.001);
    later += late > soon + us(1) ? 1 : 0;
  }
  EXPECT_GT(later, 0);
}

}  // namespace
}  // namespace overlaptune
