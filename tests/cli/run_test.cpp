// `overlaptune run`, on a database that a small run has filled.

#include <fstream>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;
using tool::kKnown;

class RunCommand : public tool::Tuned {};

/// `run` of the problem that was tuned, with a config that has blanks in it.
tool::Outcome run_config(const Folder& folder, const std::string& config,
                         const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run",
                                     "--machine",
                                     "sim:rtx4090-pcie-x4",
                                     "--op",
                                     "gemm_all_reduce",
                                     "--m",
                                     "4k",
                                     "--n",
                                     "4k",
                                     "--k",
                                     "1k",
                                     "--dtype",
                                     "bf16",
                                     "--ranks",
                                     "4",
                                     "--config",
                                     config};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return tool::Process(folder, arguments).wait();
}

TEST_F(RunCommand, each_phase_is_run_by_its_name) {
  const std::string chunked = "chunked ctas=8 chunks=2";
  for (const char* phase : {"steady", "cold", "beside"}) {
    const auto outcome = run_config(*folder, chunked, {"--phase", phase, "--json"});
    ASSERT_EQ(outcome.status, 0) << outcome.err;
    const json result = json::parse(outcome.out);
    EXPECT_EQ(result.at("phase"), phase);
    EXPECT_LE(result.at("speedup_low"), result.at("speedup"));
    EXPECT_LE(result.at("speedup"), result.at("speedup_high"));
  }
  EXPECT_THAT(run_config(*folder, chunked, {"--phase", "cold"}).out, HasSubstr(", phase cold\n"));
  const auto few = run_config(*folder, chunked, {"--repetitions", "5", "--json"});
  EXPECT_TRUE(json::parse(few.out).at("speedup_low").is_null());
  const auto traced = run_config(*folder, chunked, {"--phase", "cold", "--trace", "t.json"});
  EXPECT_EQ(traced.status, 2);
  EXPECT_THAT(traced.err, HasSubstr("--trace beside --phase cold: expected --phase steady"));
  const auto wrong = run_config(*folder, chunked, {"--phase", "warm"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_THAT(wrong.err, HasSubstr("steady, cold, beside"));
}

TEST_F(RunCommand, run_times_the_stored_winner) {
  const json& winner = tuned->at("winners").at(0);
  const json result =
      tool::json(*folder, "run --machine sim:rtx4090-pcie-x4" + kKnown + " --repetitions 5");
  EXPECT_EQ(result.at("config"), winner.at("config"));
  EXPECT_EQ(result.at("verdict"), "valid");
  EXPECT_EQ(result.at("repetitions"), 5);
  EXPECT_NEAR(result.at("measured_us"), winner.at("measured_us"),
              0.05 * winner.at("measured_us").get<double>());
  EXPECT_NEAR(result.at("sequential_us"), winner.at("sequential_us"),
              0.05 * winner.at("sequential_us").get<double>());
  EXPECT_LE(result.at("measured_p10_us"), result.at("measured_us"));
  EXPECT_TRUE(result.at("trace").is_null());
  EXPECT_TRUE(result.at("busy").is_null());
  const tool::Outcome other = tool::run(*folder, "run --machine sim:h200-nvlink-x8" + kKnown);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("f.db: no winner of gemm_all_reduce:4096,4096,1024:bf16:4"));
}

TEST_F(RunCommand, run_takes_the_line_that_it_prints) {
  const json first = json::parse(run_config(*folder, "chunks=4 chunked ctas=8", {"--json"}).out);
  EXPECT_EQ(first.at("config").at("chunks"), 4);
  EXPECT_GT(first.at("speedup"), 0);
  EXPECT_LE(first.at("speedup_p10"), first.at("speedup_p90"));
  const std::string line = first.at("config_line");
  EXPECT_EQ(json::parse(run_config(*folder, line, {"--json"}).out), first);
  EXPECT_THAT(run_config(*folder, line).out, HasSubstr("Speedup over sequential, paired"));
}

TEST_F(RunCommand, run_writes_a_trace) {
  const auto outcome =
      run_config(*folder, "chunked ctas=8 chunks=4", {"--json", "--trace", "trace.json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("trace"), "trace.json");
  const json& busy = result.at("busy");
  EXPECT_NEAR(busy.at("both_us").get<double>() + busy.at("exposed_us").get<double>(),
              busy.at("collective_us"), 1e-6);
  EXPECT_LE(busy.at("total_us").get<double>(), 1.1 * result.at("measured_us").get<double>());
  std::ifstream in(*folder / "trace.json");
  const json trace = json::parse(in);
  int collectives = 0;
  for (const json& event : trace.at("traceEvents")) {
    collectives += event.value("cat", "") == "collective" ? 1 : 0;
  }
  EXPECT_EQ(collectives, 4 + 1);  // those of `sequential` beside them
  EXPECT_THAT(run_config(*folder, "sequential", {"--trace", "t.json"}).out,
              HasSubstr("GEMM busy "));
  EXPECT_EQ(run_config(*folder, "sequential", {"--trace", "f.db"}).status, 2);
  EXPECT_EQ(run_config(*folder, "sequential", {"--trace", "nowhere/t.json"}).status, 6);
}

TEST_F(RunCommand, run_of_a_config_that_is_not_valid_says_why) {
  const tool::Outcome outcome =
      run_config(*folder, "chunked ctas=8 chunks=4",
                 {"--json", "--sim-faults", "wrong=1", "--trace", "faulty.json"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_EQ(json::parse(outcome.out).at("verdict"), "wrong");
  EXPECT_TRUE(json::parse(outcome.out).at("speedup").is_null());
  EXPECT_THAT(outcome.err, HasSubstr("not valid but wrong"));
  EXPECT_EQ(run_config(*folder, "chunked ctas=5000").status, 5);
  EXPECT_EQ(run_config(*folder, "chunked ctas=5000", {"--trace", "none.json"}).status, 5);
}

}  // namespace
}  // namespace overlaptune
