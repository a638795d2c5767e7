// Curves of collectives, and rows of exchanges by copy engines, by hand.

#include "model/collective_model.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

constexpr double kMiB = 1 << 20;
constexpr CollectiveKey kCopies{Collective::all_to_all, 8, 0, Transport::copy_engine};

Measurement measured(double bytes, double time, const CollectiveKey& key = kCopies) {
  return {.probe = CollectiveProbe{.collective = key.collective,
                                   .bytes = {static_cast<std::int64_t>(bytes)},
                                   .ranks = key.ranks,
                                   .comm_ctas = key.comm_ctas,
                                   .transport = key.transport},
          .time = {.median = us(time)}};
}

CollectiveModel fitted(const std::vector<Measurement>& measurements, double copy_gap = 1) {
  return value_or_throw(
      CollectiveModel::fit(measurements, {.replay = 2}, {.copy_gap = us(copy_gap)}));
}

/// Times in a graph of 10 us for few bytes, and 18, 34 and 66 us for 16, 32 and 64 MiB.
const std::vector<Measurement> kProbed{measured(1024, 12), measured(16 * kMiB, 20),
                                       measured(32 * kMiB, 36), measured(64 * kMiB, 68)};

TEST(CollectiveModel, times_are_without_the_replay) {
  const CollectiveModel model = fitted(kProbed);
  const Curve& curve = *model.find(kCopies);
  EXPECT_NEAR(curve(1024), 10, 1e-9);
  EXPECT_NEAR(curve(48 * kMiB), 50, 1e-9);
  // None is shorter than half a microsecond.
  EXPECT_NEAR((*fitted({measured(1024, 2.1)}).find(kCopies))(1024), 0.5, 1e-9);
}

TEST(CollectiveModel, a_row_drains_what_is_left_of_the_least_time_without_its_gaps) {
  // 7 peers of 1 us each, of 10 us.
  EXPECT_NEAR(fitted(kProbed).find_row(kCopies)->drain, 3, 1e-9);
  EXPECT_NEAR(fitted(kProbed, 0.5).find_row(kCopies)->drain, 6.5, 1e-9);
  // Gaps take no more than all of it.
  EXPECT_NEAR(fitted(kProbed, 8).find_row(kCopies)->drain, 0, 1e-9);
  CollectiveKey pair = kCopies;
  pair.ranks = 2;
  EXPECT_NEAR(fitted({measured(1024, 12, pair)}).find_row(pair)->drain, 9, 1e-9);
}

TEST(CollectiveModel, beyond_the_first_piece_a_row_goes_on_at_the_largest_rate) {
  const CollectiveModel model = fitted(kProbed);
  const CopyRow& row = *model.find_row(kCopies);
  // 32 us for the last 32 MiB: a microsecond for each MiB.
  EXPECT_NEAR(row.last(16 * kMiB), 18, 1e-6);
  EXPECT_NEAR(row.last(64 * kMiB), 18 + 48, 1e-6);
  EXPECT_NEAR(row.last(40 * kMiB), 18 + 24, 1e-6);
  EXPECT_NEAR(row.curve(64 * kMiB), 10 + 64, 1e-4);
  EXPECT_NEAR(row.curve(8 * kMiB), 10 + 8, 1e-4);
}

TEST(CollectiveModel, with_few_bytes_a_row_is_as_it_was_probed) {
  // Up to two pieces tell nothing of what is beyond the first.
  const CollectiveModel model = fitted({measured(1024, 12), measured(32 * kMiB, 36)});
  const CopyRow& row = *model.find_row(kCopies);
  EXPECT_NEAR(row.last(32 * kMiB), 34, 1e-6);
  EXPECT_NEAR(row.curve(32 * kMiB), 34, 1e-6);
}

TEST(CollectiveModel, only_copies_with_all_sms_are_rows) {
  CollectiveKey narrow = kCopies;
  narrow.comm_ctas = 16;
  CollectiveKey ring = kCopies;
  ring.transport = Transport::ring;
  const CollectiveModel model =
      fitted({measured(1024, 12), measured(1024, 12, narrow), measured(1024, 12, ring)});
  EXPECT_NE(model.find_row(kCopies), nullptr);
  EXPECT_EQ(model.find_row(narrow), nullptr);
  EXPECT_EQ(model.find_row(ring), nullptr);
  EXPECT_EQ(model.overlap_settings(Collective::all_to_all, 8), std::vector{narrow});
  EXPECT_TRUE(model.overlap_settings(Collective::all_to_all, 4).empty());
  EXPECT_TRUE(model.overlap_settings(Collective::all_reduce, 8).empty());
}

}  // namespace
}  // namespace overlaptune
