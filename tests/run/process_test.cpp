// Processes by their numbers: one that lives, one that was killed, and one whose number is
// another's.

#include "run/waits/process.hpp"

#include <csignal>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

TEST(Process, that_runs_has_not_ended) {
  const Process own = this_process();
  EXPECT_EQ(own.pid, getpid());
  EXPECT_FALSE(has_ended(own));
}

TEST(Process, that_was_killed_has_ended_also_before_its_parent_looks) {
  int told[2];
  ASSERT_EQ(pipe(told), 0);
  const pid_t child = fork();
  if (child == 0) {
    const Process mine = this_process();
    const bool written = write(told[1], &mine, sizeof mine) == sizeof mine;
    if (!written) _exit(1);
    while (true) pause();
  }
  Process process;
  ASSERT_EQ(read(told[0], &process, sizeof process), static_cast<ssize_t>(sizeof process));
  EXPECT_EQ(process.pid, child);
  EXPECT_FALSE(has_ended(process));
  kill(child, SIGKILL);
  siginfo_t info{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(child), &info, WEXITED | WNOWAIT), 0);
  EXPECT_TRUE(has_ended(process));
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(has_ended(process));
  close(told[0]);
  close(told[1]);
}

TEST(Process, with_the_number_of_another_one_has_ended) {
  Process other = this_process();
  ++other.start;
  EXPECT_TRUE(has_ended(other));
}

TEST(Process, that_cannot_be_looked_at_has_not_ended) {
  const Process own = this_process();
  ASSERT_FALSE(has_ended(own));
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Process other = own;
  ++other.start;
  EXPECT_FALSE(has_ended(own));
  EXPECT_FALSE(has_ended(other));
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(has_ended(other));
}

TEST(Process, of_another_host_or_container_is_not_known_to_have_ended) {
  Process other = this_process();
  other.pid = 1 << 30;
  EXPECT_TRUE(has_ended(other));
  ++other.pids;
  EXPECT_FALSE(has_ended(other));
  other.pids = this_process().pids;
  other.boot[0] = '?';
  EXPECT_FALSE(has_ended(other));
  EXPECT_FALSE(has_ended(Process{}));
}

}  // namespace
}  // namespace overlaptune::run
