#include "reports/peer_matrix.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using testing::HasSubstr;
using testing::Not;

Measurement copied(int from, int to, std::int64_t bytes, double time) {
  return {.probe = PeerProbe{{bytes}, from, to}, .time = rows::times(time)};
}

/// Three GPUs. The pair 2, 0 was not probed.
std::vector<Measurement> some_pairs() {
  return {copied(0, 1, 1'000'000, 10),
          copied(0, 2, 1'000'000, 20),
          copied(1, 0, 1'000'000, 40),
          copied(1, 2, 1'000'000, 5),
          copied(2, 1, 1'000'000, 10),
          copied(0, 1, 4096, 3),
          {.probe = CopyProbe{{1'000'000}, 0}, .time = rows::times(1)}};
}

TEST(PeerMatrix, has_a_row_for_each_gpu_that_copies) {
  const auto matrix = peer_matrix(some_pairs());
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->gpus, 3);
  EXPECT_EQ(matrix->at(0, 1).gb_per_s, 100);
  EXPECT_EQ(matrix->at(1, 0).gb_per_s, 25);
  EXPECT_EQ(matrix->at(1, 2).gb_per_s, 200);
  EXPECT_EQ(matrix->at(0, 1).latency, us(3));
  EXPECT_EQ(matrix->at(2, 0), PeerLink{});
  EXPECT_EQ(matrix->at(1, 1), PeerLink{});
}

TEST(PeerMatrix, takes_the_largest_and_the_smallest_copy) {
  const std::vector<Measurement> sizes{copied(0, 1, 1'000'000, 100), copied(0, 1, 4'000'000, 200),
                                       copied(0, 1, 2'000'000, 100), copied(0, 1, 16384, 9),
                                       copied(0, 1, 4096, 4)};
  const auto matrix = peer_matrix(sizes);
  ASSERT_TRUE(matrix);
  EXPECT_EQ(matrix->at(0, 1).gb_per_s, 20);
  EXPECT_EQ(matrix->at(0, 1).latency, us(4));
}

TEST(PeerMatrix, is_absent_where_no_pair_was_probed) {
  const std::vector<Measurement> others{
      {.probe = CopyProbe{{1'000'000}, 0}, .time = rows::times(1)}};
  EXPECT_FALSE(peer_matrix(others));
  EXPECT_FALSE(peer_matrix({}));
}

TEST(PeerMatrix, as_rows_has_the_pairs_that_were_probed) {
  const auto rows = to_json_rows(peer_table(*peer_matrix(some_pairs())));
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(
      rows[0],
      (OrderedJson{{"from", 0}, {"to", 1}, {"bandwidth_gb_per_s", 100.0}, {"latency_us", 3.0}}));
  EXPECT_EQ(rows[2].at("from"), 1);
  EXPECT_EQ(rows[2].at("to"), 0);
  EXPECT_TRUE(rows[2].at("latency_us").is_null());
}

TEST(PeerMatrix, as_text_is_a_square) {
  const std::string text = to_markdown(*peer_matrix(some_pairs()));
  EXPECT_THAT(text, HasSubstr("| from | to 0 |  to 1 |  to 2 |"));
  EXPECT_THAT(text, HasSubstr("|    0 |    - | 100.0 |  50.0 |"));
  EXPECT_THAT(text, HasSubstr("|    2 |    - | 100.0 |     - |"));
  EXPECT_THAT(text, HasSubstr("launch included"));
  const std::vector<Measurement> large{copied(0, 1, 1'000'000, 10)};
  EXPECT_THAT(to_markdown(*peer_matrix(large)), Not(HasSubstr("launch")));
}

TEST(PeerMatrix, of_platforms_follows_their_names) {
  Snapshot snapshot;
  for (const PlatformId id : {1, 2, 3}) {
    PlatformRecord record{.stored = {.id = id, .platform = rows::platform()}};
    record.stored.platform.name += std::to_string(id);
    if (id != 2) record.measurements = some_pairs();
    snapshot.platforms.push_back(record);
  }
  const auto rows = to_json_rows(peer_tables(snapshot));
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(rows[0].at("platform"), "sim:eight1");
  EXPECT_EQ(rows[9].at("platform"), "sim:eight3");
}

}  // namespace
}  // namespace overlaptune
