#include "machine/controller/wire/connection.hpp"

#include <csignal>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "tests/machine/controller/peers.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;
using What = Received::What;

struct Ends {
  Connection here;
  Connection there;
};

Ends connected() {
  const Listener listener = value_or_throw(Listener::open());
  Connection here = value_or_throw(connect("127.0.0.1", listener.port(), in(10s)));
  Descriptor there = listener.accept();
  while (!there.is_open()) there = listener.accept();
  return {std::move(here), Connection(std::move(there))};
}

/// Sends bytes as they are, without a line end.
void send_raw(const Connection& connection, const std::string& bytes) {
  ASSERT_EQ(send(connection.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(bytes.size()));
}

TEST(Connection, lines_arrive_whole_and_in_order) {
  Ends ends = connected();
  ASSERT_TRUE(ends.here.send("first", in(10s)));
  ASSERT_TRUE(ends.here.send("", in(10s)));
  ASSERT_TRUE(ends.here.send("third", in(10s)));
  EXPECT_EQ(ends.there.receive(in(10s)).text, "first");
  EXPECT_EQ(ends.there.receive(in(10s)).what, What::line);
  EXPECT_EQ(ends.there.receive(in(10s)).text, "third");
  EXPECT_EQ(ends.there.receive(Clock::now()).what, What::nothing);
}

TEST(Connection, a_line_in_pieces_is_one_line) {
  Ends ends = connected();
  send_raw(ends.here, "ab");
  EXPECT_EQ(ends.there.receive(in(20ms)).what, What::nothing);
  send_raw(ends.here, "cd\nef");
  EXPECT_EQ(ends.there.receive(in(10s)).text, "abcd");
  EXPECT_EQ(ends.there.receive(in(20ms)).what, What::nothing);
}

TEST(Connection, waiting_ends_at_the_deadline) {
  Ends ends = connected();
  const auto start = Clock::now();
  EXPECT_EQ(ends.here.receive(in(100ms)).what, What::nothing);
  EXPECT_GE(Clock::now() - start, 100ms);
  EXPECT_LT(Clock::now() - start, 5s);
}

TEST(Connection, a_large_line_passes_and_a_larger_one_ends_it) {
  Ends ends = connected();
  const std::string large(5'000'000, 'x');
  // The sockets cannot hold the whole text at once, so both sides must take turns.
  const pid_t child = fork();
  if (child == 0) {
    _exit(ends.here.send(large, in(20s)) && ends.here.send(large, in(20s)) ? 0 : 1);
  }
  EXPECT_EQ(ends.there.receive(in(20s)).text, large);
  const Received received = ends.there.receive(in(20s), 1'000'000);
  EXPECT_EQ(received.what, What::closed);
  EXPECT_NE(received.text.find("1000000 bytes"), std::string::npos) << received.text;
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Connection, what_was_said_before_the_end_is_heard) {
  Ends ends = connected();
  ASSERT_TRUE(ends.here.send("last words", in(10s)));
  { const Connection gone = std::move(ends.here); }
  EXPECT_EQ(ends.there.receive(in(10s)).text, "last words");
  EXPECT_EQ(ends.there.receive(in(10s)).what, What::closed);
  EXPECT_EQ(ends.there.receive(in(10s)).what, What::closed);
}

TEST(Connection, sending_to_nobody_is_an_error_and_no_signal) {
  Ends ends = connected();
  { const Connection gone = std::move(ends.there); }
  bool failed = false;
  for (int i = 0; i < 100 && !failed; ++i) {
    failed = !ends.here.send(std::string(100'000, 'x'), in(5s));
  }
  EXPECT_TRUE(failed);
}

TEST(Connection, sending_to_one_who_does_not_read_ends_at_the_deadline) {
  Ends ends = connected();
  const std::vector<char> much(60'000'000, 'x');
  const auto sent = ends.here.send({much.data(), much.size()}, in(100ms));
  ASSERT_FALSE(sent);
  EXPECT_NE(sent.error().message.find("does not read"), std::string::npos);
}

TEST(Connection, connecting_waits_for_a_listener_but_not_for_ever) {
  int port = 0;
  { port = value_or_throw(Listener::open()).port(); }
  const auto start = Clock::now();
  const auto refused = connect("127.0.0.1", port, in(200ms));
  ASSERT_FALSE(refused);
  EXPECT_GE(Clock::now() - start, 200ms);
  EXPECT_EQ(refused.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(refused.error().message.find(std::to_string(port)), std::string::npos);

  const pid_t child = fork();
  if (child == 0) {
    poll(nullptr, 0, 150);
    const auto listener = Listener::open("127.0.0.1", port);
    poll(nullptr, 0, 1000);
    _exit(0);
  }
  EXPECT_TRUE(connect("127.0.0.1", port, in(20s)));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(Connection, unknown_hosts_and_taken_ports_are_errors) {
  EXPECT_FALSE(connect("no.such.host.invalid", 1, in(1ms)));
  const Listener listener = value_or_throw(Listener::open());
  const auto taken = Listener::open("127.0.0.1", listener.port());
  ASSERT_FALSE(taken);
  EXPECT_NE(taken.error().message.find("cannot listen"), std::string::npos);
}

}  // namespace
}  // namespace overlaptune::cuda
