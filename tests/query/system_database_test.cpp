// Results of the system database, under those of the user.

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <functional>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// A platform of the stored one's GPUs, on a host with another driver and NCCL.
Platform mine() {
  Platform made = stored::platform();
  made.driver_version = "590.1";
  made.nccl_version = "2.29.1";
  return made;
}

class SystemDatabaseTest : public testing::Test {
 protected:
  SystemDatabaseTest() { use(system_file()); }
  ~SystemDatabaseTest() override { use(""); }

  static void use(const std::filesystem::path& file) {
    setenv("OVERLAPTUNE_SYSTEM_DB", file.c_str(), 1);
  }
  [[nodiscard]] std::filesystem::path own_file() const { return folder_ / "own.db"; }
  [[nodiscard]] std::filesystem::path system_file() const { return folder_ / "system.db"; }

  TemporaryFolder folder_;
};

TEST_F(SystemDatabaseTest, AnswersForTheSameGpusWithAnotherDriverAndSaysWhatDiffers) {
  stored::put_winners(system_file(), 3, 2);
  stored::put_winners(own_file(), 1, 1, mine());
  const ovt::Database database({own_file()});
  const ovt_answer own = database.query(stored::problem(1));
  EXPECT_EQ(own.source, OVT_EXACT);
  EXPECT_EQ(stored::wave_groups(own)[1], 1001);  // not the system's edition
  EXPECT_THAT(own.reason, StartsWith("validated on"));

  const ovt_answer shipped = database.query(stored::problem(2));
  const Winner expected = stored::winner(1, 2);
  EXPECT_EQ(shipped.source, OVT_PREDICTED);
  EXPECT_STREQ(shipped.strategy, "signaled");
  EXPECT_EQ(stored::wave_groups(shipped)[1], 1002);
  EXPECT_EQ(shipped.predicted_us, expected.candidate.measured->median.count());
  EXPECT_TRUE(std::isnan(shipped.measured_us));
  EXPECT_EQ(shipped.baseline_us, expected.sequential.count());
  EXPECT_THAT(shipped.reason, StartsWith("tuned elsewhere on cuda:h200-nvlink-x8 at 2"));
  EXPECT_THAT(shipped.reason, HasSubstr("driver_version: 590.1 here, 580.159.04 there"));
  EXPECT_THAT(shipped.reason, HasSubstr("nccl_version: 2.29.1 here, 2.30.7 there"));

  EXPECT_EQ(database.query(stored::problem(9)).source, OVT_BASELINE);
  const std::string text = database.explain(stored::problem(2));
  EXPECT_THAT(text, HasSubstr("system database: " + system_file().string() + ": 3 winners"));
  EXPECT_THAT(text, HasSubstr("answer: predicted\nreason: tuned elsewhere"));
}

TEST_F(SystemDatabaseTest, AnswersAtOnceWhereThePlatformIsTold) {
  stored::put_winners(system_file(), 1);
  const ovt_platform told = stored::described(mine());
  EXPECT_EQ(ovt::Database({}, &told).query(stored::problem()).source, OVT_PREDICTED);
  const ovt_platform named = ovt::stored_platform("cuda:h200-nvlink-x8");
  const ovt_answer answer = ovt::Database({}, &named).query(stored::problem());
  EXPECT_EQ(answer.source, OVT_PREDICTED);
  EXPECT_THAT(answer.reason, HasSubstr("the same in every field"));
  // A platform that is not told is not guessed.
  EXPECT_THROW((void)ovt::Database(), ovt::Error);
  stored::put_winners(own_file(), 1, 1, [] {
    Platform simulated = stored::platform("sim-of-it");
    simulated.machine = "sim";
    return simulated;
  }());
  EXPECT_THROW((void)ovt::Database({own_file()}), ovt::Error);
}

TEST_F(SystemDatabaseTest, OtherGpusOrLinksNeverGetAnAnswer) {
  stored::put_winners(system_file(), 1);
  const std::vector<std::function<void(Platform&)>> changes{
      [](auto& p) { p.machine = "sim"; },
      [](auto& p) { p.gpu_model = "NVIDIA H100"; },
      [](auto& p) { p.gpu_count = 4; },
      [](auto& p) { p.gpu_count = 16; },
      [](auto& p) { p.sms = 114; },
      [](auto& p) { p.compute_capability = 100; },
      [](auto& p) { p.topology = "PCIe"; },
      [](auto& p) { p.link = "host_memory"; },
      [](auto& p) { p.multicast_allowed = true; }};
  for (const auto& change : changes) {
    Platform other = mine();
    change(other);
    const ovt_platform told = stored::described(other);
    const ovt::Database database({}, &told);
    EXPECT_EQ(database.query(stored::problem()).source, OVT_BASELINE) << fingerprint(other);
    EXPECT_THAT(database.explain(stored::problem()), HasSubstr("no such GPUs and links"));
  }
  ovt_problem fewer = stored::problem();
  fewer.ranks = 4;
  const ovt_platform told = stored::described(mine());
  EXPECT_EQ(ovt::Database({}, &told).query(fewer).source, OVT_BASELINE);
}

TEST_F(SystemDatabaseTest, TheNearestOfSeveralHostsAnswers) {
  Platform far = stored::platform();
  far.driver_version = "550";
  far.cuda_version = "12.4";
  stored::put_winners(system_file(), 1, 1, far);
  stored::put_winners(system_file(), 1, 2);
  stored::put_winners(system_file(), 1, 3, far);
  const ovt_platform told = stored::described(mine());
  const ovt_answer answer = ovt::Database({}, &told).query(stored::problem());
  EXPECT_EQ(stored::wave_groups(answer)[1], 1002);
}

TEST_F(SystemDatabaseTest, IsTurnedOffByAnEmptyName) {
  stored::put_winners(system_file(), 1);
  stored::put_winners(own_file(), 1, 1, mine());
  use("");
  const ovt_platform told = stored::described(mine());
  EXPECT_THROW((void)ovt::Database({}, &told), ovt::Error);
  const ovt::Database database({own_file()});
  EXPECT_EQ(database.query(stored::problem(1)).source, OVT_EXACT);
  EXPECT_THAT(database.explain(stored::problem()), Not(HasSubstr("system database")));
}

TEST_F(SystemDatabaseTest, AFileThatTheUserNamedMustBeReadable) {
  stored::put_winners(own_file(), 1);
  EXPECT_THROW((void)ovt::Database({own_file()}), ovt::Error);  // there is none
  std::ofstream(system_file()) << "no database";
  EXPECT_THROW((void)ovt::Database({own_file()}), ovt::Error);
}

TEST_F(SystemDatabaseTest, ADamagedWinnerOfTheUsersOwnIsNotHiddenByIt) {
  stored::put_winners(system_file(), 2, 2, mine());
  stored::put_winners(own_file(), 2, 1, mine());
  SQLite::Database(own_file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET predicted_us = 1e40 WHERE m = 1");
  const ovt::Database database({own_file()});
  const ovt_answer damaged = database.query(stored::problem(1));
  EXPECT_EQ(damaged.source, OVT_BASELINE);
  EXPECT_THAT(damaged.reason, HasSubstr("is damaged"));
  EXPECT_EQ(database.query(stored::problem(2)).source, OVT_EXACT);
}

/// Nothing appears beside a file that lies in a folder of the system.
TEST_F(SystemDatabaseTest, LeavesItsFolderAsItWas) {
  stored::put_winners(system_file(), 1);
  const ovt_platform told = stored::described(mine());
  const ovt::Database database({}, &told);
  for (const auto& entry : std::filesystem::directory_iterator(system_file().parent_path())) {
    EXPECT_EQ(entry.path().filename(), "system.db");
  }
}

}  // namespace
}  // namespace overlaptune
