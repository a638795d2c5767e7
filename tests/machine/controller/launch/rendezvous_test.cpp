#include "machine/controller/launch/rendezvous.hpp"

#include <functional>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/controller/wire/secret.hpp"
#include "tests/machine/controller/peers.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::string kSecret = "known to the ranks of the test";

/// The time that this process has computed.
std::chrono::microseconds computed() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto of = [](const timeval& time) {
    return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
  };
  return of(usage.ru_utime) + of(usage.ru_stime);
}

/// Another process, killed at the end.
class Child {
 public:
  explicit Child(const std::function<void()>& act) : pid_(fork()) {
    if (pid_ != 0) return;
    act();
    while (true) pause();
  }
  ~Child() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

 private:
  pid_t pid_;
};

class RendezvousTest : public testing::Test {
 protected:
  Connection stranger() const {
    return value_or_throw(connect("127.0.0.1", rendezvous.port(), in(10s)));
  }

  /// Sends bytes as they are, without a line end.
  static void send_raw(const Connection& connection, const std::string& bytes) {
    ASSERT_EQ(send(connection.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(bytes.size()));
  }

  /// Checks that the honest peer gets in, and nobody else.
  void expect_only_the_peer_gets_in() {
    auto honest = peer(rendezvous.port(), kSecret, "hello");
    const auto arrival = rendezvous.next(kSecret, in(20s));
    ASSERT_TRUE(arrival) << rendezvous.note();
    EXPECT_EQ(arrival->line, "hello");
    honest.get();
    EXPECT_FALSE(rendezvous.next(kSecret, in(50ms)));
  }

  Rendezvous rendezvous{value_or_throw(Listener::open())};
};

TEST_F(RendezvousTest, a_peer_with_the_secret_gets_in) {
  expect_only_the_peer_gets_in();
  EXPECT_EQ(rendezvous.note(), "");
}

TEST_F(RendezvousTest, strangers_are_dropped_whatever_they_send) {
  std::vector<Connection> strangers;
  const std::vector<std::string> greetings{
      "\n",
      "hello\n",
      "GET / HTTP/1.1\r\n\r\n",
      R"({"agent": {"protocol": 0}})"
      "\n",
      R"({"agent": {"protocol": 5, "version": "0.1.0", "rank": 1, "host": "\u001b[2J"}})"
      "\n",
      R"({"hello": {"protocol": 5, "version": "0.1.0", "rank": 1, "host": "h"}, "token": "t"})"
      "\n",
      std::string(2 * kSecretDigits + 1, '0') + "\n",
      new_secret() + " " + new_secret() + "\n",
      std::string("\0\xff\x1b\n", 4),
      std::string(100'000, 'x'),
      std::string(100'000, '[') + "\n"};
  for (const std::string& greeting : greetings) {
    strangers.push_back(stranger());
    send_raw(strangers.back(), greeting);
  }
  expect_only_the_peer_gets_in();
  EXPECT_EQ(rendezvous.note(),
            "; connections without the secret of this job: 11, the last one from 127.0.0.1");
}

TEST_F(RendezvousTest, a_peer_with_another_secret_does_not_get_in) {
  auto other = std::async(std::launch::async, [port = rendezvous.port()] {
    return connect_to_controller(
        "127.0.0.1", port, [] { return "the secret of another job"; }, in(500ms));
  });
  EXPECT_FALSE(rendezvous.next(kSecret, in(1s)));
  const auto refused = other.get();
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("did not accept this rank's secret"));
  expect_only_the_peer_gets_in();
}

TEST_F(RendezvousTest, silent_strangers_hold_up_nobody) {
  const Connection silent = stranger();
  const Connection slow = stranger();
  send_raw(slow, "half a greeting");
  const auto before = Clock::now();
  expect_only_the_peer_gets_in();
  EXPECT_LT(Clock::now() - before, 4s);  // less than the strangers may take
}

TEST_F(RendezvousTest, a_greeting_must_come_in_time) {
  Connection slow = stranger();
  send_raw(slow, "half a greeting");
  EXPECT_FALSE(rendezvous.next(kSecret, in(5500ms)));
  EXPECT_THAT(rendezvous.note(), HasSubstr("of this job: 1, "));
  EXPECT_EQ(slow.receive(in(1s)).what, Received::What::line);  // the challenge
  EXPECT_EQ(slow.receive(in(1s)).what, Received::What::closed);
}

/// A flood of as many connections as once took all descriptors of a process, and locked the ranks
/// out.
TEST_F(RendezvousTest, a_flood_of_silent_strangers_locks_nobody_out) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit usual{.rlim_cur = 1024, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &usual), 0);
  Rendezvous flooded(value_or_throw(Listener::open()));
  const auto flood = [&] {
    std::vector<Connection> connections;
    for (int i = 0; i < 575; ++i) {
      auto connection = connect("127.0.0.1", flooded.port(), in(30s));
      if (connection) connections.push_back(std::move(*connection));
    }
    while (true) pause();
  };
  const Child first(flood);
  const Child second(flood);
  poll(nullptr, 0, 200);
  const auto computed_before = computed();
  auto honest = peer(flooded.port(), kSecret, "hello");
  const auto arrival = flooded.next(kSecret, in(20s));
  ASSERT_TRUE(arrival) << flooded.note();
  EXPECT_EQ(arrival->line, "hello");
  honest.get();
  EXPECT_FALSE(flooded.next(kSecret, in(1s)));
  EXPECT_LT(computed() - computed_before, 800ms) << "it polls in a busy loop";
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_F(RendezvousTest, without_a_free_descriptor_it_waits_and_does_not_spin) {
  auto honest = peer(rendezvous.port(), kSecret, "hello");
  poll(nullptr, 0, 50);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const int next_free = dup(0);
  close(next_free);
  const rlimit none_left{.rlim_cur = static_cast<rlim_t>(next_free), .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none_left), 0);
  const auto computed_before = computed();
  EXPECT_FALSE(rendezvous.next(kSecret, in(500ms)));
  EXPECT_LT(computed() - computed_before, 100ms) << "it polls in a busy loop";
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  const auto arrival = rendezvous.next(kSecret, in(10s));
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->line, "hello");
  honest.get();
}

}  // namespace
}  // namespace overlaptune::cuda
