// `query` and the results of the system database.

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

Platform on(const std::string& driver) {
  return {.machine = "cuda",
          .name = "h200-nvlink-x4",
          .gpu_model = "NVIDIA H200",
          .gpu_count = 4,
          .sms = 132,
          .compute_capability = 90,
          .memory = Bytes{141'000'000'000},
          .driver_version = driver,
          .cuda_version = "13.0",
          .nccl_version = "2.28.9",
          .topology = "NVSwitch",
          .link = "nvlink"};
}

void put_winner(const std::filesystem::path& file, const Platform& platform, std::int64_t m) {
  Winner winner{.sequential = us(30), .gemm_alone = us(15), .collective_alone = us(10)};
  winner.candidate = {.problem = {Op::gemm_all_reduce, m, 1024, 1024, Elements::bf16, 4},
                      .config = Chunked{.comm_ctas = 8, .chunks = 2},
                      .predicted = us(21),
                      .measured = Summary{us(20), us(19), us(21), 9}};
  Store store(file, Access::create);
  const auto run =
      store.begin_tuning_run(store.add_platform(platform), "test", {.host = "another-host"});
  store.put_winner(run, winner);
}

TEST(SystemDatabase, answers_query_under_the_user_s_own) {
  const tool::Folder folder;
  put_winner(folder / "own.db", on("590"), 1024);
  put_winner(folder / "system.db", on("580"), 1024);
  put_winner(folder / "system.db", on("580"), 2048);
  setenv("OVERLAPTUNE_SYSTEM_DB", (folder / "system.db").c_str(), 1);
  const std::string rest = " --n 1k --k 1k --op gemm_all_reduce --dtype bf16 --ranks 4";
  const auto own = tool::json(folder, "query --db own.db --m 1k" + rest);
  EXPECT_EQ(own.at("source"), "exact");
  const auto shipped = tool::json(folder, "query --db own.db --m 2k" + rest);
  EXPECT_EQ(shipped.at("source"), "predicted");
  EXPECT_EQ(shipped.at("config").at("chunks"), 2);
  EXPECT_EQ(shipped.at("predicted_us"), 20);
  EXPECT_TRUE(shipped.at("measured_us").is_null());
  EXPECT_THAT(shipped.at("reason").get<std::string>(),
              testing::AllOf(HasSubstr("tuned elsewhere on cuda:h200-nvlink-x4"),
                             HasSubstr("driver_version: 590 here, 580 there"),
                             HasSubstr("tuned on host another-host")));
  setenv("OVERLAPTUNE_SYSTEM_DB", "", 1);
  EXPECT_EQ(tool::run(folder, "query --db own.db --m 2k" + rest).status, 2);  // nothing was probed
}

}  // namespace
}  // namespace overlaptune
