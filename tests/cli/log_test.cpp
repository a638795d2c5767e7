// The amount of output of the tool on standard error.

#include <cstdlib>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class Log : public testing::Test {
 protected:
  void SetUp() override { unsetenv("OVERLAPTUNE_LOG"); }
  void TearDown() override { unsetenv("OVERLAPTUNE_LOG"); }

  /// The levels of the lines that a run prints, if it has messages at `debug`, `info` and
  /// `warning`.
  std::set<std::string> levels(const std::string& flags = "") {
    const tool::Folder folder;
    const tool::Outcome outcome = tool::run(
        folder,
        "tune --machine sim:rtx4090-pcie-x4 --db f.db --quick-probe --top-k 1 --budget 0.000001s " +
            std::string("--problem gemm_all_reduce:4k,4k,1k:bf16:4 ") + flags);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    std::istringstream lines(outcome.err);
    std::set<std::string> found;
    for (std::string line; std::getline(lines, line);) {
      found.insert(line.substr(0, line.find(':')));
    }
    return found;
  }
};

TEST_F(Log, notes_and_warnings_where_nothing_is_said) {
  EXPECT_THAT(levels(), UnorderedElementsAre("info", "warning"));
  setenv("OVERLAPTUNE_LOG", "", 1);
  EXPECT_THAT(levels(), UnorderedElementsAre("info", "warning"));
}

TEST_F(Log, from_the_level_of_the_variable_on) {
  setenv("OVERLAPTUNE_LOG", "warning", 1);
  EXPECT_THAT(levels(), ElementsAre("warning"));
  setenv("OVERLAPTUNE_LOG", "off", 1);
  EXPECT_THAT(levels(), IsEmpty());
  setenv("OVERLAPTUNE_LOG", "debug", 1);
  EXPECT_THAT(levels(), UnorderedElementsAre("debug", "info", "warning"));
}

TEST_F(Log, verbose_comes_first) {
  setenv("OVERLAPTUNE_LOG", "off", 1);
  EXPECT_THAT(levels("--verbose"), UnorderedElementsAre("debug", "info", "warning"));
}

/// Text of other hosts and names of files must not command the terminal.
TEST_F(Log, shows_no_control_characters) {
  const tool::Folder folder;
  setenv("OVERLAPTUNE_LOG", "debug", 1);
  setenv("OVERLAPTUNE_WORKER", "\x1b[31mred\nfaked: line", 1);
  const tool::Outcome outcome =
      tool::run(folder, "tune --machine auto --db \x1b[32mgreen/f.db " +
                            std::string("--problem gemm_all_reduce:4k,4k,1k:bf16:4"));
  unsetenv("OVERLAPTUNE_WORKER");
  EXPECT_NE(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("\\x1b[31mred\\x0afaked: line"));           // in the log
  EXPECT_THAT(outcome.err, HasSubstr("overlaptune: database '\\x1b[32mgreen"));  // the message
  EXPECT_EQ(outcome.err.find('\x1b'), std::string::npos);
}

TEST_F(Log, a_level_that_is_not_known) {
  const tool::Folder folder;
  for (const char* level : {"loud", "INFO", "3"}) {
    setenv("OVERLAPTUNE_LOG", level, 1);
    const tool::Outcome outcome = tool::run(folder, "machines");
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("OVERLAPTUNE_LOG = '" + std::string(level) +
                                       "': expected one of trace, debug, info, warning"));
  }
}

}  // namespace
}  // namespace overlaptune
