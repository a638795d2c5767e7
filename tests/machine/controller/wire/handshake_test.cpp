#include "machine/controller/wire/handshake.hpp"

#include <array>
#include <atomic>
#include <sys/socket.h>

#include <gtest/gtest.h>

#include "machine/controller/wire/secret.hpp"
#include "tests/machine/controller/peers.hpp"

/// Comparisons of secrets since the start. The linker puts this function in place of the library's
/// (--wrap), so it counts what the program compares in constant time.
static std::atomic<int> compared = 0;
extern "C" int __real_sodium_memcmp(const void* a, const void* b, std::size_t size);
extern "C" int __wrap_sodium_memcmp(const void* a, const void* b, std::size_t size) {
  ++compared;
  return __real_sodium_memcmp(a, b, size);
}

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;
using Outcome = Received::What;

const std::string kShared = "known to both sides";

struct Sides {
  Connection controller;
  Connection peer;
};

Sides both_sides() {
  const Listener listener = value_or_throw(Listener::open());
  Connection peer = value_or_throw(connect("127.0.0.1", listener.port(), in(10s)));
  Descriptor controller = listener.accept();
  while (!controller.is_open()) controller = listener.accept();
  return {Connection(std::move(controller)), std::move(peer)};
}

/// The peer's answer to a challenge.
std::string answer_of(Connection& controller) {
  return controller.receive(in(10s), kLongestProof).text;
}

/// The result of `prove` with a controller that sends these lines, whatever it is told.
Expected<void> proved_to(const std::vector<std::string>& lines, std::string_view secret = kShared) {
  Sides ends = both_sides();
  for (const std::string& line : lines) EXPECT_TRUE(ends.controller.send(line, in(10s)));
  return prove(ends.peer, secret, in(200ms));
}

void expect_refused(const Expected<void>& outcome, const std::string& why) {
  ASSERT_FALSE(outcome) << why;
  EXPECT_EQ(outcome.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(outcome.error().message.find(why), std::string::npos) << outcome.error().message;
}

/// RFC 4231, test cases 1, 2 and 6.
TEST(Hmac, is_that_of_the_standard) {
  EXPECT_EQ(hmac(std::string(20, '\x0b'), {"Hi There"}),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
  EXPECT_EQ(hmac("Jefe", {"what do ya want ", "", "for nothing?"}),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  EXPECT_EQ(
      hmac(std::string(131, '\xaa'), {"Test Using Larger Than Block-Size Key - Hash Key First"}),
      "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
}

TEST(Secret, is_new_each_time) {
  EXPECT_EQ(new_secret().size(), kSecretDigits);
  EXPECT_NE(new_secret(), new_secret());
}

TEST(Secret, is_compared_in_constant_time) {
  const int before = compared;
  EXPECT_TRUE(is_same("abc", "abc"));
  EXPECT_FALSE(is_same("abc", "abd"));
  EXPECT_FALSE(is_same("abc", "abcd"));
  EXPECT_EQ(compared - before, 2);
}

/// Lets the two sides meet, and calls `during` with the peer's answer before it is checked.
Sides met(std::string& answer, const Challenge& challenge = {}) {
  Sides ends = both_sides();
  EXPECT_TRUE(ends.controller.send(challenge.line(), in(10s)));
  auto proved = std::async(std::launch::async, [&] { return prove(ends.peer, kShared, in(10s)); });
  answer = answer_of(ends.controller);
  auto admission = challenge.check(kShared, answer);
  if (admission) {
    EXPECT_TRUE(ends.controller.send(admission->proof, in(10s)));
    ends.controller.protect(std::move(admission->session));
  }
  EXPECT_TRUE(proved.get());
  return ends;
}

TEST(Handshake, lets_both_sides_talk) {
  const int before = compared;
  std::string answer;
  Sides ends = met(answer);
  EXPECT_GE(compared - before, 2) << "a proof was not compared in constant time";
  for (const std::string& line : {std::string("first"), std::string(), std::string(5000, 'x')}) {
    ASSERT_TRUE(ends.peer.send(line, in(10s)));
    EXPECT_EQ(ends.controller.receive(in(10s)).text, line);
    ASSERT_TRUE(ends.controller.send(line, in(10s)));
    EXPECT_EQ(ends.peer.receive(in(10s)).text, line);
  }
  EXPECT_GE(compared - before, 8) << "a line was not compared in constant time";
}

TEST(Handshake, refuses_who_does_not_know_the_secret) {
  const Challenge challenge;
  std::string right;
  met(right, challenge);
  ASSERT_TRUE(challenge.check(kShared, right));
  EXPECT_FALSE(challenge.check("another secret", right));
  for (std::size_t i = 0; i < right.size(); ++i) {
    std::string wrong = right;
    wrong[i] = wrong[i] == '0' ? '1' : '0';
    EXPECT_FALSE(challenge.check(kShared, wrong)) << i;
  }
  EXPECT_FALSE(challenge.check(kShared, ""));
  EXPECT_FALSE(challenge.check(kShared, right + "0"));
  EXPECT_FALSE(challenge.check(kShared, right.substr(1)));
  EXPECT_FALSE(challenge.check(kShared, std::string(right.size(), '0')));
}

TEST(Handshake, refuses_an_answer_that_was_recorded) {
  std::string recorded;
  met(recorded);
  EXPECT_FALSE(Challenge().check(kShared, recorded));
}

TEST(Handshake, refuses_a_false_controller) {
  expect_refused(proved_to({}), "it does not answer");
  expect_refused(proved_to({"SSH-2.0-OpenSSH_9.2"}), "it is no controller of this version");
  expect_refused(proved_to({R"({"do": "start", "start": "x"})"}), "it is no controller");
  expect_refused(proved_to({std::string(1000, 'x')}), "more than 160 bytes");
  const std::string challenge = Challenge().line();
  expect_refused(proved_to({challenge, std::string(kSecretDigits, '0')}),
                 "does not know the secret");
  expect_refused(proved_to({challenge}), "it did not accept this rank's secret");
  expect_refused(proved_to({challenge, R"({"do": "start", "start": "x"})"}), "does not know");
}

/// It hands the peer's own proof back.
TEST(Handshake, refuses_a_controller_that_is_a_mirror) {
  Sides ends = both_sides();
  ASSERT_TRUE(ends.controller.send(Challenge().line(), in(10s)));
  auto proved = std::async(std::launch::async, [&] { return prove(ends.peer, kShared, in(10s)); });
  const std::string answer = answer_of(ends.controller);
  ASSERT_TRUE(ends.controller.send(answer.substr(kSecretDigits + 1), in(10s)));
  expect_refused(proved.get(), "it does not know the secret of this job");
}

/// The keys that two sides of one session have.
struct Pair {
  Session here{"a", "b"};
  Session there{"b", "a"};
};

TEST(Session, refuses_lines_that_were_changed_repeated_left_out_or_sent_back) {
  Pair pair;
  const std::string first = pair.here.seal("first");
  const std::string second = pair.here.seal("second");
  EXPECT_EQ(pair.there.open(second), std::nullopt) << "one was left out";
  for (std::size_t i = 0; i < first.size(); ++i) {
    std::string changed = first;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    EXPECT_EQ(pair.there.open(changed), std::nullopt) << i;
    EXPECT_EQ(pair.there.open(first.substr(0, i)), std::nullopt) << i;
  }
  EXPECT_EQ(pair.there.open(first), "first");
  EXPECT_EQ(pair.there.open(first), std::nullopt) << "it was repeated";
  EXPECT_EQ(pair.here.open(second), std::nullopt) << "it was sent back";
  EXPECT_EQ(pair.there.open(second), "second");
}

/// A line of one connection is of no use in another one under the same secret.
TEST(Session, refuses_lines_of_another_connection) {
  std::string answer;
  Sides one = met(answer);
  Sides other = met(answer);
  ASSERT_TRUE(one.peer.send("hello", in(10s)));
  std::array<char, 200> recorded{};
  const ssize_t size = recv(one.controller.descriptor(), recorded.data(), recorded.size(), 0);
  ASSERT_EQ(size, static_cast<ssize_t>(kSecretDigits + std::string("hello\n").size()));
  ASSERT_EQ(send(other.peer.descriptor(), recorded.data(), static_cast<std::size_t>(size), 0),
            size);
  const Received received = other.controller.receive(in(10s));
  EXPECT_EQ(received.what, Outcome::closed);
  EXPECT_NE(received.text.find("somebody interferes"), std::string::npos) << received.text;
  EXPECT_EQ(other.controller.receive(in(10s)).what, Outcome::closed);
}

}  // namespace
}  // namespace overlaptune::cuda
