// `overlaptune completion`: the script of bash is asked in bash.

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using tool::Folder;

class Completion : public testing::Test {
 protected:
  void SetUp() override {
    const tool::Outcome script = tool::run(folder_, "completion bash");
    ASSERT_EQ(script.status, 0) << script.err;
    folder_.write("script", script.out);
  }

  /// What bash offers for the last word of a line, sorted.
  [[nodiscard]] std::vector<std::string> offered(const std::string& line) const {
    folder_.write("ask", "set -u\nsource ./script\nCOMP_WORDS=(" + line +
                             ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_overlaptune\n"
                             "printf '%s\\n' \"${COMPREPLY[@]}\" > offered\n");
    const std::string command = "cd " + folder_.path().string() + " && bash ask";
    EXPECT_EQ(std::system(command.c_str()), 0) << line;
    std::istringstream in(tool::content(folder_ / "offered"));
    std::vector<std::string> words;
    for (std::string word; std::getline(in, word);) {
      if (!word.empty()) words.push_back(word);
    }
    std::sort(words.begin(), words.end());
    return words;
  }

  Folder folder_;
};

TEST_F(Completion, of_commands) {
  EXPECT_THAT(offered("overlaptune qu"), ElementsAre("query"));
  EXPECT_THAT(offered("overlaptune pr"), ElementsAre("predict", "probe"));
  EXPECT_THAT(offered("overlaptune db in"), ElementsAre("info"));
  EXPECT_THAT(offered("overlaptune cache ''"), Contains("clear"));
}

TEST_F(Completion, of_options) {
  EXPECT_THAT(offered("overlaptune query --pr"), ElementsAre("--problem"));
  EXPECT_THAT(offered("overlaptune db check --j"), ElementsAre("--json"));
  EXPECT_THAT(offered("overlaptune --v"), ElementsAre("--version"));
  EXPECT_THAT(offered("overlaptune tune --sim"), IsEmpty());  // hidden
}

TEST_F(Completion, of_values_that_are_files) {
  folder_.write("found.db", "");
  EXPECT_THAT(offered("overlaptune query --db fo"), ElementsAre("found.db"));
  EXPECT_THAT(offered("overlaptune db merge --db new.db fo"), ElementsAre("found.db"));
  EXPECT_THAT(offered("overlaptune query --seed fo"), IsEmpty());
}

/// The words of each --help are those that are offered.
TEST_F(Completion, has_every_option_that_help_has) {
  for (const std::string command : {"tune", "report", "db import"}) {
    const auto words = offered("overlaptune " + command + " --");
    std::istringstream help(tool::run(folder_, command + " --help").out);
    int options = 0;
    for (std::string line; std::getline(help, line);) {
      if (!line.starts_with("  --")) continue;
      const auto end = line.find_first_of(" ,", 2);
      EXPECT_THAT(words, Contains(line.substr(2, end - 2))) << command;
      ++options;
    }
    EXPECT_GE(options, 4);
  }
}

TEST_F(Completion, for_other_shells_names_the_same_options) {
  const std::string zsh = tool::run(folder_, "completion zsh").out;
  EXPECT_THAT(zsh, testing::StartsWith("#compdef overlaptune\n"));
  EXPECT_THAT(zsh, HasSubstr("'--problem:"));
  const std::string fish = tool::run(folder_, "completion fish").out;
  EXPECT_THAT(fish, HasSubstr("-n '__fish_seen_subcommand_from query' -l problem -x "));
  EXPECT_THAT(fish, HasSubstr("-n '__fish_seen_subcommand_from query' -l db -r -F "));
  EXPECT_THAT(fish, Not(HasSubstr("sim-faults")));
}

TEST_F(Completion, for_an_unknown_shell_is_refused) {
  const tool::Outcome outcome = tool::run(folder_, "completion tcsh");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("shell 'tcsh': expected one of bash, zsh, fish"));
  EXPECT_EQ(outcome.out, "");
}

}  // namespace
}  // namespace overlaptune
