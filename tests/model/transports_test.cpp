// Transports that this simulated machine does not have. Their measurements are made from the
// ring's.

#include <algorithm>
#include <array>
#include <set>

#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "fitted.hpp"
#include "model/search.hpp"

namespace overlaptune {
namespace {

Summary times(Summary time, double factor) {
  for (Microseconds* each : {&time.median, &time.p10, &time.p90}) *each = *each * factor;
  return time;
}

/// Windows are faster than the ring for few bytes, and slower for many.
double window_factor(Bytes bytes) {
  return bytes.count < (16 << 20) ? 0.8 : 1.3;
}

constexpr double kAccessLatency = 12;  // us

/// The measurements of the ring, and made-up ones of the other transports. Peer access with up to
/// 16 CTAs takes a latency and `per_byte` microseconds for each byte. Copy engines take `narrow`
/// times the ring of 16 CTAs where the own parts have few SMs, and a twentieth of that ring where
/// they have all.
std::vector<Measurement> with_other_transports(const std::vector<Measurement>& ring, double narrow,
                                               double per_byte) {
  std::vector<Measurement> all = ring;
  for (const Measurement& measurement : ring) {
    Measurement other = measurement;
    if (auto* alone = std::get_if<CollectiveProbe>(&other.probe)) {
      if (alone->comm_ctas > 0 && serves(Transport::symmetric, alone->collective)) {
        alone->transport = Transport::symmetric;
        other.time = times(measurement.time, window_factor(alone->bytes));
        all.push_back(other);
      }
      const int ctas_beside = alone->comm_ctas;
      if (ctas_beside > 0 && ctas_beside <= 16 &&
          serves(Transport::peer_access, alone->collective)) {
        alone->transport = Transport::peer_access;
        const double time = kAccessLatency + per_byte * static_cast<double>(alone->bytes.count);
        other.time = times(measurement.time, time / measurement.time.median.count());
        all.push_back(other);
      }
      if (ctas_beside != 16 || !serves(Transport::copy_engine, alone->collective)) continue;
      alone->transport = Transport::copy_engine;
      for (const int ctas : {0, 4, 8, 16}) {
        alone->comm_ctas = ctas;
        other.time = times(measurement.time, ctas == 0 ? 0.05 : narrow);
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
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-rings-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }

  static Model model(double narrow, double per_byte = 4e-6) {
    return value_or_throw(
        Model::fit(fitted_->machine->platform(),
                   with_other_transports(fitted_->measurements, narrow, per_byte)));
  }
  inline static std::unique_ptr<FittedMachine> fitted_;
};

constexpr Problem kExchange{Op::gemm_all_to_all, 8192, 8192, 1024, Elements::bf16, 8};

TEST_F(TransportsTest, all_that_serve_the_op_are_searched_and_predicted_as_promised) {
  const SearchOptions many{.best = 3000,
                           .strategies = {strategy_of<Signaled>(), strategy_of<Chunked>()}};
  const std::array<Model, 2> models{model(1.2, 2e-6), model(1.2, 8e-6)};  // one that prefers access
  for (const Op op : {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::gemm_all_to_all}) {
    Problem problem = kExchange;
    problem.op = op;
    std::set<GroupTransports> seen;
    for (const Model& fitted : models) {
      for (const Scored& scored : value_or_throw(search(fitted, problem, Launch::graph, many))) {
        const Config& config = scored.config;
        const auto prediction = fitted.predict(problem, config, Launch::graph);
        ASSERT_TRUE(prediction) << to_string(config) << ": " << prediction.error().message;
        EXPECT_NEAR(prediction->time / scored.time, 1, 1e-9) << to_string(config);
        const auto* signaled = std::get_if<Signaled>(&config);
        if (signaled == nullptr) {
          EXPECT_TRUE(serves(transport_of(config), collective_of(op))) << to_string(config);
          continue;
        }
        const Transport beside = signaled->transport.beside_gemm;
        seen.insert(signaled->transport);
        EXPECT_TRUE(serves(beside, collective_of(op))) << to_string(config);
        const TileOrder order = tile_order(problem, signaled->tile, signaled->swizzle);
        for (const Cut& cut : value_or_throw(group_cuts(order, signaled->wave_groups))) {
          EXPECT_TRUE(cut.contiguous || beside != Transport::copy_engine) << to_string(config);
        }
      }
    }
    EXPECT_EQ(seen.contains(all_groups_by(Transport::copy_engine)), op == Op::gemm_all_to_all);
    EXPECT_TRUE(seen.contains(all_groups_by(Transport::peer_access)));
    EXPECT_EQ(seen.contains(kSymmetricThenRing), op != Op::gemm_all_to_all);
  }
}

TEST_F(TransportsTest, copies_need_whole_rows_and_probes_with_all_sms) {
  const auto message = [](const Model& fitted, const Config& config) {
    const auto prediction = fitted.predict(kExchange, config, Launch::graph);
    return prediction ? std::string() : prediction.error().message;
  };
  Signaled copies{.tile = {128, 256, 64, 4, 1},
                  .swizzle = 1,
                  .comm_ctas = 8,
                  .transport = all_groups_by(Transport::copy_engine),
                  .wave_groups = {1024, 1024}};
  const Model fitted = model(1.2);
  EXPECT_EQ(message(fitted, copies), "");
  copies.wave_groups = {1024 + 8, 1024 - 8};  // a column of one panel of every block
  EXPECT_NE(message(fitted, copies).find("whole swizzle groups"), std::string::npos);
  copies.wave_groups = {1024, 1024};
  std::vector<Measurement> few = with_other_transports(fitted_->measurements, 1.2, 4e-6);
  std::erase_if(few, [](const Measurement& m) {
    const auto* probe = std::get_if<CollectiveProbe>(&m.probe);
    return probe != nullptr && probe->transport == Transport::copy_engine && probe->comm_ctas == 0;
  });
  const Model without = value_or_throw(Model::fit(fitted_->machine->platform(), few));
  EXPECT_NE(message(without, copies).find("all SMs"), std::string::npos);
}

/// One kernel exchanges all groups, wherever they end: there is no other launch and no copy into
/// place.
TEST_F(TransportsTest, with_peer_access_another_group_costs_little_wherever_it_ends) {
  const Model fitted = model(1.2);
  const Problem problem{Op::gemm_all_reduce, 8192, 8192, 1024, Elements::bf16, 8};
  const auto exchanges = [&](Transport transport, const std::vector<std::int64_t>& groups) {
    const Signaled config{.tile = {128, 256, 64, 4, 1},
                          .swizzle = 4,
                          .comm_ctas = 8,
                          .transport = all_groups_by(transport),
                          .wave_groups = groups};
    return value_or_throw(fitted.predict(problem, config, Launch::graph)).collective_alone.count();
  };
  const std::vector<std::int64_t> one{2048};
  const std::vector<std::int64_t> many{132, 124, 256, 124, 132, 256, 512, 512};
  const double more_by_ring = exchanges(Transport::ring, many) - exchanges(Transport::ring, one);
  const double more_by_access =
      exchanges(Transport::peer_access, many) - exchanges(Transport::peer_access, one);
  EXPECT_GT(more_by_access, 0);
  EXPECT_LT(more_by_access, kAccessLatency / 4 * 7);
  EXPECT_GT(more_by_ring, 3 * more_by_access);
}

/// Own parts that cannot keep up are moved after the GEMM, and never later than if all were moved
/// then.
TEST_F(TransportsTest, own_parts_that_fall_behind_cost_no_more_than_all_of_them_at_the_end) {
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
  // An eighth of each MB stays with its rank.
  const Microseconds all = a_megabyte * (8192.0 * 8192 * 2 / 1e6) / 8;
  int later = 0;
  for (const std::vector<std::int64_t>& groups :
       {std::vector<std::int64_t>{1024, 1024}, {512, 512, 512, 512}, {1792, 256}, {2048}}) {
    const Signaled copies{.tile = {128, 256, 64, 4, 1},
                          .swizzle = 1,
                          .comm_ctas = 8,
                          .transport = all_groups_by(Transport::copy_engine),
                          .wave_groups = groups};
    const auto soon = value_or_throw(keeps_up.predict(kExchange, copies, Launch::graph)).time;
    const auto late = value_or_throw(falls_behind.predict(kExchange, copies, Launch::graph)).time;
    // The clock also depends a little on the time of the exchange.
    EXPECT_GE(late.count(), soon.count() * 0.999);
    EXPECT_LE(late.count(), (soon + all).count() * 1.001);
    later += late > soon + us(1) ? 1 : 0;
  }
  EXPECT_GT(later, 0);
}

}  // namespace
}  // namespace overlaptune
