// Help, machines, probes and what all subcommands have in common, on a database that a small run
// has filled.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;
using tool::kKnown;

class Commands : public tool::Tuned {};

TEST(Help, every_subcommand_has_an_example) {
  const Folder folder;
  for (const char* command :
       {"",         "machines",  "probe",      "tune",        "run",      "query",
        "advise",   "evaluate",  "report",     "db",          "whatif",   "sequences",
        "db info",  "db check",  "db export",  "db import",   "db merge", "kernels",
        "db prune", "db delete", "cache info", "cache clear", "step"}) {
    const tool::Outcome outcome = tool::run(folder, std::string(command) + " --help");
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_EQ(outcome.err, "") << command;
    EXPECT_THAT(outcome.out, HasSubstr("Example:\n  overlaptune " + std::string(command)));
  }
  EXPECT_THAT(tool::run(folder, "--version").out, testing::StartsWith("overlaptune "));
}

TEST(Machines, four_simulated_ones_and_cuda) {
  const Folder folder;
  std::vector<std::string> names;
  const json list = tool::json(folder, "machines").at("machines");
  for (const json& machine : list) {
    names.push_back(machine.at("name"));
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"sim:h200-nvlink-x8", "sim:h200-hostmem-x4",
                                            "sim:a100-nvlink-x8", "sim:rtx4090-pcie-x4", "cuda"}));
}

/// The lines that have a time or a ratio, with those of tables but for their heads.
std::vector<std::string> lines_with_figures(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool is_head = line.find(" us |") != line.npos;
    const bool has_figure =
        line.find(" us") != line.npos || line.find("paired") != line.npos ||
        (line.starts_with('|') && line.find_first_of("0123456789") != line.npos);
    if (has_figure && !is_head) found.push_back(line);
  }
  return found;
}

TEST_F(Commands, every_line_with_a_figure_says_that_it_is_simulated) {
  for (const std::string& command : {"query" + kKnown, "query --explain" + kKnown,
                                     "run --machine sim:rtx4090-pcie-x4" + kKnown}) {
    const tool::Outcome outcome = tool::run(*folder, command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto lines = lines_with_figures(outcome.out);
    EXPECT_FALSE(lines.empty()) << command;
    for (const std::string& line : lines) {
      EXPECT_TRUE(line.find("(simulated)") != line.npos ||
                  line.find("| sim:rtx4090-pcie-x4 ") != line.npos)
          << command << "\n"
          << line;
    }
  }
}

TEST_F(Commands, a_platform_is_named_as_a_machine_is) {
  const json answer = tool::json(*folder, "query" + kKnown);
  EXPECT_EQ(answer.at("full_name"), "sim:rtx4090-pcie-x4");
  EXPECT_EQ(answer.at("simulated"), true);
  EXPECT_THAT(answer.at("reason").get<std::string>(),
              HasSubstr("validated on sim:rtx4090-pcie-x4 at "));
  const std::vector<std::string> names{"rtx4090-pcie-x4", "sim:rtx4090-pcie-x4",
                                       answer.at("fingerprint")};
  for (const std::string& name : names) {
    EXPECT_EQ(tool::json(*folder, "query" + kKnown + " --platform " + name), answer);
  }
  const tool::Outcome real =
      tool::run(*folder, "query" + kKnown + " --platform cuda:rtx4090-pcie-x4");
  EXPECT_EQ(real.status, 2);
  EXPECT_THAT(real.err, HasSubstr("expected one of sim:rtx4090-pcie-x4"));
}

TEST_F(Commands, auto_without_gpus_warns_and_says_why) {
  const tool::Outcome outcome =
      tool::run(*folder,
                "run --op gemm_all_reduce --m 1k --n 1k --k 1k --dtype bf16 --ranks 8 "
                "--config sequential");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("every figure is simulated: no GPUs were found ("));
  EXPECT_THAT(outcome.err, HasSubstr("so machine auto is sim:h200-nvlink-x8"));
}

TEST_F(Commands, db_repair_rebuilds_winners_and_keeps_a_copy) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "f.db");
  SQLite::Database((own / "f.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET measured_median_us = measured_median_us / 64");
  const json done = tool::json(own, "db repair --db f.db");
  EXPECT_EQ(done.at("sound"), true);
  EXPECT_TRUE(std::filesystem::exists(own / done.at("copy").get<std::string>()));
  EXPECT_EQ(tool::json(own, "query" + kKnown).at("source"), "exact");
  EXPECT_EQ(tool::json(own, "db repair --db f.db").at("copy"), "");
}

/// Damaged text is told as it is, and must not command the terminal.
TEST_F(Commands, db_repair_shows_no_control_characters) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "f.db");
  SQLite::Database((own / "f.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET origin = origin || char(27) || '[31m'");
  const tool::Outcome done = tool::run(own, "db repair --db f.db");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\\x1b[31m"));
  EXPECT_EQ(done.out.find('\x1b'), std::string::npos);
}

TEST(Probe, shows_bandwidths_of_the_ranks_that_were_asked_for) {
  const Folder folder;
  const std::string probe = "probe --machine sim:rtx4090-pcie-x4 --db p.db --quick --ranks ";
  tool::json(folder, probe + "2");
  const json few = tool::json(folder, probe + "4").at("bandwidths");
  const json all = tool::json(folder, probe + "4 --every-bandwidth").at("bandwidths");
  EXPECT_EQ(few.size(), 4U * 3U);  // three sizes of each collective
  EXPECT_GT(all.size(), few.size());
  for (const json& row : few) {
    EXPECT_EQ(row.at("ranks"), 4);
    EXPECT_NEAR(row.at("algbw_gb_per_s"),
                row.at("bytes").get<double>() / row.at("time_us").get<double>() / 1000, 1e-9);
    for (const json& other : all) {
      if (other.at("collective") != row.at("collective") || other.at("bytes") != row.at("bytes")) {
        continue;
      }
      EXPECT_LE(row.at("time_us"), other.at("time_us"));
    }
  }
}

TEST(Probe, shows_what_each_gpu_reaches_in_copies_to_each_other) {
  const Folder folder;
  const std::string probe = "probe --machine sim:h200-nvlink-x2 --quick --db two.db";
  const tool::Outcome outcome = tool::run(folder, probe);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Peer matrix of sim:h200-nvlink-x2"));
  EXPECT_THAT(outcome.out, HasSubstr("| from |"));
  const json document = tool::json(folder, probe);
  EXPECT_EQ(document.at("measured"), 0);
  ASSERT_EQ(document.at("peers").size(), 2U);
  EXPECT_EQ(document.at("peers").at(0).at("from"), 0);
  EXPECT_EQ(document.at("peers").at(0).at("to"), 1);
  EXPECT_GT(document.at("peers").at(0).at("bandwidth_gb_per_s"), 100);
  EXPECT_TRUE(document.at("peers").at(0).at("latency_us").is_null());  // not by --quick

  const tool::Outcome none =
      tool::run(folder, "probe --machine sim:rtx4090-pcie-x4 --quick --db four.db");
  EXPECT_THAT(none.out, HasSubstr("No peer matrix: NCCL does not reach"));
  EXPECT_THAT(none.out, HasSubstr("host_memory"));
}

TEST_F(Commands, db_copies_are_equal) {
  EXPECT_EQ(tool::run(*folder, "db export --db f.db --out f.json").status, 0);
  const json original = tool::json(*folder, "db info --db f.db");
  json copy = tool::json(*folder, "db import --db copy.db f.json");
  json merged = tool::json(*folder, "db merge --db merged.db f.db copy.db");
  copy["database"] = merged["database"] = "f.db";
  EXPECT_EQ(copy, original);
  EXPECT_EQ(merged.at("winners"), original.at("winners"));
  EXPECT_EQ(merged.at("candidates"), original.at("candidates"));
  EXPECT_EQ(tool::run(*folder, "db check --db merged.db").status, 0);
}

TEST(Help, that_cannot_be_printed_is_exit_code_6) {
  const Folder folder;
  for (const char* command : {"--help", "--version", "tune --help"}) {
    EXPECT_EQ(tool::run(folder, command, 0).status, 6) << command;
  }
}

}  // namespace
}  // namespace overlaptune
