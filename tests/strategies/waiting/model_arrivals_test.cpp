// How rows of A arrive, from parts that are made by hand: 14 MiB, of which 8 ranks have a part
// each.

#include "strategies/waiting/model_arrivals.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/strategies/made_parts.hpp"

namespace overlaptune::waiting {
namespace {

constexpr double kMiB = 1 << 20;
constexpr double kReceived = 14 * kMiB * 7 / 8;
const Problem kProblem{Op::all_gather_gemm, 7168, 4096, 1024, Elements::bf16, 8};
const CommSetting kCopies{kNoCtas, Transport::copy_engine};
const CommSetting kPushes{16, Transport::peer_access};

/// Parts with GEMMs of the library of 100 us and more.
class ArrivalsTest : public testing::Test {
 protected:
  ArrivalsTest() {
    parts_.platform.sms = 132;
    parts_.costs.push_meet = us(8);
    parts_.costs.push_gap = us(4);
    parts_.costs.peer_gap = us(1.5);
    parts_.copies = Curve({{1e6, 12}, {2e6, 22}, {4e6, 62}});
    for (const double bytes : {1024.0, 14 * kMiB}) {
      probed_.push_back(measured({Collective::all_gather, 8}, bytes, bytes > 1024 ? 77 : 7));
    }
  }

  /// A collective that takes 50 us alone, and slows a GEMM of 100 us by a factor, as this one slows
  /// it by another.
  void slowed(const CollectiveKey& key, double gemm, double collective) {
    const std::int64_t bytes = static_cast<std::int64_t>(kReceived);
    probed_.push_back(measured(key, kReceived, 50));
    ConcurrentProbe probe{.gemm = std::get<GemmProbe>(gemms_.front().probe)};
    probe.collective = {key.collective, {bytes}, key.ranks, key.comm_ctas, key.transport};
    beside_.push_back({.probe = probe,
                       .time = {.median = us(100 * gemm)},
                       .collective_time = Summary{.median = us(50 * collective)}});
  }

  [[nodiscard]] Expected<Arrivals> arrivals(const CommSetting& way) {
    parts_.collectives = value_or_throw(CollectiveModel::fit(probed_, {}, parts_.costs));
    ClassGemms& gemms = parts_.gemms[Elements::bf16];
    gemms.generated.emplace();
    gemms.library = value_or_throw(LibraryGemmModel::fit(gemms_, {}, {}, 132, nullptr));
    std::vector<Measurement> all = gemms_;
    all.insert(all.end(), beside_.begin(), beside_.end());
    gemms.contention = ContentionModel::fit(all, {}, {}, parts_.collectives, nullptr, 132);
    return arrivals_of(parts_, kProblem, way);
  }

  Model::Parts parts_{};
  std::vector<Measurement> gemms_ = library_gemms();
  std::vector<Measurement> probed_{};
  std::vector<Measurement> beside_{};
};

/// Pieces one after the other, chunk after chunk, and a tile that multiplies in small steps what is
/// there. Pushes of all groups have begun when the first chunk has come.
TEST_F(ArrivalsTest, a_tile_that_begins_when_chunks_have_arrived_in_effect_never_waits) {
  Arrivals copies = arrivals(kCopies).value();
  copies.chunk_gap = copies.gap / 3;
  constexpr std::size_t kGroups = 3;
  const double sizes[kGroups] = {0.5 * kReceived, 0.2 * kReceived, 0.3 * kReceived};
  for (const int chunks : {1, 2, 4, 7}) {
    for (const double tile_time : {5.0, 60.0, 400.0}) {
      double now = copies.meet;
      std::vector<std::vector<double>> arrived(kGroups);  // [group][chunk]
      for (int chunk = 0; chunk < chunks; ++chunk) {
        for (std::size_t group = 0; group < kGroups; ++group) {
          now += (chunk == 0 ? copies.gap : copies.chunk_gap) +
                 sizes[group] / chunks * copies.per_byte;
          arrived[group].push_back(now);
        }
      }
      double bytes = 0;
      for (std::size_t group = 0; group < kGroups; ++group) {
        bytes += sizes[group];
        const auto end_from = [&](double start) {
          constexpr double kStep = 1e-3;
          double done = 0;
          double at = start;
          for (; done < tile_time; at += kStep) {
            const auto chunk = static_cast<std::size_t>(done * chunks / tile_time);
            if (at >= arrived[group][std::min(chunk, arrived[group].size() - 1)]) done += kStep;
          }
          return at;
        };
        const double start = copies.until({.group = group + 1, .groups = kGroups, .bytes = bytes},
                                          chunks, tile_time, 1);
        EXPECT_NEAR(end_from(start), start + tile_time, 0.02) << chunks << " " << tile_time;
        EXPECT_NEAR(end_from(0), start + tile_time, 0.02) << chunks << " " << tile_time;
      }
    }
  }
}

/// The links carry the rows in 70 us from 16 CTAs, and one of 4 CTAs would send them in 800, so
/// that 8 tiles take 100. A count takes 1 us. Half of the 7 us of the smallest exchange goes by
/// behind a piece.
TEST_F(ArrivalsTest, rows_that_tiles_push_come_as_fast_as_tiles_or_links) {
  probed_.push_back(measured({Collective::all_gather, 8, 4, Transport::peer_access}, 1024, 9));
  probed_.push_back(
      measured({Collective::all_gather, 8, 4, Transport::peer_access}, 14 * kMiB, 209));
  probed_.push_back(measured({Collective::all_gather, 8, 16, Transport::peer_access}, 1024, 7));
  probed_.push_back(
      measured({Collective::all_gather, 8, 16, Transport::peer_access}, 14 * kMiB, 77));
  const auto made = arrivals({kTilesPush, Transport::peer_access});
  ASSERT_TRUE(made) << made.error().message;
  EXPECT_TRUE(made->by_tiles());
  EXPECT_DOUBLE_EQ(made->gap, 3.5);
  EXPECT_NEAR(made->bytes * made->per_byte, 70, 0.1);
  struct Case {
    int chunks, at_once;
    double tiles, links;
  };
  for (const auto& [chunks, at_once, tiles, links] :
       {Case{1, 16, 30, 70}, Case{4, 16, 30, 70}, Case{8, 8, 30, 100}, Case{100, 16, 30, 70},
        Case{1, 12, 200, 70}, Case{4, 8, 200, 100}, Case{8, 12, 200, 70}, Case{4, 8, 80, 100}}) {
    // The last tiles begin at 20 and load a chunk after the other. The peer's tile takes 120.
    const PushingTiles pushing{
        .begin = 20, .end = 20 + tiles, .chunk_gap = 0.5, .tile_time = 120, .at_once = at_once};
    double now = 0;
    for (int chunk = 1; chunk <= chunks; ++chunk) {
      const double by_tiles = 20 + chunk * (tiles / chunks + 0.5);
      const double by_links = 20 + chunk * links / chunks;
      now = std::max(now, std::max({by_tiles, by_links, 20.0 + chunk}) + 3.5) + 120.0 / chunks;
    }
    EXPECT_NEAR(made->until_pushed(pushing, chunks) + 120, now, 0.1) << chunks << " " << tiles;
  }
}

TEST_F(ArrivalsTest, tiles_push_only_where_pushes_were_probed) {
  const auto made = arrivals({kTilesPush, Transport::peer_access});
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("no all-gathers by peer access are stored"),
            std::string::npos);
  for (const CommSetting& way : ways_of(parts_, 8))
    EXPECT_EQ(way.transport, Transport::copy_engine);
}

/// The time of a further byte is that between the two largest copies: 40 us for 2 MB.
TEST_F(ArrivalsTest, by_copies_start_and_signal_are_a_gap) {
  const auto copies = arrivals(kCopies);
  ASSERT_TRUE(copies) << copies.error().message;
  EXPECT_EQ(copies->way, kCopies);
  EXPECT_DOUBLE_EQ(copies->bytes, kReceived);
  EXPECT_DOUBLE_EQ(copies->meet, 8);
  EXPECT_DOUBLE_EQ(copies->gap, 4);
  EXPECT_DOUBLE_EQ(copies->chunk_gap, 4);
  EXPECT_DOUBLE_EQ(copies->per_byte, 40 / 2e6);
  EXPECT_DOUBLE_EQ(copies->until(1e6), 8 + 4 + 20);
  EXPECT_EQ(copies->slowdown.gemm, 1);
  EXPECT_EQ(copies->feed.share, 0);
  EXPECT_DOUBLE_EQ(copies->background.gemm, parts_.gemms[Elements::bf16].library.time(
                                                kProblem.m, kProblem.n, kProblem.k, 132));
  EXPECT_DOUBLE_EQ(copies->background.collective, 77);
}

/// Each collective is probed with a CTA more and less, too, which would slow the GEMM otherwise.
TEST_F(ArrivalsTest, copies_slow_a_gemm_like_the_first_collective_that_was_probed) {
  const auto slowed_by = [&](const CollectiveKey& key, double factor) {
    for (const int more : {-1, 0, 1}) {
      CollectiveKey other = key;
      other.comm_ctas += more;
      slowed(other, more == 0 ? factor : 2, 1.5);
    }
    const auto copies = arrivals(kCopies);
    return copies ? copies->slowdown.gemm : 0;
  };
  EXPECT_NEAR(slowed_by({Collective::all_reduce, 8, 32, Transport::ring}, 1.1), 1.1, 1e-12);
  EXPECT_NEAR(slowed_by({Collective::all_reduce, 8, 16, Transport::symmetric}, 1.2), 1.2, 1e-12);
  EXPECT_NEAR(slowed_by({Collective::all_to_all, 8, 8, Transport::copy_engine}, 1.3), 1.3, 1e-12);
  EXPECT_DOUBLE_EQ(arrivals(kCopies)->gap, 4);  // no GEMM slows copies
}

TEST_F(ArrivalsTest, copies_need_probes_of_two_sizes) {
  parts_.copies = Curve({{1e6, 12}});
  EXPECT_FALSE(arrivals(kCopies));
  parts_.copies = Curve({{1e6, 12}, {2e6, 22}});
  EXPECT_TRUE(arrivals(kCopies));
  parts_.copies.reset();
  const auto none = arrivals(kCopies);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("no copies to a peer"), std::string::npos);
}

/// The 10 us of the smallest exchange are a gap of 1.5 and twice 4.25. A block of 2 MiB takes 20
/// us, its second MiB 4: twice that leaves 2 us more than the smallest exchange takes.
TEST_F(ArrivalsTest, by_pushes_the_smallest_exchange_is_half_before_and_half_behind) {
  const CollectiveKey key{Collective::all_gather, 8, 16, Transport::peer_access};
  probed_.push_back(measured(key, 1024, 10));
  probed_.push_back(measured(key, kMiB, 16));
  probed_.push_back(measured(key, 2 * kMiB, 20));
  const auto pushes = arrivals(kPushes);
  ASSERT_TRUE(pushes) << pushes.error().message;
  EXPECT_EQ(pushes->way, kPushes);
  EXPECT_DOUBLE_EQ(pushes->meet, 4.25);
  EXPECT_DOUBLE_EQ(pushes->gap, 1.5 + 2);
  EXPECT_DOUBLE_EQ(pushes->chunk_gap, 1.5);
  // An exchange of a MiB brings a rank seven eighths of it.
  EXPECT_DOUBLE_EQ(pushes->per_byte * kMiB, 4 / 0.875);
  EXPECT_EQ(pushes->slowdown.gemm, 1);

  // A GEMM beside them slows them, and they the GEMM.
  slowed({Collective::all_to_all, 8, 16, Transport::peer_access}, 1.2, 1.5);
  const auto beside = arrivals(kPushes);
  ASSERT_TRUE(beside);
  EXPECT_NEAR(beside->slowdown.gemm, 1.2, 1e-12);
  EXPECT_NEAR(beside->gap, 3.5 * 1.5, 1e-12);
  EXPECT_NEAR(beside->chunk_gap, 1.5 * 1.5, 1e-12);
  EXPECT_NEAR(beside->per_byte * kMiB, 4 / 0.875 * 1.5, 1e-12);
  EXPECT_DOUBLE_EQ(beside->meet, 4.25);
}

TEST_F(ArrivalsTest, pushes_are_slowed_like_the_exchange_that_they_are) {
  slowed({Collective::all_to_all, 8, 16, Transport::peer_access}, 1.2, 1.5);
  slowed({Collective::all_gather, 8, 16, Transport::peer_access}, 1.3, 1.4);
  const auto pushes = arrivals(kPushes);
  ASSERT_TRUE(pushes);
  EXPECT_NEAR(pushes->slowdown.gemm, 1.3, 1e-12);
  EXPECT_NEAR(pushes->slowdown.collective, 1.4, 1e-12);
}

/// A smallest exchange of 1 us is all gap, and a byte of the second MiB that takes longer than one
/// of the first shortens no gap.
TEST_F(ArrivalsTest, no_part_of_a_push_is_less_than_nothing) {
  const CollectiveKey key{Collective::all_gather, 8, 16, Transport::peer_access};
  probed_.push_back(measured(key, 1024, 1));
  probed_.push_back(measured(key, kMiB, 2));
  probed_.push_back(measured(key, 2 * kMiB, 12));
  const auto pushes = arrivals(kPushes);
  ASSERT_TRUE(pushes);
  EXPECT_DOUBLE_EQ(pushes->meet, 0);
  EXPECT_DOUBLE_EQ(pushes->gap, 1);
}

TEST_F(ArrivalsTest, a_way_that_was_not_probed_is_an_error) {
  EXPECT_FALSE(arrivals(kPushes));
  probed_.push_back(measured({Collective::all_gather, 8, 8, Transport::peer_access}, 1024, 10));
  EXPECT_FALSE(arrivals(kPushes));
  parts_.gemms.clear();
  EXPECT_FALSE(arrivals_of(parts_, kProblem, kCopies));
}

TEST_F(ArrivalsTest, the_ways_are_copies_the_probed_pushes_and_those_of_tiles) {
  for (const int ctas : {8, 16}) {
    probed_.push_back(
        measured({Collective::all_gather, 8, ctas, Transport::peer_access}, 1024, 10));
  }
  probed_.push_back(measured({Collective::all_gather, 8, 4, Transport::ring}, 1024, 10));
  probed_.push_back(measured({Collective::all_gather, 4, 32, Transport::peer_access}, 1024, 10));
  ASSERT_TRUE(arrivals(kCopies));
  EXPECT_EQ(ways_of(parts_, 8), (std::vector<CommSetting>{kCopies,
                                                          {8, Transport::peer_access},
                                                          {16, Transport::peer_access},
                                                          {kTilesPush, Transport::peer_access}}));
}

}  // namespace
}  // namespace overlaptune::waiting
