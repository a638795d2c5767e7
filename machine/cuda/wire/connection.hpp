#pragma once
// Lines of text over TCP, each wait with a deadline. One thread at a time.

#include <string>
#include <string_view>

#include "core/error.hpp"
#include "machine/cuda/wire/socket.hpp"

namespace overlaptune::cuda {

inline constexpr std::size_t kLongestLine = std::size_t{64} << 20;
/// Enough for a first line. Whoever has not said yet who it is may send no more.
inline constexpr std::size_t kLongestGreeting = std::size_t{64} << 10;

struct Received {
  enum class What {
    line,     ///< `text` is a line, without its end
    nothing,  ///< no whole line by the deadline
    closed,   ///< none will come; `text` says why
  };
  What what = What::nothing;
  std::string text{};
};

class Connection {
 public:
  /// Of a connected socket.
  explicit Connection(FileDescriptor socket);

  /// Sends the line and its end. Error (`machine_unavailable`): the other side is gone, or does not
  /// read; the connection is then of no further use. Never raises SIGPIPE.
  [[nodiscard]] Expected<void> send(std::string_view line, Deadline deadline);

  /// The next line. A line longer than `longest` closes the connection. Lines that arrived before
  /// the other side closed are still received.
  [[nodiscard]] Received receive(Deadline deadline, std::size_t longest = kLongestLine);

  /// For poll. What `receive` has read already does not show there: receive until `nothing` first.
  [[nodiscard]] int descriptor() const { return socket_.get(); }

 private:
  [[nodiscard]] Received take_line(std::size_t longest);
  [[nodiscard]] Received close(std::string why);

  FileDescriptor socket_;
  std::string buffer_;
  std::size_t searched_ = 0;  ///< bytes of the buffer in which there is no line end
  std::string closed_;        ///< why nothing more will come; empty while it may
};

/// Listens on one address of this host until it goes.
class Listener {
 public:
  /// Port 0: any free one. Error (`machine_unavailable`): the address is not of this host, the port
  /// is taken.
  [[nodiscard]] static Expected<Listener> open(const std::string& address = "127.0.0.1",
                                               int port = 0);
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// A connection that waits already; a closed one (`descriptor()` < 0) if none does.
  [[nodiscard]] FileDescriptor accept() const;

 private:
  Listener(FileDescriptor socket, int port) : socket_(std::move(socket)), port_(port) {}
  FileDescriptor socket_;
  int port_;
};

/// Tries again until the deadline, since the other side may start later.
/// Error (`machine_unavailable`): unknown host, nobody listens there.
[[nodiscard]] Expected<Connection> connect(const std::string& host, int port, Deadline deadline);

}  // namespace overlaptune::cuda
