// Platforms, and whether the results of one answer for another.

#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/nodes.hpp"
#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class PlatformTest : public testing::Test {
 protected:
  static Platform simulated() {
    Platform made = stored::platform("sim-of-it");
    made.machine = "sim";
    return made;
  }
  [[nodiscard]] std::filesystem::path file() const { return folder_ / "a.db"; }
  /// The error with which opening must fail.
  [[nodiscard]] std::string refused(const ovt_platform* platform) const {
    try {
      const ovt::Database opened({file()}, platform);
    } catch (const ovt::Error& error) {
      EXPECT_EQ(error.status(), OVT_ERROR_NOT_FOUND);
      return error.what();
    }
    ADD_FAILURE() << "opened";
    return {};
  }

  TemporaryFolder folder_;
};

TEST_F(PlatformTest, ADescribedPlatformIsAnsweredWhereEveryFieldIsEqual) {
  stored::put_winners(file(), 1);
  const ovt_platform same = stored::described(stored::platform());
  EXPECT_EQ(ovt::Database({file()}, &same).query(stored::problem()).source, OVT_EXACT);
}

TEST_F(PlatformTest, APlatformIsNamedByMachineAndName) {
  stored::put_winners(file(), 1);
  const ovt_platform cuda = ovt::stored_platform("cuda:h200-nvlink-x8");
  EXPECT_EQ(ovt::Database({file()}, &cuda).query(stored::problem()).source, OVT_EXACT);
  const ovt_platform sim = ovt::stored_platform("sim:h200-nvlink-x8");
  EXPECT_THAT(refused(&sim), HasSubstr("stored are: cuda:h200-nvlink-x8"));
}

TEST_F(PlatformTest, OneFieldThatDiffersMakesABaselineThatNamesIt) {
  stored::put_winners(file(), 1);
  const std::vector<std::pair<const char*, std::function<void(Platform&)>>> changes{
      {"name: ", [](auto& p) { p.name = "other"; }},
      {"gpu_model: NVIDIA H100 here, NVIDIA H200 there",
       [](auto& p) { p.gpu_model = "NVIDIA H100"; }},
      {"gpu_count: 4 here, 8 there", [](auto& p) { p.gpu_count = 4; }},
      {"sms: ", [](auto& p) { p.sms = 114; }},
      {"compute_capability: ", [](auto& p) { p.compute_capability = 100; }},
      {"memory_bytes: ", [](auto& p) { p.memory = Bytes{80}; }},
      {"driver_version: ", [](auto& p) { p.driver_version = "570"; }},
      {"cuda_version: ", [](auto& p) { p.cuda_version = "12.8"; }},
      {"nccl_version: ", [](auto& p) { p.nccl_version = "2.27"; }},
      {"topology: ", [](auto& p) { p.topology = "PCIe"; }},
      {"transport: host_memory here, nvlink there", [](auto& p) { p.link = "host_memory"; }},
      {"multicast_allowed: true here, false there", [](auto& p) { p.multicast_allowed = true; }},
      {"details: ", [](auto& p) { p.details = ""; }}};
  for (const auto& [text, change] : changes) {
    Platform other = stored::platform();
    change(other);
    const ovt_platform platform = stored::described(other);
    const ovt::Database database({file()}, &platform);
    const ovt_answer answer = database.query(stored::problem());
    EXPECT_EQ(answer.source, OVT_BASELINE);
    EXPECT_STREQ(answer.strategy, "sequential");
    EXPECT_THAT(answer.reason, HasSubstr(std::string("cuda:h200-nvlink-x8 differs in ") + text));
    const std::string reason = answer.reason;
    EXPECT_EQ(reason.find("; ", reason.find("differs in")), reason.npos) << "one field: " << reason;
    EXPECT_THAT(database.explain(stored::problem()), HasSubstr("not stored"));
  }
}

/// Eight GPUs of one host, and of two, as `platform_of` describes them.
TEST_F(PlatformTest, OneNodeAndSeveralNeverAnswerEachOther) {
  const Platform one = stored::platform();
  Platform two = one;
  two.name = "h200-nvlink-2x4-socket";
  two.topology = "2 nodes x 4 GPUs, NVSwitch";
  two.link = network_link("Socket");
  for (const auto& [there, here] : {std::pair(one, two), std::pair(two, one)}) {
    const auto only = folder_ / (there.name + ".db");
    stored::put_winners(only, 1, 1, there);
    const ovt_platform platform = stored::described(here);
    const ovt_answer answer = ovt::Database({only}, &platform).query(stored::problem());
    EXPECT_EQ(answer.source, OVT_BASELINE) << here.name;
    EXPECT_THAT(answer.reason, HasSubstr("topology: " + here.topology + " here")) << here.name;
  }
  // Both in one file: each is answered by its own.
  stored::put_winners(file(), 1, 1, one);
  stored::put_winners(file(), 1, 2, two);
  for (const auto& [here, version] : {std::pair(one, 1), std::pair(two, 2)}) {
    const ovt_platform platform = stored::described(here);
    const ovt_answer answer = ovt::Database({file()}, &platform).query(stored::problem());
    EXPECT_EQ(answer.source, OVT_EXACT);
    EXPECT_EQ(stored::wave_groups(answer)[1], 1000 + version) << here.name;
  }
}

/// A winner by windows of NCCL, as an older version stored it for ranks of two hosts.
TEST_F(PlatformTest, SeveralNodesAreNotAnsweredByWhatNeedsPeers) {
  Platform two = stored::platform("h200-nvlink-2x4-socket");
  two.topology = "2 nodes x 4 GPUs, NVSwitch";
  two.link = network_link("Socket");
  Winner by_peers = stored::winner(0);
  std::get<Signaled>(by_peers.candidate.config).transport = all_groups_by(Transport::symmetric);
  stored::put_winners(file(), {by_peers}, two);
  const ovt_platform platform = stored::described(two);
  const ovt::Database database({file()}, &platform);
  EXPECT_NE(database.query(stored::problem()).source, OVT_EXACT);
  EXPECT_THAT(database.explain(stored::problem()),
              HasSubstr("nodes: 2 nodes x 4 GPUs, NVSwitch, joined by network Socket: left out, as "
                        "they need the memory of peers: waiting, peer_store, symmetric"));
}

TEST_F(PlatformTest, TheNearestOfSeveralIsComparedWith) {
  Platform far = stored::platform("far");
  far.gpu_model = "NVIDIA A100";
  far.topology = "PCIe";
  stored::put_winners(file(), 1, 1, far);
  stored::put_winners(file(), 1, 1, stored::platform("near"));
  Platform mine = stored::platform("mine");
  const ovt_platform platform = stored::described(mine);
  const ovt_answer answer = ovt::Database({file()}, &platform).query(stored::problem());
  EXPECT_THAT(answer.reason, HasSubstr("near differs in name: mine here, near there"));
  EXPECT_THAT(answer.reason, Not(HasSubstr("gpu_model")));
}

TEST_F(PlatformTest, WithoutAWishTheRealPlatformThatWasAddedLastAnswers) {
  stored::put_winners(file(), 1, 1, stored::platform("older"));
  stored::put_winners(file(), 1, 2, stored::platform("newer"));
  stored::put_winners(file(), 1, 3, simulated());
  const ovt_answer answer = ovt::Database({file()}).query(stored::problem());
  EXPECT_EQ(stored::wave_groups(answer)[1], 1002);
  EXPECT_THAT(answer.reason, HasSubstr("newer"));
}

TEST_F(PlatformTest, SimulatedResultsNeverAnswerForARealPlatform) {
  stored::put_winners(file(), 1, 1, simulated());
  EXPECT_THAT(refused(nullptr),
              HasSubstr("no platform of real GPUs is stored (stored are: sim:sim-of-"));
  Platform real = simulated();
  real.machine = "cuda";
  const ovt_platform described = stored::described(real);
  const ovt_answer answer = ovt::Database({file()}, &described).query(stored::problem());
  EXPECT_EQ(answer.source, OVT_BASELINE);
  EXPECT_THAT(answer.reason, HasSubstr("nothing is stored for real machines"));
}

TEST_F(PlatformTest, SimulatedResultsAnswerWhoeverNamesThem) {
  stored::put_winners(file(), 1, 2);
  stored::put_winners(file(), 1, 3, simulated());
  const ovt_platform by_name = ovt::stored_platform("sim-of-it");
  const ovt_platform by_fingerprint = ovt::stored_platform(fingerprint(simulated()));
  const ovt_platform whole = stored::described(simulated());
  for (const ovt_platform* platform : {&by_name, &by_fingerprint, &whole}) {
    const ovt_answer answer = ovt::Database({file()}, platform).query(stored::problem());
    EXPECT_EQ(answer.source, OVT_EXACT);
    EXPECT_EQ(stored::wave_groups(answer)[1], 1003);
  }
}

TEST_F(PlatformTest, ANameThatIsNotStoredOrStandsForSeveralIsRefused) {
  stored::put_winners(file(), 1);
  const ovt_platform unknown = ovt::stored_platform("b200");
  EXPECT_THAT(refused(&unknown),
              HasSubstr("platform 'b200': no such name or fingerprint is stored; "
                        "stored are: cuda:h200-nvlink-x8"));
  Platform newer_driver = stored::platform();
  newer_driver.driver_version = "590";
  stored::put_winners(file(), 1, 2, newer_driver);
  const ovt_platform both = ovt::stored_platform("h200-nvlink-x8");
  EXPECT_THAT(refused(&both), HasSubstr(fingerprint(newer_driver)));
  const ovt_platform one = ovt::stored_platform(fingerprint(newer_driver));
  EXPECT_EQ(stored::wave_groups(ovt::Database({file()}, &one).query(stored::problem()))[1], 1002);
}

}  // namespace
}  // namespace overlaptune
