// The subcommands `kernels` and `cache`: with NVRTC, without it, and in a build without CUDA.

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

/// Two kernels of each architecture, which are compiled in a second.
constexpr const char* kFew = "kernels --compile-all --only block_m=64,block_n=16,stages=5 --arch ";

class Kernels : public testing::Test {
 protected:
  void SetUp() override {
    setenv("OVERLAPTUNE_CACHE", (folder / "cache").c_str(), 1);
    unsetenv("OVERLAPTUNE_CACHE_MB");
    const tool::Outcome outcome = tool::run(folder, std::string(kFew) + "sm_90a --json");
    if (outcome.status == 3) {
      EXPECT_THAT(outcome.err, testing::AnyOf(HasSubstr("kernels: this build has no CUDA support"),
                                              HasSubstr("NVRTC: none among")));
      EXPECT_EQ(outcome.out, "");
      GTEST_SKIP() << outcome.err;
    }
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    compiled = nlohmann::json::parse(outcome.out);
  }
  void TearDown() override { unsetenv("OVERLAPTUNE_CACHE"); }

  tool::Folder folder;
  nlohmann::json compiled;
};

TEST_F(Kernels, are_compiled_without_a_gpu_and_then_come_from_the_cache) {
  ASSERT_EQ(compiled["kernels"].size(), 3U);  // bf16, fp16, and e4m3 with bf16
  for (const auto& kernel : compiled["kernels"]) {
    EXPECT_EQ(kernel["arch"], "sm_90a");
    EXPECT_GT(kernel["registers"], 0);
    EXPECT_EQ(kernel["spill_bytes"], 0);
    EXPECT_EQ(kernel["local_bytes"], 0);
    EXPECT_EQ(kernel["from_cache"], false);
  }
  const auto again = tool::json(folder, std::string(kFew) + "sm_90a,sm_80,sm_90a");
  EXPECT_EQ(again["kernels"].size(), 5U);  // bf16 and fp16 on sm_80
  for (const auto& kernel : again["kernels"]) {
    EXPECT_EQ(kernel["from_cache"], kernel["arch"] == "sm_90a");
  }
  EXPECT_EQ(again["unfit"], 0);
}

TEST_F(Kernels, the_cache_tells_what_it_holds_and_can_be_cleared) {
  const auto info = tool::json(folder, "cache info");
  EXPECT_EQ(info["folder"], (folder / "cache").string());
  EXPECT_EQ(info["entries"], compiled["kernels"].size());
  EXPECT_EQ(info["largest_bytes"], 1 << 30);
  EXPECT_THAT(tool::run(folder, "cache clear").out,
              HasSubstr("removed " + info["entries"].dump() + " entries, " + info["bytes"].dump()));
  EXPECT_EQ(tool::json(folder, "cache info")["bytes"], 0);
  EXPECT_EQ(tool::json(folder, "cache clear")["removed_entries"], 0);
}

/// The results of H200 that come with the program have winners of `signaled`.
TEST_F(Kernels, of_a_database_s_winners_fill_a_folder_that_all_may_read) {
  const std::string results =
      OVERLAPTUNE_SOURCE_DIR "/docs/results/2026-11-22-h200-nvlink-x2.json.gz";
  const std::string document = (folder / "results.json").string();
  ASSERT_EQ(std::system(("gzip --decompress --stdout " + results + " > " + document).c_str()), 0);
  ASSERT_EQ(tool::run(folder, "db import --db f.db " + document).status, 0);
  const auto filled = tool::json(folder, "kernels --db f.db --out ahead");
  EXPECT_GT(filled["kernels"].size(), 0U);
  EXPECT_EQ(filled["cache"], "ahead");
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder / "ahead")) {
    const auto rights = entry.status().permissions();
    EXPECT_NE(rights & std::filesystem::perms::others_read, std::filesystem::perms::none);
    EXPECT_EQ(rights & std::filesystem::perms::others_write, std::filesystem::perms::none);
    ++files;
  }
  EXPECT_EQ(files, filled["kernels"].size());
  setenv("OVERLAPTUNE_CACHE", (folder / "ahead").c_str(), 1);
  const auto again = tool::json(folder, "kernels --db f.db");
  for (const auto& kernel : again["kernels"]) EXPECT_EQ(kernel["from_cache"], true);
}

TEST_F(Kernels, bad_input_is_refused_in_one_line) {
  for (const char* line :
       {"kernels", "kernels --db f.db --arch sm_90a", "kernels --db f.db --compile-all",
        "kernels --db nowhere.db", "kernels --compile-all --arch sm_17",
        "kernels --compile-all --threads 0",
        "kernels --compile-all --only hopper_gemm,block_n=24"}) {
    const tool::Outcome outcome = tool::run(folder, line);
    EXPECT_EQ(outcome.status, 2) << line;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  setenv("OVERLAPTUNE_CACHE_MB", "much", 1);
  EXPECT_EQ(tool::run(folder, "cache info").status, 2);
  unsetenv("OVERLAPTUNE_CACHE_MB");
}

}  // namespace
}  // namespace overlaptune
