#pragma once
// The controller's rendezvous: the port to which workers and agents connect. Any program may
// connect there. It is a stranger until it has proved the secret; strangers are bounded in number
// and in time, and delay nobody for long.

#include <optional>
#include <string>
#include <vector>

#include "machine/controller/wire/handshake.hpp"

namespace overlaptune::cuda {

class Rendezvous {
 public:
  explicit Rendezvous(Listener listener);

  struct Arrival {
    Connection connection;
    std::string line;  ///< the first line after the handshake
  };

  /// The next connection that has proved the secret and sent a line; none by the deadline.
  [[nodiscard]] std::optional<Arrival> next(const std::string& secret, Deadline deadline);

  [[nodiscard]] int port() const { return listener_.port(); }

  /// A note on the strangers that were dropped: "; connections without the secret of this job: 3,
  /// the last one from 10.0.0.7". Empty if there were none.
  [[nodiscard]] std::string note() const;

 private:
  struct Stranger {
    Connection connection;
    std::string address;
    Challenge challenge{};
    Deadline came = Clock::now();
  };

  void accept_all();
  [[nodiscard]] bool make_room();
  void drop(std::vector<Stranger>::iterator& stranger);
  void hear_strangers(const std::string& secret);
  [[nodiscard]] bool admit(Stranger& stranger, const std::string& secret,
                           const std::string& answer);
  [[nodiscard]] std::optional<Arrival> hear_admitted();
  void wait(Deadline deadline) const;

  Listener listener_;
  std::size_t most_strangers_;
  std::vector<Stranger> strangers_{};   ///< in the order in which they came
  std::vector<Connection> admitted_{};  ///< have proved the secret, and said nothing yet
  Deadline accepts_at_{};               ///< accepts nobody before
  std::size_t dropped_ = 0;
  std::string last_dropped_{};  ///< its address
};

}  // namespace overlaptune::cuda
