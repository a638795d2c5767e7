// `status`, groups of the help, and flags from a file.

#include <map>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using tool::Folder;

using Status = tool::Tuned;

TEST_F(Status, says_what_answers_on_this_host) {
  const json status = tool::json(*folder, "status --db f.db --json");
  EXPECT_EQ(status.at("winners"), tuned->at("winners").size());
  EXPECT_EQ(status.at("answering_here"), status.at("winners"));
  ASSERT_EQ(status.at("platforms").size(), 1U);
  const json& row = status.at("platforms")[0];
  EXPECT_EQ(row.at("platform"), "sim:rtx4090-pcie-x4");
  EXPECT_EQ(row.at("answers here"), "yes");
  EXPECT_EQ(row.at("days old"), 0);
  EXPECT_EQ(row.at("unfinished runs"), 0);
  const std::string text = tool::run(*folder, "status --db f.db").out;
  EXPECT_THAT(text, HasSubstr("f.db: 2 of 2 winners answer on this host\n"));
}

TEST(StatusOfAnother, names_the_difference) {
  const Folder folder;
  const std::string text = tool::content(std::string(OVERLAPTUNE_SOURCE_DIR) +
                                         "/machine/simulator/profiles/rtx4090-pcie-x4.json");
  json profile = json::parse(text);
  profile["name"] = "mine";
  folder.write("mine.json", profile.dump());
  const auto tune = tool::run(folder,
                              "tune --machine sim:mine --profile mine.json --db f.db --quick-probe "
                              "--top-k 1 --problem gemm_all_reduce:2k,1k,512:bf16:4");
  ASSERT_EQ(tune.status, 0) << tune.err;
  const auto answers = [&](const std::string& flags) {
    const json status = tool::json(folder, "status --db f.db --json" + flags);
    EXPECT_EQ(status.at("winners"), 1);
    return status.at("platforms")[0].at("answers here").get<std::string>();
  };
  EXPECT_EQ(answers(" --profile mine.json"), "yes");
  EXPECT_THAT(answers(""), HasSubstr("sim:mine"));  // not known here
  profile["description"] = "edited";
  folder.write("mine.json", profile.dump());
  EXPECT_THAT(answers(" --profile mine.json"), AllOf(HasSubstr("no: "), HasSubstr("details")));
}

TEST(Help, commands_stand_in_groups) {
  const Folder folder;
  std::istringstream text(tool::run(folder, "--help").out);
  std::map<std::string, std::string> group;
  std::string heading;
  for (std::string line; std::getline(text, line);) {
    if (!line.empty() && line.front() != ' ' && line.back() == ':') heading = line;
    if (line.starts_with("  ") && line.at(2) != ' ') {
      group[line.substr(2, line.find(' ', 2) - 2)] = heading;
    }
  }
  EXPECT_EQ(group["tune"], "Measure:");
  EXPECT_EQ(group["query"], "Ask:");
  EXPECT_EQ(group["whatif"], "Plan:");
  EXPECT_EQ(group["db"], "Keep:");
  EXPECT_EQ(group["status"], "Keep:");
}

TEST_F(Status, errors_of_a_file_of_flags_name_the_file_and_what_was_expected) {
  const auto refused = [&](const char* text) {
    folder->write("flags.toml", text);
    const auto result = tool::run(*folder, "query --db f.db --config flags.toml");
    EXPECT_EQ(result.status, 2);
    EXPECT_THAT(result.err, HasSubstr("--config flags.toml: "));
    EXPECT_THAT(result.err, Not(HasSubstr("INI")));
    return result.err;
  };
  EXPECT_THAT(refused("[query]\nplatfrom = \"x\"\n"),
              HasSubstr("[query]: platfrom: unknown flag; did you mean '--platform'?"));
  EXPECT_THAT(refused("[querry]\njson = true\n"),
              AllOf(HasSubstr("[querry]: expected a command: "), HasSubstr("mean 'query'?")));
  EXPECT_THAT(refused("json = true\n"), HasSubstr("'json': expected a section, as [tune]"));
  EXPECT_THAT(refused("no toml\n"), HasSubstr("'no toml': expected a section"));
  EXPECT_THAT(refused("[query]\nhelp = true\n"), HasSubstr("query.help: not a flag that a file"));
  const auto folder_given = tool::run(*folder, "query --db f.db --config .");
  EXPECT_EQ(folder_given.status, 2);
  EXPECT_THAT(folder_given.err, HasSubstr("--config .: cannot be read"));
  folder->write("flags.toml", "[query]\njson = \"maybe\"\n");
  EXPECT_THAT(tool::run(*folder, "query --db f.db --config flags.toml").err,
              HasSubstr("--json: 'maybe': expected true or false"));
  EXPECT_THAT(tool::run(*folder, "--verbose query --db f.db").err,
              HasSubstr("--verbose: expected behind the command, as in query --verbose"));
}

TEST_F(Status, flags_come_from_a_file_and_the_command_line_goes_before) {
  folder->write(
      "flags.toml",
      "[query]\ndb = \"f.db\"\nproblem = \"gemm_all_reduce:4k,4k,1k:bf16:4\"\njson = true\n"
      "[status]\ndb = \"absent.db\"\n");
  const json answer = tool::json(*folder, "query --config flags.toml");
  EXPECT_EQ(answer.at("source"), "exact");
  EXPECT_EQ(tool::json(*folder,
                       "--config flags.toml query --problem "
                       "gemm_reduce_scatter:4k,4k,1k:bf16:4")
                .at("problem")
                .at("op"),
            "gemm_reduce_scatter");
  EXPECT_EQ(tool::run(*folder, "status --config flags.toml").status, 2);
  EXPECT_EQ(tool::run(*folder, "status --config flags.toml --db f.db").status, 0);
  folder->write("unknown.toml", "[query]\nno_such_flag = 1\n");
  const auto unknown = tool::run(*folder, "query --db f.db --config unknown.toml");
  EXPECT_EQ(unknown.status, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no_such_flag"));
  const auto absent = tool::run(*folder, "query --db f.db --config absent.toml");
  EXPECT_EQ(absent.status, 2);
  EXPECT_THAT(absent.err, HasSubstr("absent.toml"));
}

}  // namespace
}  // namespace overlaptune
