// The collectives of wave groups, from parts that are made by hand.

#include "strategies/signaled/model_collectives.hpp"

#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "model/parts.hpp"

namespace overlaptune::signaled {
namespace {

constexpr double kMiB = 1 << 20;
constexpr Problem kExchange{Op::gemm_all_to_all, 8192, 4096, 1024, Elements::bf16, 8};

Measurement measured(double bytes, double time, int ctas, Transport transport) {
  return {.probe = CollectiveProbe{.collective = Collective::all_to_all,
                                   .bytes = {static_cast<std::int64_t>(bytes)},
                                   .ranks = 8,
                                   .comm_ctas = ctas,
                                   .transport = transport},
          .time = {.median = us(time)}};
}

TEST(ExchangeOf, keeps_only_how_groups_are_sent) {
  const Signaled config{.tile = {128, 256, 64, 4, 2},
                        .swizzle = 8,
                        .comm_ctas = 16,
                        .transport = all_groups_by(Transport::peer_access),
                        .wait = Wait::kernel,
                        .wave_groups = {928, 96}};
  const Signaled exchange{
      .comm_ctas = 16, .transport = all_groups_by(Transport::peer_access), .wait = Wait::kernel};
  EXPECT_EQ(exchange_of(config), exchange);
}

class GroupCollectivesTest : public testing::Test {
 protected:
  GroupCollectivesTest() {
    parts_.platform.sms = 132;
    parts_.launch = {.replay = 2, .kernel_gap = 3, .trigger = 4, .reorder_per_byte = 8e-6};
    parts_.costs.copy_gap = us(1);
    parts_.costs.peer_gap = us(1.5);
    gemms_.generated.emplace();
  }

  void fit(const std::vector<Measurement>& measurements) {
    parts_.collectives =
        value_or_throw(CollectiveModel::fit(measurements, parts_.launch, parts_.costs));
  }
  [[nodiscard]] const Curve& curve(int ctas, Transport transport) const {
    return *parts_.collectives.find({Collective::all_to_all, 8, ctas, transport});
  }
  [[nodiscard]] static Signaled config(Transport transport) {
    return {.comm_ctas = 16, .transport = all_groups_by(transport)};
  }

  Model::Parts parts_{};
  ClassGemms gemms_{};
  double bytes_ = static_cast<double>(collective_bytes(kExchange).count);
};

/// The curve of 16 SMs has a time of 40 us for the problem's 64 MiB, that of all SMs 66; its row
/// drains in 10 - 7 us.
TEST_F(GroupCollectivesTest, by_copies_a_row_drains_once) {
  ASSERT_EQ(bytes_, 64 * kMiB);
  fit({measured(1024, 12, 0, Transport::copy_engine),
       measured(16 * kMiB, 20, 0, Transport::copy_engine),
       measured(32 * kMiB, 36, 0, Transport::copy_engine),
       measured(64 * kMiB, 68, 0, Transport::copy_engine),
       measured(64 * kMiB, 42, 16, Transport::copy_engine)});
  const auto groups = groups_by_copies(parts_, gemms_, kExchange, config(Transport::copy_engine),
                                       curve(16, Transport::copy_engine), Launch::graph, {});
  ASSERT_TRUE(groups);
  EXPECT_NEAR(groups->drain, 3, 1e-9);
  EXPECT_NEAR(groups->shared, 3, 1e-9);
  EXPECT_EQ(groups->first_more, 0);
  EXPECT_NEAR(groups->whole, 18 + 48, 1e-6);  // of the last exchange, a MiB in a microsecond
  EXPECT_NEAR((*groups->curve)(8 * kMiB), 18, 1e-4);
  EXPECT_NEAR(groups->move_beside, 40 / (64 * kMiB), 1e-15);
  EXPECT_NEAR(groups->move_after, 1e-6, 1e-18);  // each rank's own eighth
  EXPECT_EQ(groups->rates.consumer_slowdown, 1);
  EXPECT_EQ(groups->sms, 116);
  EXPECT_EQ(groups->all_sms, 132);
}

TEST_F(GroupCollectivesTest, by_copies_need_a_probe_with_all_sms) {
  fit({measured(64 * kMiB, 42, 16, Transport::copy_engine)});
  EXPECT_FALSE(groups_by_copies(parts_, gemms_, kExchange, config(Transport::copy_engine),
                                curve(16, Transport::copy_engine), Launch::graph, {}));
}

TEST_F(GroupCollectivesTest, by_the_ring_each_waits_for_its_trigger_and_gap) {
  fit({measured(1024, 12, 16, Transport::ring), measured(64 * kMiB, 202, 16, Transport::ring)});
  const GroupCollectives groups =
      group_collectives(parts_, gemms_, kExchange, config(Transport::ring),
                        curve(16, Transport::ring), Launch::graph, {});
  EXPECT_NEAR(groups.whole, 200, 1e-9);
  EXPECT_EQ(groups.drain, 0);
  EXPECT_EQ(groups.shared, 0);
  EXPECT_EQ(groups.rates.trigger, 4);
  EXPECT_EQ(groups.rates.gap, 3 + 4);
  EXPECT_EQ(groups.start, 2);
  EXPECT_EQ(groups.reorder.start, 3);
}

/// One kernel takes all groups: of the least time of 10 us a gap of 1.5 is for each group, and half
/// of the rest is for parting.
TEST_F(GroupCollectivesTest, by_peer_access_are_one_kernel) {
  fit({measured(1024, 12, 16, Transport::peer_access),
       measured(64 * kMiB, 202, 16, Transport::peer_access)});
  const GroupCollectives groups =
      group_collectives(parts_, gemms_, kExchange, config(Transport::peer_access),
                        curve(16, Transport::peer_access), Launch::graph, {});
  EXPECT_NEAR(groups.rates.gap, 1.5, 1e-9);
  EXPECT_NEAR(groups.rates.trigger, 1.5, 1e-9);
  EXPECT_NEAR(groups.shared, 10, 1e-9);
  EXPECT_NEAR(groups.drain, 8.5 / 2, 1e-9);
  // One group alone takes its trigger of 4 us and a whole exchange.
  EXPECT_NEAR(groups.first_more, 10 - 8.5 / 2 + 4 - 1.5, 1e-9);
  EXPECT_EQ(groups.reorder.start, 0);
}

}  // namespace
}  // namespace overlaptune::signaled
