// Stored constants of fits: what comes back, and what does not after a change.

#include <filesystem>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const Fit kFit{.fitted_to = 0xfedcba9876543210,
               .constants = {{"bf16 library", {0.1, 1e-300, 1.7976931348623157e308}},
                             {"clock", {2.0 / 3, 5}},
                             {"none", {}}}};

class FitsTest : public testing::Test {
 protected:
  FitsTest() {
    Store store(file_, Access::create);
    samples::fill(store, 21, 40);
    platform_ = store.platforms().front().id;
    store.put_fit(platform_, kFit);
  }
  void change(const std::string& sql) {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    ASSERT_EQ(database.exec(sql), 1);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a.db";
  PlatformId platform_ = 0;
};

TEST_F(FitsTest, ConstantsComeBackToTheLastBit) {
  EXPECT_EQ(Store(file_, Access::read).fit(platform_), kFit);
  Store store(file_, Access::write);
  const Fit other{.fitted_to = 3, .constants = {{"clock", {4}}}};
  store.put_fit(platform_, other);
  EXPECT_EQ(store.fit(platform_), other);
  EXPECT_EQ(store.fit(platform_ + 1000), std::nullopt);
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(FitsTest, AChangedConstantIsFoundAndNotUsed) {
  for (const char* sql : {"UPDATE fits SET constants = replace(constants, '5', '6')",
                          "UPDATE fits SET fitted_to = fitted_to + 1",
                          "UPDATE fits SET constants = ''", "UPDATE fits SET seal = NULL"}) {
    { Store(file_, Access::write).put_fit(platform_, kFit); }
    change(sql);
    const Store store(file_, Access::read);
    EXPECT_EQ(store.fit(platform_), std::nullopt) << sql;
    EXPECT_THAT(store.check(), ElementsAre(HasSubstr("the seal is not that of its values"))) << sql;
  }
}

TEST_F(FitsTest, ARepairLeavesItOutAndADeletedPlatformTakesItAlong) {
  change("UPDATE fits SET seal = seal + 1");
  {  // A repair keeps the file to itself.
    Store damaged(file_, Access::write);
    EXPECT_THAT(damaged.repair().actions, ElementsAre(HasSubstr("fits: 1 rows left out")));
  }
  Store store(file_, Access::write);
  EXPECT_THAT(store.check(), IsEmpty());
  const PlatformId left = store.platforms().front().id;
  store.put_fit(left, kFit);
  ASSERT_TRUE(store.remove({.platform = left}));
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(FitsTest, OtherFilesDoNotGetIt) {
  Store other(folder_ / "b.db", Access::create);
  (void)other.merge(Store(file_, Access::read));
  for (const StoredPlatform& each : other.platforms()) EXPECT_EQ(other.fit(each.id), std::nullopt);
}

}  // namespace
}  // namespace overlaptune
