#include "machine/controller/launch/process.hpp"

#include <csignal>

#include <gtest/gtest.h>

#include "tests/machine/controller/processes.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

Process shell(const std::string& script, bool keep_output = false) {
  return value_or_throw(Process::start({.program = "/bin/sh",
                                        .arguments = {"-c", script},
                                        .environment = {{"TOLD", "by us"}},
                                        .keep_output = keep_output}));
}

TEST(Process, tells_how_it_ended_and_what_it_said) {
  Process process = shell("echo one >&2; echo \"$TOLD\" >&2; exit 5");
  EXPECT_EQ(process.wait(Clock::now() + 20s), (Ending{.code = 5}));
  EXPECT_EQ(last_lines(process.last_words()), "one; by us");
  EXPECT_EQ(to_string(*process.ending()), "ended with code 5");
}

TEST(Process, its_last_words_do_not_command_the_terminal) {
  Process process = shell("printf '\\033[2Jone\\n' >&2");
  ASSERT_TRUE(process.wait(Clock::now() + 20s));
  EXPECT_EQ(last_lines(process.last_words()), "\\x1b[2Jone");
}

TEST(Process, keeps_output_apart_if_asked) {
  Process process = shell("echo out; echo err >&2", true);
  ASSERT_TRUE(process.wait(Clock::now() + 20s));
  EXPECT_EQ(process.output(), "out\n");
  EXPECT_EQ(process.last_words(), "err\n");
}

TEST(Process, a_signal_is_named) {
  Process process = shell("kill -SEGV $$");
  EXPECT_EQ(process.wait(Clock::now() + 20s), (Ending{.signal = SIGSEGV}));
  EXPECT_NE(to_string(*process.ending()).find("killed by signal 11"), std::string::npos);
}

TEST(Process, one_that_cannot_start_is_an_error) {
  const auto process = Process::start({.program = "/no/such/program"});
  ASSERT_FALSE(process);
  EXPECT_NE(process.error().message.find("/no/such/program"), std::string::npos);
  EXPECT_EQ(process.error().kind, ErrorKind::machine_unavailable);
}

TEST(Process, is_gone_with_its_own_children_when_its_owner_goes) {
  pid_t pid = 0;
  std::vector<pid_t> grandchildren;
  {
    Process process = shell("sleep 100 & sleep 100");
    pid = process.pid();
    ASSERT_TRUE(soon([&] { return children_of(pid).size() == 2; }));
    grandchildren = children_of(pid);
    EXPECT_FALSE(process.wait(Clock::now() + 10ms));
  }
  EXPECT_FALSE(runs(pid));
  for (const pid_t each : grandchildren) EXPECT_TRUE(soon([&] { return !runs(each); }));
}

TEST(Process, saying_much_neither_blocks_nor_is_kept) {
  Process process =
      shell("i=0; while [ $i -lt 20000 ]; do echo 'a line of words' >&2; i=$((i+1)); done");
  ASSERT_TRUE(process.wait(Clock::now() + 30s));
  EXPECT_LE(process.last_words().size(), 4096U);
  EXPECT_LE(last_lines(process.last_words(), 100).size(), 103U);
}

}  // namespace
}  // namespace overlaptune::cuda
