// How clusters share out a queue (kernels/device/homes.cuh), with a thread of the emulator for each
// cluster: whatever their number, and whoever comes late, each item is taken once, and the flags
// are zero again.

#include "kernels/device/homes.cuh"

#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

namespace device = kernels::device;

/// Those of `Items` (kernels/device/hopper_items.cuh) that the queue needs.
struct Items {
  volatile int position = 0;
  volatile int there = -1;
  volatile int behind = -1;
  volatile device::u32 arrived = 0;
  volatile device::u32 left_out = 0;
};

struct Case {
  int clusters = 1;
  int homes = 1;
  int items = 1;
  int room = 1;  // clusters that run at once
  bool deals = true;
  bool one_each = false;
  int looks = 0;  // of a cluster without a home, whether all have come
};

class Queue {
 public:
  Queue(const Case& given, unsigned seed) : case_(given), machine_(0, 0, seed) {
    std::memset(&flags_, 0, sizeof flags_);
    emulator::machine = &machine_;
  }

  /// The items that each cluster takes.
  std::vector<std::vector<int>> run() {
    device::Run run{.ranks = 1,
                    .items = case_.items,
                    .clusters = case_.clusters,
                    .homes = case_.homes,
                    .deals = case_.deals ? 1 : 0};
    run.flags[0] = &flags_;
    std::vector<std::vector<int>> taken(static_cast<std::size_t>(case_.clusters));
    int room = case_.room;
    int last = 0;
    machine_.at_different_times(case_.clusters, [&](int cluster) {
      while (room == 0) machine_.jitter();
      --room;
      Items items;
      items.arrived = device::arrive(run);
      auto& mine = taken[static_cast<std::size_t>(cluster)];
      const auto step = [&](int from) { return from + run.clusters; };
      const auto start = [](int own) { return own; };
      int position = device::first_position(run, cluster, items, case_.looks, start, step);
      while (position < case_.items) {
        mine.push_back(position);
        if (case_.one_each) break;
        items.position = position;
        machine_.jitter();
        position = device::next_position(run, items, step);
      }
      last += device::leave(run, items) ? 1 : 0;
      ++room;
    });
    EXPECT_EQ(machine_.faults(), "");
    EXPECT_EQ(last, 1) << "of the clusters is the last one";
    return taken;
  }

  [[nodiscard]] bool is_clean() const {
    const device::RankFlags zero{};
    return std::memcmp(&flags_, &zero, sizeof flags_) == 0;
  }

 private:
  Case case_;
  emulator::Machine machine_;
  device::RankFlags flags_;
};

void expect_each_once(const std::vector<std::vector<int>>& taken, int items) {
  std::vector<int> times(static_cast<std::size_t>(items));
  for (const auto& mine : taken) {
    for (const int position : mine) ++times.at(static_cast<std::size_t>(position));
  }
  for (const int each : times) ASSERT_EQ(each, 1);
}

TEST(Homes, each_item_is_taken_once_whoever_comes_late) {
  std::mt19937 random(11);
  const auto from = [&](int low, int high) {
    return std::uniform_int_distribution<int>(low, high)(random);
  };
  for (int round = 0; round < 500; ++round) {
    Case drawn{.clusters = from(1, 7), .items = from(1, 40), .deals = from(0, 1) == 0};
    drawn.homes = from(0, drawn.clusters + 2);
    drawn.room = from(1, drawn.clusters);
    drawn.one_each = from(0, 3) == 0;
    drawn.looks = from(0, 2);
    if (drawn.one_each) drawn.items = drawn.clusters;
    SCOPED_TRACE(testing::Message()
                 << drawn.clusters << " clusters, " << drawn.homes << " homes, " << drawn.items
                 << " items, room for " << drawn.room << (drawn.deals ? ", steps" : "")
                 << (drawn.one_each ? ", one each" : ""));
    Queue queue(drawn, static_cast<unsigned>(round));
    for (int launch = 0; launch < 2; ++launch) {
      expect_each_once(queue.run(), drawn.items);
      ASSERT_TRUE(queue.is_clean());
      if (HasFailure()) return;
    }
  }
}

TEST(Homes, one_cluster_alone_takes_all_in_order) {
  const auto taken = Queue({.clusters = 5, .homes = 5, .items = 12, .room = 1}, 1).run();
  int ones = 0;  // clusters with items: the others come when nothing is left
  for (const auto& mine : taken) {
    if (mine.empty()) continue;
    ++ones;
    // Its home, then the rest from the first one on.
    std::vector<int> expected{mine.front()};
    for (int item = 0; item < 12; ++item) {
      if (item != mine.front()) expected.push_back(item);
    }
    EXPECT_EQ(mine, expected);
  }
  EXPECT_EQ(ones, 1);
}

}  // namespace
}  // namespace overlaptune
