// Ranks of a launcher that never come. The test takes as long as the program waits for them.

#include <gtest/gtest.h>

#include "machine/controller/wire/socket.hpp"
#include "tests/machine/controller/launch/job.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

Job torchrun_job() {
  const int port = free_port();
  return {3, [port](int rank) { return torchrun_rank(rank, 3, port); }};
}

TEST(MissingRank, is_named_and_all_others_end_within_a_minute) {
  const auto before = Clock::now();
  Job without_first = torchrun_job();
  Job without_last = torchrun_job();
  without_first.start("probe --machine cuda --db f.db", {1, 2});
  without_last.start("probe --machine cuda --db f.db", {0, 1});
  const auto first = without_first.wait();
  const auto last = without_last.wait();
  EXPECT_LT(Clock::now() - before, 60s);

  for (const int rank : {1, 2}) {
    const tool::Outcome& outcome = first.at(static_cast<std::size_t>(rank));
    EXPECT_EQ(outcome.status, 3);
    EXPECT_NE(outcome.err.find("found no controller (rank 0)"), std::string::npos) << outcome.err;
  }
  EXPECT_EQ(last[0].status, 3);
  EXPECT_NE(last[0].err.find("of 3 ranks these did not come"), std::string::npos) << last[0].err;
  EXPECT_NE(last[0].err.find(": 2; look for"), std::string::npos) << last[0].err;
  EXPECT_EQ(last[1].status, 3);
  EXPECT_TRUE(without_first.leaves_nothing());
  EXPECT_TRUE(without_last.leaves_nothing());
}

}  // namespace
}  // namespace overlaptune::cuda
