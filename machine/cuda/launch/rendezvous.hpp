#pragma once
// The controller's rendezvous: the port to which workers and agents connect, and the first line of
// each.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/wire/connection.hpp"

namespace overlaptune::cuda {

/// Any program may connect. A connection that sends no line in time, or too long a line, is closed,
/// and does not delay the others.
class Rendezvous {
 public:
  explicit Rendezvous(Listener listener) : listener_(std::move(listener)) {}

  struct Arrival {
    Connection connection;
    std::string line;  ///< the first line
  };

  /// The next connection that has sent a line; none by the deadline.
  [[nodiscard]] std::optional<Arrival> next(Deadline deadline);

  [[nodiscard]] int port() const { return listener_.port(); }

 private:
  struct Waiting {
    Connection connection;
    Deadline until;
  };
  void accept_all();

  Listener listener_;
  std::vector<Waiting> waiting_{};
};

}  // namespace overlaptune::cuda
