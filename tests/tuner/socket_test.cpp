// GPUs without peer access and shared memory: NCCL sends through sockets. Here the ranks of
// h200-hostmem-x4 move a tenth of their bytes in the same time.

#include <gtest/gtest.h>

#include "core/link.hpp"
#include "machine/simulator/sim_machine.hpp"
#include "tests/db/samples.hpp"
#include "tests/machine/simulator/built_in.hpp"
#include "tests/temporary_folder.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {
namespace {

constexpr double kSlower = 10;

sim::SimMachine over_sockets() {
  sim::Profile profile =
      value_or_throw(sim::parse_profile(test::built_in("h200-hostmem-x4"), "built in"));
  profile.name = "h200-socket-x4";
  profile.link = to_string(Link::socket);
  for (sim::CollectiveProfile& collective : profile.collectives) {
    for (double& time : collective.times.values) time *= kSlower;
    for (double& rate : collective.cta_rates.values) rate /= kSlower;
  }
  return sim::SimMachine(std::move(profile), {.seed = 1});
}

bool carry_on(std::size_t, std::size_t, std::string_view) {
  return true;
}

TEST(Sockets, are_probed_predicted_and_tuned) {
  const TemporaryFolder folder;
  Store store(folder / "sockets.db", Access::create);
  sim::SimMachine machine = over_sockets();
  const std::vector<Problem> problems{
      {Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 4},
      {Op::gemm_all_reduce, 1024, 8192, 8192, Elements::bf16, 4},
      {Op::all_gather_gemm, 4096, 3584, 8192, Elements::bf16, 4},
      {Op::gemm_all_to_all, 4096, 8192, 3584, Elements::bf16, 4}};
  const auto report = tune(machine, store, problems, {.top_k = 3, .layer_rounds = 0}, carry_on);
  ASSERT_TRUE(report) << report.error().message;
  ASSERT_EQ(report->winners.size(), problems.size());
  EXPECT_EQ(report->failed, 0);
  for (const Winner& winner : report->winners) {
    const Candidate& candidate = winner.candidate;
    const std::string name = to_string(candidate.problem) + " " + to_string(candidate.config);
    ASSERT_TRUE(candidate.measured) << name;
    EXPECT_LE(candidate.measured->median, winner.sequential) << name;
    EXPECT_NEAR(candidate.predicted / candidate.measured->median, 1, 0.1) << name;
    // A GEMM takes less than a millisecond of these.
    EXPECT_GT(candidate.measured->median, us(4000)) << name;
  }
  EXPECT_EQ(store.platforms().front().platform.link, "socket");
}

}  // namespace
}  // namespace overlaptune
