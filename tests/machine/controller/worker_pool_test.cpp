#include "machine/controller/worker_pool.hpp"

#include <csignal>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/machine/controller/fixtures.hpp"
#include "tests/machine/controller/processes.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

std::chrono::milliseconds patient(const RunStep* /*step*/) {
  return 20s;
}

/// Starting fails, with `part` in the reason, and nothing is left behind.
void expect_no_start(int ranks, const PoolOptions& options, const std::string& part) {
  const auto pool = fake_pool(ranks, options);
  const auto started = pool->start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(started.error().message.find(part), std::string::npos) << started.error().message;
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST(WorkerPool, asks_all_and_leaves_nothing_behind) {
  {
    const auto pool = fake_pool(3);
    const auto started = pool->start();
    ASSERT_TRUE(started) << started.error().message;
    EXPECT_EQ(children_of(getpid()).size(), 3U);
    EXPECT_EQ(pool->hellos()[2].rank, 2);
    EXPECT_EQ(pool->hellos()[2].device.pci_bus, "0000:02:00.0");
    const auto replies = pool->ask(UniqueIdRequest{}, patient);
    ASSERT_TRUE(replies) << replies.error().reason;
    ASSERT_EQ(replies->size(), 3U);
    for (const Reply& reply : *replies) EXPECT_TRUE(std::holds_alternative<UniqueId>(reply));
  }
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST(WorkerPool, starts_again_with_other_processes) {
  const auto pool = fake_pool(2);
  ASSERT_TRUE(pool->start());
  const int first = pool->hellos()[0].pid;
  ASSERT_TRUE(pool->start());
  EXPECT_NE(pool->hellos()[0].pid, first);
  EXPECT_FALSE(runs(first));
  EXPECT_EQ(children_of(getpid()).size(), 2U);
}

TEST(WorkerPool, a_rank_that_does_not_come_is_named) {
  const Variable fault("FAKE_FAULT", "mute:1");
  expect_no_start(2, {.start_limit = 1500ms}, "rank 1 on");
}

TEST(WorkerPool, a_worker_of_another_version_is_refused) {
  const Variable fault("FAKE_FAULT", "other_version:1");
  expect_no_start(2, {}, "of overlaptune 0.0.1 (protocol 8), expected");
}

TEST(WorkerPool, a_worker_that_cannot_begin_is_quoted) {
  {
    const Variable fault("FAKE_FAULT", "no_gpu:1");
    expect_no_start(2, {}, "no GPU 1");
  }
  {
    const Variable fault("FAKE_FAULT", "exit:0");
    expect_no_start(2, {}, "ended with code 9: cannot open shared object file");
  }
  const Variable fault("FAKE_FAULT", "cannot_join:1");
  expect_no_start(2, {}, "rank 1 on " + host_name() + ": the fabric is down");
}

TEST(WorkerPool, an_outsider_without_the_secret_is_no_worker) {
  Rendezvous rendezvous(value_or_throw(Listener::open()));
  auto outsider = value_or_throw(connect("127.0.0.1", rendezvous.port(), Clock::now() + 10s));
  const Hello hello{.version = program_version(), .rank = 0};
  ASSERT_TRUE(outsider.send(to_line(Reply(hello)), Clock::now() + 10s));
  std::vector<std::unique_ptr<WorkerSlot>> slots;
  slots.push_back(std::make_unique<LocalSlot>(
      WorkerCall{.program = fake_worker(), .host = "127.0.0.1", .port = rendezvous.port()}));
  WorkerPool pool(std::move(rendezvous), std::move(slots), {});
  ASSERT_TRUE(pool.start());
  EXPECT_NE(pool.hellos()[0].pid, 0);
  EXPECT_EQ(outsider.receive(Clock::now() + 10s).what, Received::What::line);  // the challenge
  EXPECT_EQ(outsider.receive(Clock::now() + 10s).what, Received::What::closed);
}

TEST(WorkerPool, a_rank_that_died_while_nobody_asked_is_noticed) {
  const auto pool = fake_pool(3);
  ASSERT_TRUE(pool->start());
  kill(pool->hellos()[1].pid, SIGKILL);
  const auto replies = pool->ask(UniqueIdRequest{}, patient);
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().rank, 1);
  EXPECT_EQ(replies.error().how, Loss::How::killed);
  EXPECT_NE(replies.error().reason.find("killed by signal 9"), std::string::npos);
}

/// The destructors of a failed GPU's backend would hang, as those of the fake one do.
TEST(WorkerPool, a_worker_that_failed_goes_without_destructors) {
  const auto pool = fake_pool(1);
  ASSERT_TRUE(pool->start());
  const auto replies = pool->ask(MeasureRequest{probe_that(Act::fail)}, patient);
  ASSERT_FALSE(replies);
  EXPECT_EQ(replies.error().how, Loss::How::failed);
  EXPECT_TRUE(soon([&] { return !runs(pool->hellos()[0].pid); }));
}

/// A worker that nothing kills, as if its driver held it.
class HeldSlot : public LocalSlot {
 public:
  using LocalSlot::LocalSlot;
  void kill() override {}
};

std::unique_ptr<WorkerPool> pool_of_held_slots(const std::vector<bool>& held,
                                               std::chrono::milliseconds kill_limit) {
  Rendezvous rendezvous(value_or_throw(Listener::open()));
  std::vector<std::unique_ptr<WorkerSlot>> slots;
  for (int rank = 0; rank < static_cast<int>(held.size()); ++rank) {
    const WorkerCall call{.program = fake_worker(),
                          .host = "127.0.0.1",
                          .port = rendezvous.port(),
                          .rank = rank,
                          .local_rank = rank};
    if (held[static_cast<std::size_t>(rank)]) {
      slots.push_back(std::make_unique<HeldSlot>(call));
    } else {
      slots.push_back(std::make_unique<LocalSlot>(call));
    }
  }
  return std::make_unique<WorkerPool>(std::move(rendezvous), std::move(slots),
                                      PoolOptions{.kill_limit = kill_limit});
}

TEST(WorkerPool, none_is_started_beside_one_that_does_not_go) {
  const auto pool = pool_of_held_slots({false, true, false}, 300ms);
  ASSERT_TRUE(pool->start());
  const std::vector<Hello> first = pool->hellos();
  kill(first[1].pid, SIGSTOP);
  const auto again = pool->start();
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(again.error().message.find(
                fmt::format("rank 1 on {} (process {})", host_name(), first[1].pid)),
            std::string::npos)
      << again.error().message;
  EXPECT_FALSE(runs(first[0].pid));
  EXPECT_FALSE(runs(first[2].pid));
  EXPECT_EQ(children_of(getpid()), std::vector{first[1].pid});
  kill(first[1].pid, SIGCONT);  // it sees that nobody asks any more
  EXPECT_TRUE(soon([&] { return pool->start().has_value(); }));
}

TEST(WorkerPool, all_that_do_not_go_are_waited_for_together) {
  constexpr auto kLimit = 2s;
  const auto pool = pool_of_held_slots({true, true, true, true}, kLimit);
  ASSERT_TRUE(pool->start());
  for (const Hello& hello : pool->hellos()) kill(hello.pid, SIGSTOP);
  const auto before = Clock::now();
  EXPECT_FALSE(pool->kill());
  EXPECT_FALSE(pool->start());
  EXPECT_LT(Clock::now() - before, 2 * kLimit);
}

/// The workers end, whatever happens to the controller.
TEST(WorkerPool, no_worker_outlives_a_controller_that_is_killed) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t controller = fork();
  if (controller == 0) {
    const auto pool = fake_pool(3);
    if (!pool->start()) _exit(1);
    for (const Hello& hello : pool->hellos()) {
      if (write(ends[1], &hello.pid, sizeof hello.pid) != sizeof hello.pid) _exit(1);
    }
    while (true) pause();
  }
  close(ends[1]);
  std::vector<int> workers(3);
  for (int& pid : workers) ASSERT_EQ(read(ends[0], &pid, sizeof pid), ssize_t{sizeof pid});
  close(ends[0]);
  for (const int pid : workers) EXPECT_TRUE(runs(pid));
  kill(controller, SIGKILL);
  waitpid(controller, nullptr, 0);
  for (const int pid : workers) EXPECT_TRUE(soon([&] { return !runs(pid); })) << pid;
}

}  // namespace
}  // namespace overlaptune::cuda
