// The symbols that the two libraries show to the programs that link to them.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/abi/symbols.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::UnorderedElementsAre;

const auto kAll = UnorderedElementsAre("ovt_version", "ovt_last_error", "ovt_open", "ovt_query",
                                       "ovt_query_for", "ovt_query_recipe", "ovt_explain",
                                       "ovt_explain_for", "ovt_reload", "ovt_close");

TEST(LibrariesTest, TheSharedOneShowsOurFunctionsOnly) {
  EXPECT_THAT(symbols(NM " --dynamic", QUERY_SHARED), kAll);
}

TEST(LibrariesTest, TheStaticOneShowsOurFunctionsOnly) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers add symbols of their own";
#endif
  EXPECT_THAT(symbols(NM " --extern-only", QUERY_STATIC), kAll);
}

TEST(LibrariesTest, TheSharedOneIsSmall) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers make it several times as large";
#endif
  EXPECT_LT(std::filesystem::file_size(QUERY_SHARED), 3'300'000U);
}

TEST(LibrariesTest, AProgramInCGetsTheSameAnswers) {
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 4);
  const std::string call = std::string(QUERY_FROM_C) + " '" + std::string(folder / "a.db") + "' ";
  EXPECT_EQ(
      output_of(call + "h200-nvlink-x8 4"),
      "0 3.25 1000003.00 1000006.00 signaled tile=256x16x64 stages=4 cluster=2 swizzle=64 ctas=16 "
      "transport=ring groups=4,1001,7187\n");
  EXPECT_EQ(output_of(call + "h200-nvlink-x8 5"),
            "2 nan nan nan sequential ctas=0 transport=ring\n");
  EXPECT_THAT(output_of(call + "b200 4", OVT_ERROR_NOT_FOUND), testing::HasSubstr("'b200'"));
}

}  // namespace
}  // namespace overlaptune
