#pragma once
// Processes that connect to a controller, played by tests.

#include <future>
#include <string>

#include "machine/controller/wire/handshake.hpp"

namespace overlaptune::cuda {

inline Deadline in(std::chrono::milliseconds time) {
  return Clock::now() + time;
}

/// A connection that proves the secret and then sends a line. It does so in a thread, because the
/// test serves the controller's side meanwhile. The future throws `Failure` if it is not let in
/// within 20 seconds.
inline std::future<Connection> peer(int port, const std::string& secret, const std::string& line) {
  return std::async(std::launch::async, [=] {
    auto connection = value_or_throw(connect_to_controller(
        "127.0.0.1", port, [&] { return secret; }, in(std::chrono::seconds(20))));
    static_cast<void>(connection.send(line, in(std::chrono::seconds(10))));
    return connection;
  });
}

}  // namespace overlaptune::cuda
