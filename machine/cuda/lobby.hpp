#pragma once
// Where workers and agents arrive: whoever connects and says a first line.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "machine/cuda/connection.hpp"

namespace overlaptune::cuda {

/// Strangers may knock: one that says nothing, or too much, is sent away and holds up nobody.
class Lobby {
 public:
  explicit Lobby(Listener listener) : listener_(std::move(listener)) {}

  struct Visitor {
    Connection connection;
    std::string line;  ///< the first one
  };

  /// The next one who has said a line; none by the deadline.
  [[nodiscard]] std::optional<Visitor> next(Deadline deadline);

  [[nodiscard]] int port() const { return listener_.port(); }

 private:
  struct Waiting {
    Connection connection;
    Deadline until;
  };
  void let_in();

  Listener listener_;
  std::vector<Waiting> waiting_{};
};

}  // namespace overlaptune::cuda
