// `overlaptune report` and `evaluate`, on a database that a small run has filled.

#include <array>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class ReportCommand : public tool::Tuned {};

TEST_F(ReportCommand, evaluate_counts_every_candidate) {
  const json result = tool::json(*folder, "evaluate --db f.db");
  EXPECT_EQ(result.at("count").get<int>() + result.at("sequential").at("count").get<int>(),
            tuned->at("measured").get<int>());
  EXPECT_EQ(result.at("problems"), 2);
  EXPECT_LE(result.at("error_median"), result.at("error_p90"));
  EXPECT_LE(result.at("regret_shortlist_max"), result.at("regret_top1_max"));
}

TEST_F(ReportCommand, evaluate_runs_picks_and_fastest_again) {
  const json result =
      tool::json(*folder, "evaluate --db f.db --again 3 --machine sim:rtx4090-pcie-x4");
  ASSERT_EQ(result.at("problems").size(), 2U);
  for (const json& problem : result.at("problems")) {
    const json& configs = problem.at("configs");
    ASSERT_GE(configs.size(), 3U);
    EXPECT_EQ(configs.at(0).at("time_over_sequential"), 1);
    EXPECT_LT(problem.at("first_choice").get<std::size_t>(), configs.size());
  }
  EXPECT_EQ(tool::run(*folder, "evaluate --db f.db --again 3 --machine sim:a100-nvlink-x8").status,
            2);
}

TEST_F(ReportCommand, report_in_each_format) {
  EXPECT_THAT(tool::run(*folder, "report --db f.db").out, HasSubstr("| overlap |"));
  EXPECT_THAT(tool::run(*folder, "report --db f.db --format csv").out, HasSubstr("# winners\n"));
  const json report = tool::json(*folder, "report --db f.db");
  EXPECT_EQ(report.at("winners").size(), 2U);
  EXPECT_EQ(report.at("winners").at(0).at("overlap_fraction"),
            tuned->at("winners").at(0).at("overlap_fraction"));
  EXPECT_TRUE(report.at("comparison").is_null());
  const tool::Outcome compared =
      tool::run(*folder, "report --db f.db --format json --compare f.db --out r.json");
  EXPECT_EQ(compared.status, 0);
  EXPECT_EQ(compared.out, "");
  std::ifstream in(*folder / "r.json");
  EXPECT_EQ(json::parse(in).at("comparison").at("within_noise"), 2);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --out nowhere/r.md").status, 6);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --only probes").out.find("## Winners"),
            std::string::npos);
  // These probes were quick: no pair of GPUs was probed.
  EXPECT_THAT(tool::run(*folder, "report --db f.db --only peers").out,
              HasSubstr("## Peer matrix of sim:rtx4090-pcie-x4\n\nNone."));
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --json").status, 2);
}

TEST_F(ReportCommand, an_anonymous_report_names_neither_host_nor_files) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  for (const std::string format : {"md", "csv", "json"}) {
    const std::string flags = "report --db f.db --compare f.db --format " + format;
    EXPECT_THAT(tool::run(*folder, flags).out, HasSubstr(host.data()));
    const std::string text = tool::run(*folder, flags + " --anonymous").out;
    EXPECT_THAT(text, Not(HasSubstr(host.data()))) << format;
    EXPECT_THAT(text, Not(HasSubstr("f.db"))) << format;
    EXPECT_THAT(text, Not(HasSubstr(folder->path().string()))) << format;
  }
}

TEST_F(ReportCommand, report_writes_a_file_for_each_table) {
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --out tables/").status, 0);
  std::ifstream winners(*folder / "tables/winners.csv");
  std::string line;
  std::getline(winners, line);
  EXPECT_THAT(line, testing::StartsWith("platform,launch,op,m,n,k,"));
  // The folder is there now.
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --only means --out tables").status,
            0);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --out f.db/").status, 6);
}

TEST_F(ReportCommand, report_as_a_page) {
  const tool::Outcome page = tool::run(*folder, "report --db f.db --format html");
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format html --only winners").status, 2);
  if (page.status == 2) {
    EXPECT_THAT(page.err, HasSubstr("install nodejs"));
    GTEST_SKIP() << "this program was built without npm";
  }
  EXPECT_EQ(page.status, 0);
  EXPECT_THAT(page.out, HasSubstr("</html>"));
}

}  // namespace
}  // namespace overlaptune
