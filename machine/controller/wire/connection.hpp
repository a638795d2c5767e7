#pragma once
// Lines of text over TCP. Each wait has a deadline. A connection is used by one thread at a time.

#include <optional>
#include <string>
#include <string_view>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "machine/controller/wire/session.hpp"
#include "machine/controller/wire/socket.hpp"

namespace overlaptune::cuda {

inline constexpr std::size_t kLongestLine = std::size_t{64} << 20;
/// The longest first line after the handshake.
inline constexpr std::size_t kLongestGreeting = std::size_t{64} << 10;

struct Received {
  enum class What {
    line,     ///< `text` is a line, without its end
    nothing,  ///< no whole line by the deadline
    closed,   ///< no line will come any more; `text` says why
  };
  What what = What::nothing;
  std::string text{};
};

class Connection {
 public:
  /// Takes over a connected socket.
  explicit Connection(Descriptor socket);

  /// From now on lines are sealed, and others than those of the session are refused.
  void protect(Session session) { session_.emplace(std::move(session)); }

  /// Sends the line and a line end. Error (`machine_unavailable`): the other side is gone, or does
  /// not read; the connection is then of no further use. Never raises SIGPIPE.
  [[nodiscard]] Expected<void> send(std::string_view line, Deadline deadline);

  /// The next line. A line longer than `longest`, or one that is not of the session, closes the
  /// connection. Lines that arrived before the other side closed are still received.
  [[nodiscard]] Received receive(Deadline deadline, std::size_t longest = kLongestLine);

  /// Descriptor for poll. It does not show lines that were read already: call `receive` until
  /// `nothing` first.
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// The numeric address of the other side, for messages.
  [[nodiscard]] std::string peer() const;

 private:
  [[nodiscard]] Received take_line(std::size_t longest);
  [[nodiscard]] Received close(std::string why);

  Descriptor socket_;
  std::optional<Session> session_{};
  std::string buffer_;
  std::size_t searched_ = 0;  ///< bytes of the buffer that have no line end
  std::string closed_;        ///< why no more lines will come; empty while they may
};

/// Listens on one address of this host for as long as it exists.
class Listener {
 public:
  /// Opens a port; 0: any free one. Error (`machine_unavailable`): the address is not of this host,
  /// or the port is taken. "::" listens on all addresses of IPv6 and IPv4.
  [[nodiscard]] static Expected<Listener> open(const std::string& address = "127.0.0.1",
                                               int port = 0);
  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int descriptor() const { return socket_.get(); }
  /// A waiting connection; a closed descriptor (`get()` < 0), with `errno`, if there is none
  /// (EAGAIN), or no descriptor is free for it.
  [[nodiscard]] Descriptor accept() const;

 private:
  Listener(Descriptor socket, int port) : socket_(std::move(socket)), port_(port) {}
  Descriptor socket_;
  int port_;
};

/// Connects. Tries again until the deadline, because the other side may start later.
/// Error (`machine_unavailable`): unknown host, no listener there.
[[nodiscard]] Expected<Connection> connect(const std::string& host, int port, Deadline deadline);

}  // namespace overlaptune::cuda
