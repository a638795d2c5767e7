// Permits to send (strategies/peer_store/permits.cuh), with a thread of the emulator for each
// storing warp: never more are out than there are, each comes in its turn, and the counts may wrap.

#include "strategies/peer_store/permits.cuh"

#include <algorithm>
#include <cstring>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/emulator/machine.hpp"

namespace overlaptune {
namespace {

namespace device = kernels::device;

constexpr int kWarps = 7;
constexpr int kTiles = 20;  // of each

/// The most that send at once, of some warps with so many permits, which they get in the order in
/// which they have asked.
int most_at_once(int permits, device::u32 first) {
  device::RankFlags flags;
  std::memset(&flags, 0, sizeof flags);
  flags.permits_taken = flags.permits_returned = first;
  device::Run run{.ranks = 1};
  run.flags[0] = &flags;
  emulator::Machine machine(0, 0, static_cast<unsigned>(permits));
  emulator::machine = &machine;
  int sending = 0;
  int most = 0;
  std::vector<int> asked;
  std::vector<int> granted;
  emulator::on_add = [&](const unsigned* word) {
    if (word == &flags.permits_taken) asked.push_back(emulator::own.number);
  };
  machine.at_different_times(kWarps, [&](int warp) {
    emulator::own.number = warp;
    for (int tile = 0; tile < kTiles; ++tile) {
      device::take_permit(run, static_cast<device::u32>(permits));
      granted.push_back(warp);
      most = std::max(most, ++sending);
      // The first ones send for long, so that others come meanwhile.
      for (int wait = 0; wait < 200 && most < permits; ++wait) machine.jitter();
      machine.jitter();
      --sending;
      device::return_permit(run);
      machine.went_on();
    }
  });
  EXPECT_EQ(machine.faults(), "");
  if (permits == 1) {  // with more, two may go on in any order
    EXPECT_EQ(granted, asked);
  }
  EXPECT_EQ(flags.permits_taken, first + kWarps * kTiles);
  EXPECT_EQ(flags.permits_returned, flags.permits_taken);
  return most;
}

TEST(Permits, as_many_send_at_once_as_there_are_permits) {
  for (const device::u32 first : {0U, ~0U - kWarps * kTiles / 2}) {
    for (int permits = 1; permits < kWarps; ++permits) {
      EXPECT_EQ(most_at_once(permits, first), permits) << "counted from " << first;
    }
    EXPECT_LE(most_at_once(1000, first), kWarps);
  }
}

}  // namespace
}  // namespace overlaptune
