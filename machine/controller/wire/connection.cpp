#include "machine/controller/wire/connection.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>

#include "machine/controller/wire/address.hpp"

namespace overlaptune::cuda {
namespace {

using Addresses = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

Expected<Addresses> resolve(const std::string& host, int port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (failure != 0) {
    return unavailable(
        fmt::format("host '{}': {}: give a name or an address that this host can "
                    "resolve",
                    host, gai_strerror(failure)));
  }
  return Addresses(found, freeaddrinfo);
}

Descriptor new_socket(const addrinfo& address) {
  return Descriptor(
      socket(address.ai_family, address.ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

void set(int socket, int level, int option, int value) {
  // Without one of these options only the detection of a lost peer is slower.
  static_cast<void>(setsockopt(socket, level, option, &value, sizeof value));
}

/// Waits for one of the events; false at the deadline.
bool wait_for(int descriptor, short events, Deadline deadline) {
  while (true) {
    pollfd entry{.fd = descriptor, .events = events, .revents = 0};
    const int ready = poll(&entry, 1, milliseconds_until(deadline));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) return true;  // the next call reports the error
  }
}

/// Makes one attempt; returns a closed descriptor, with `errno`, if it failed.
Descriptor try_connect(const addrinfo& address, Deadline deadline) {
  Descriptor socket = new_socket(address);
  if (!socket.is_open()) return socket;
  if (::connect(socket.get(), address.ai_addr, address.ai_addrlen) == 0) return socket;
  int failure = errno;
  if (failure == EINPROGRESS || failure == EINTR) {
    failure = ETIMEDOUT;
    if (wait_for(socket.get(), POLLOUT, deadline)) {
      socklen_t size = sizeof failure;
      getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
      if (failure == 0) return socket;
    }
  }
  errno = failure;
  return Descriptor();
}

}  // namespace

Connection::Connection(Descriptor socket) : socket_(std::move(socket)) {
  const int number = socket_.get();
  const int flags = fcntl(number, F_GETFL);
  if (flags >= 0) fcntl(number, F_SETFL, flags | O_NONBLOCK);
  set(number, IPPROTO_TCP, TCP_NODELAY, 1);
  // A host that lost its power closes no connection: it counts as dead after 10 + 4 * 5 seconds.
  set(number, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(number, IPPROTO_TCP, TCP_KEEPIDLE, 10);
  set(number, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set(number, IPPROTO_TCP, TCP_KEEPCNT, 4);
}

Expected<void> Connection::send(std::string_view line, Deadline deadline) {
  std::string text = session_ ? session_->seal(line) : std::string(line);
  text += '\n';
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t count =
        ::send(socket_.get(), text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count > 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      if (!wait_for(socket_.get(), POLLOUT, deadline)) {
        return unavailable("a message could not be sent in time: the other side does not read");
      }
    } else if (errno != EINTR) {
      return unavailable("a message could not be sent: " + system_error());
    }
  }
  return {};
}

Received Connection::close(std::string why) {
  closed_ = std::move(why);
  buffer_.clear();
  searched_ = 0;
  return {Received::What::closed, closed_};
}

Received Connection::take_line(std::size_t longest) {
  const std::size_t end = buffer_.find('\n', searched_);
  searched_ = end == std::string::npos ? buffer_.size() : end;
  if (searched_ > longest) {
    socket_.close();
    return close(fmt::format("it sent a line of more than {} bytes", longest));
  }
  if (end == std::string::npos) return {};
  Received line{Received::What::line, buffer_.substr(0, end)};
  buffer_.erase(0, end + 1);
  searched_ = 0;
  if (!session_) return line;
  auto opened = session_->open(line.text);
  if (!opened) {
    socket_.close();
    return close("a line came that is not the next one of this session: somebody interferes");
  }
  line.text = std::move(*opened);
  return line;
}

Received Connection::receive(Deadline deadline, std::size_t longest) {
  constexpr std::size_t kChunk = std::size_t{64} << 10;
  const std::size_t chunk = std::min(kChunk, longest + 1);
  while (true) {
    if (Received line = take_line(longest); line.what != Received::What::nothing) return line;
    if (!closed_.empty()) return {Received::What::closed, closed_};
    const std::size_t size = buffer_.size();
    buffer_.resize(size + chunk);
    const ssize_t count = recv(socket_.get(), buffer_.data() + size, chunk, 0);
    const int failure = errno;
    buffer_.resize(size + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (count > 0) continue;
    if (count == 0) return close("it closed the connection");
    if (failure == EAGAIN || failure == EWOULDBLOCK) {
      if (!wait_for(socket_.get(), POLLIN, deadline)) return {};
    } else if (failure != EINTR) {
      errno = failure;
      return close("the connection broke: " + system_error());
    }
  }
}

std::string Connection::peer() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  if (getpeername(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      getnameinfo(reinterpret_cast<sockaddr*>(&address), size, host.data(), host.size(), nullptr, 0,
                  NI_NUMERICHOST) != 0) {
    return "an unknown address";
  }
  // A socket for both kinds of addresses shows those of IPv4 as ::ffff:10.0.0.7 (RFC
  // 4291, 2.5.5.2).
  constexpr std::string_view kMapped = "::ffff:";
  const std::string_view text = host.data();
  return std::string(text.starts_with(kMapped) ? text.substr(kMapped.size()) : text);
}

Expected<Listener> Listener::open(const std::string& address, int port) {
  auto addresses = resolve(address, port, AI_PASSIVE);
  if (!addresses) return error_of(addresses);
  const addrinfo& first = **addresses;
  Descriptor socket = new_socket(first);
  set(socket.get(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (first.ai_family == AF_INET6) set(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  constexpr int kWaiting = 1024;  // a flood of strangers leaves room for those that belong here
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (!socket.is_open() || bind(socket.get(), first.ai_addr, first.ai_addrlen) != 0 ||
      listen(socket.get(), kWaiting) != 0 ||
      getsockname(socket.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0) {
    return unavailable(
        fmt::format("cannot listen on {}: {}", host_and_port(address, port), system_error()));
  }
  const in_port_t network_port = bound.ss_family == AF_INET6
                                     ? reinterpret_cast<sockaddr_in6*>(&bound)->sin6_port
                                     : reinterpret_cast<sockaddr_in*>(&bound)->sin_port;
  return Listener(std::move(socket), ntohs(network_port));
}

Descriptor Listener::accept() const {
  return Descriptor(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

Expected<Connection> connect(const std::string& host, int port, Deadline deadline) {
  constexpr int kPauseMilliseconds = 50;
  std::string reason;
  do {
    auto addresses = resolve(host, port, 0);
    if (!addresses) {
      reason = addresses.error().message;
    } else {
      for (const addrinfo* each = addresses->get(); each != nullptr; each = each->ai_next) {
        Descriptor socket = try_connect(*each, deadline);
        if (socket.is_open()) return Connection(std::move(socket));
        reason = system_error();
      }
    }
    poll(nullptr, 0, std::min(kPauseMilliseconds, milliseconds_until(deadline)));
  } while (Clock::now() < deadline);
  return unavailable(fmt::format("cannot connect to {}: {}", host_and_port(host, port), reason));
}

}  // namespace overlaptune::cuda
