#pragma once
// The first three lines of a connection. Any program may connect, and any program may listen where
// the controller is expected. So before either side reads anything else, each proves to the other
// that it knows the job's secret:
//
//   controller   overlaptune-handshake-1 C
//   peer         P HMAC(secret, "peer" C P)
//   controller   HMAC(secret, "controller" C P)
//
// C and P are random and new for each connection, so a handshake that somebody recorded is of no
// use. The secret itself is never sent. Both sides derive the keys of a `Session` from it.

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"
#include "machine/controller/wire/connection.hpp"

namespace overlaptune::cuda {

/// The longest line of a handshake.
inline constexpr std::size_t kLongestProof = 160;

/// The controller's side of one connection. It serves many at once, so it never waits.
class Challenge {
 public:
  Challenge();

  /// The controller's first line.
  [[nodiscard]] std::string line() const;

  struct Admission {
    std::string proof;  ///< the controller's second line
    Session session;
  };
  /// None if the answer does not prove the secret.
  [[nodiscard]] std::optional<Admission> check(std::string_view secret,
                                               std::string_view answer) const;

 private:
  std::string nonce_;
};

/// The peer's side. Error (`machine_unavailable`): the other side does not prove the secret, or
/// does not answer by the deadline.
[[nodiscard]] Expected<void> prove(Connection& connection, std::string_view secret,
                                   Deadline deadline);

/// Connects to the controller and does the peer's side. Tries again until the deadline: the
/// controller may start later, another program may listen there first, and in a flood of strangers
/// the controller may drop this peer too. `secret` is asked in each attempt; its error ends them.
/// Error (`machine_unavailable`): the last attempt's.
[[nodiscard]] Expected<Connection> connect_to_controller(
    const std::string& host, int port, const std::function<Expected<std::string>()>& secret,
    Deadline deadline);

}  // namespace overlaptune::cuda
