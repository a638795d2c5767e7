#include "machine/cuda/launch/rendezvous.hpp"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <vector>

#include <gtest/gtest.h>

#include "machine/cuda/wire/secret.hpp"
#include "tests/machine/cuda/peers.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;
using What = Received::What;

const std::string kSecret = "known to the ranks of the test";

Connection stranger(const Rendezvous& rendezvous) {
  return value_or_throw(connect("127.0.0.1", rendezvous.port(), in(10s)));
}

Rendezvous rendezvous_here() {
  return Rendezvous(value_or_throw(Listener::open()));
}

/// Whether the honest peer gets in, and is the only one.
void expect_only_the_peer_gets_in(Rendezvous& rendezvous) {
  auto honest = peer(rendezvous.port(), kSecret, "hello");
  const auto arrival = rendezvous.next(kSecret, in(20s));
  ASSERT_TRUE(arrival) << rendezvous.note();
  EXPECT_EQ(arrival->line, "hello");
  honest.get();
  EXPECT_FALSE(rendezvous.next(kSecret, in(50ms)));
}

TEST(Rendezvous, a_silent_stranger_holds_up_nobody) {
  Rendezvous rendezvous = rendezvous_here();
  const Connection silent = stranger(rendezvous);
  expect_only_the_peer_gets_in(rendezvous);
}

}  // namespace
}  // namespace overlaptune::cuda
