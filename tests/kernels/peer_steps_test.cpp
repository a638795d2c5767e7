// The items of an exchange by peer access (kernels/peer_steps.cuh): ranks work them off here, item
// by item in a random order, on matrices of small numbers.

#include "kernels/peer_steps.cuh"

#include <optional>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using kernels::in_halves;
using kernels::PeerPiece;
using kernels::PeerStep;
using kernels::steps_of;
namespace device = kernels::device;

constexpr int kColumns = 13;  // vectors of a row

/// Pieces of a matrix of `rows` rows: whole rows, a group of three pieces, and a single vector.
std::vector<PeerPiece> pieces_of(int rows) {
  const int half = rows / 2;
  return {
      {.rows = half, .columns = kColumns, .counter = 0},
      {.first_row = half, .rows = rows - 1 - half, .columns = 5, .counter = 1},
      {.first_row = half,
       .rows = rows - 1 - half,
       .first_column = 5,
       .columns = kColumns - 5,
       .counter = 1},
      {.first_row = rows - 1, .rows = 1, .columns = kColumns - 1, .counter = 1},
      {.first_row = rows - 1, .rows = 1, .first_column = kColumns - 1, .columns = 1, .counter = 2}};
}

TEST(PeerSteps, sums_are_fetched_behind_all_pieces_of_their_group_and_before_the_next_group) {
  const std::vector<PeerStep> expected{{0, false}, {0, true}, {1, false}, {2, false}, {3, false},
                                       {1, true},  {2, true}, {3, true},  {4, false}, {4, true}};
  EXPECT_EQ(steps_of(pieces_of(8), true), expected);
}

TEST(PeerSteps, other_collectives_have_a_step_for_each_piece) {
  const std::vector<PeerStep> expected{{0, false}, {1, false}, {2, false}, {3, false}, {4, false}};
  EXPECT_EQ(steps_of(pieces_of(8), false), expected);
}

TEST(PeerSteps, large_pieces_are_cut_in_two) {
  const PeerPiece rows{
      .first_row = 3, .rows = 5, .first_column = 2, .columns = 4, .counter = 1, .value = 9};
  const PeerPiece row{.rows = 1, .columns = 21, .counter = 2};
  const std::vector<PeerPiece> pieces{rows, row};
  const std::vector<PeerPiece> halves = in_halves(pieces, 20);
  ASSERT_EQ(halves.size(), 4u);
  EXPECT_EQ(halves[0].rows, 2);
  EXPECT_EQ(halves[1].rows, 3);
  EXPECT_EQ(halves[1].first_row, 5);
  EXPECT_EQ(halves[1].first_column, 2);
  EXPECT_EQ(halves[1].value, 9u);
  EXPECT_EQ(halves[2].columns, 10);
  EXPECT_EQ(halves[3].first_column, 10);
  EXPECT_EQ(halves[3].columns, 11);
  EXPECT_EQ(in_halves(pieces, 22).size(), 2u);
  EXPECT_EQ(in_halves(std::vector<PeerPiece>{{.rows = 1, .columns = 1}}, 1).size(), 1u);
}

TEST(PeerSteps, quotients_are_exact) {
  std::mt19937 random(3);
  std::vector<device::u32> numbers{1, 2, 3, 7, 63, 128, 0x7fffffff, 0x80000000, 0xffffffff};
  for (int i = 0; i < 200; ++i) numbers.push_back((random() >> random() % 32) | 1U);
  for (const device::u32 by : numbers) {
    const device::Divisor divisor(by);
    for (const device::u32 number : numbers) {
      for (const device::u32 each : {0U, by - 1, by, number - 1, number, number / by * by}) {
        ASSERT_EQ(divisor.quotient(each), each / by) << each << " / " << by;
      }
    }
  }
}

/// An all-reduce: the loops of the kernel over the vectors of an item, and its words.
class AllReduce {
 public:
  AllReduce(int ranks, int shares, int rows, std::vector<PeerPiece> pieces)
      : ranks_(ranks),
        shares_(shares),
        pieces_(std::move(pieces)),
        steps_(steps_of(pieces_, true)) {
    for (int rank = 0; rank < ranks; ++rank) {
      Rank& own = all_.emplace_back();
      own.matrix.assign(static_cast<std::size_t>(rows * kColumns), 1 << rank);
      own.writes.assign(own.matrix.size(), 0);
      own.added.assign(pieces_.size(), 0);
    }
  }

  [[nodiscard]] int items() const { return static_cast<int>(steps_.size()) * shares_; }

  /// Whether an item has nothing to wait for any more.
  [[nodiscard]] bool is_ready(int position) const {
    const PeerStep step = step_at(position);
    if (!step.fetches) return true;
    for (const Rank& rank : all_) {
      if (rank.added[static_cast<std::size_t>(step.piece)] < shares_) return false;
    }
    return true;
  }

  void work(int rank, int position) {
    const PeerStep step = step_at(position);
    const auto number = static_cast<std::size_t>(step.piece);
    const PeerPiece& piece = pieces_[number];
    const int share = position % shares_;
    const auto vectors = static_cast<device::u32>(piece.rows * piece.columns);
    const device::u32 owned = device::owned_vectors(vectors, ranks_);
    Rank& own = all_[static_cast<std::size_t>(rank)];
    if (step.fetches) {
      const device::Divisor peers(static_cast<device::u32>(ranks_ - 1));
      const device::u32 blocks = peers.by * ((owned + kThreads - 1) / kThreads);
      for (auto block = static_cast<device::u32>(share); block < blocks;
           block += static_cast<device::u32>(shares_)) {
        const device::Fetched from = device::fetched_block(rank, peers, block, kThreads);
        for (device::u32 at = from.first; at < from.first + kThreads; ++at) {
          const device::u32 vector = static_cast<device::u32>(from.owner) * owned + at;
          if (at >= owned || vector >= vectors) continue;
          const std::size_t place = place_of(piece, vector);
          EXPECT_EQ(all_[static_cast<std::size_t>(from.owner)].matrix[place], sum());
          own.writes[place] += 1;
        }
      }
      return;
    }
    for (device::u32 at = static_cast<device::u32>(share); at < owned;
         at += static_cast<device::u32>(shares_)) {
      const device::u32 vector = static_cast<device::u32>(rank) * owned + at;
      if (vector >= vectors) break;
      const std::size_t place = place_of(piece, vector);
      for (int peer = 0; peer < ranks_; ++peer) {
        EXPECT_EQ(all_[static_cast<std::size_t>(peer)].matrix[place], 1 << peer);
      }
      own.matrix[place] = sum();
      own.writes[place] += 1;
    }
    own.added[number] += 1;
  }

  /// Whether each rank has written each vector of its result once.
  [[nodiscard]] bool is_whole() const {
    for (const Rank& rank : all_) {
      for (const int writes : rank.writes) {
        if (writes != 1) return false;
      }
    }
    return true;
  }

 private:
  static constexpr device::u32 kThreads = 4;

  struct Rank {
    std::vector<int> matrix{};
    std::vector<int> writes{};  ///< to each vector of the result
    std::vector<int> added{};
  };

  [[nodiscard]] PeerStep step_at(int position) const {
    return steps_[static_cast<std::size_t>(position / shares_)];
  }
  [[nodiscard]] int sum() const { return (1 << ranks_) - 1; }
  static std::size_t place_of(const PeerPiece& piece, device::u32 vector) {
    const auto columns = static_cast<device::u32>(piece.columns);
    const auto row = static_cast<device::u32>(piece.first_row) + vector / columns;
    return row * kColumns + static_cast<device::u32>(piece.first_column) + vector % columns;
  }

  int ranks_;
  int shares_;
  std::vector<PeerPiece> pieces_;
  std::vector<PeerStep> steps_;
  std::vector<Rank> all_{};
};

/// A CTA: the item that it works on, and the one that it has asked for meanwhile.
struct Cta {
  int rank = 0;
  std::optional<int> now{};
  int ahead = 0;
};

/// Works off all items with `running` CTAs for each rank; the other CTAs of the launch never begin.
/// False: the CTAs wait for each other.
bool ends(AllReduce& exchange, int ranks, int running, std::mt19937& random) {
  std::vector<int> claims(static_cast<std::size_t>(ranks));
  std::vector<Cta> ctas;
  for (int i = 0; i < ranks * running; ++i) ctas.push_back({.rank = i % ranks});
  const auto claim = [&](int rank) { return claims[static_cast<std::size_t>(rank)]++; };
  while (!ctas.empty()) {
    std::vector<std::size_t> able;
    for (std::size_t i = 0; i < ctas.size(); ++i) {
      const Cta& cta = ctas[i];
      if (!cta.now || *cta.now >= exchange.items() || exchange.is_ready(*cta.now))
        able.push_back(i);
    }
    if (able.empty()) return false;
    const std::size_t chosen = able[random() % able.size()];
    Cta& cta = ctas[chosen];
    if (!cta.now) {
      cta.now = claim(cta.rank);
      cta.ahead = claim(cta.rank);
    } else if (*cta.now < exchange.items()) {
      exchange.work(cta.rank, *cta.now);
      cta.now = cta.ahead;
      if (*cta.now < exchange.items()) cta.ahead = claim(cta.rank);
    } else {
      ctas.erase(ctas.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
  }
  return true;
}

TEST(PeerSteps, each_vector_is_added_up_once_and_comes_to_all_ranks_whoever_runs) {
  constexpr int kShares = 3;
  std::mt19937 random(11);
  for (const int ranks : {2, 3, 4, 8}) {
    for (const int rows : {3, 8, 37}) {
      for (const int large : {1000, 12}) {
        for (int running = 1; running <= kShares; ++running) {
          AllReduce exchange(ranks, kShares, rows, in_halves(pieces_of(rows), large));
          EXPECT_TRUE(ends(exchange, ranks, running, random));
          EXPECT_TRUE(exchange.is_whole())
              << ranks << " ranks, " << rows << " rows, " << running << " CTAs";
        }
      }
    }
  }
}

/// One CTA that runs on each rank takes the items in their order, so an item may wait for none
/// behind it on any rank, whichever rank goes first.
TEST(PeerSteps, an_item_waits_for_smaller_positions_only) {
  for (const int ranks : {2, 4, 8}) {
    AllReduce exchange(ranks, 2, 8, pieces_of(8));
    for (int position = 0; position < exchange.items(); ++position) {
      ASSERT_TRUE(exchange.is_ready(position)) << position;
      for (int rank = ranks; rank-- > 0;) exchange.work(rank, position);
    }
  }
}

}  // namespace
}  // namespace overlaptune
