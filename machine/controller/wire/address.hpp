#pragma once
// Addresses as text. An address of IPv6 has colons, and stands in brackets before a port (RFC 3986,
// 3.2.2).

#include <string>

namespace overlaptune::cuda {

/// "node0:29500", "[fd00::2]:29500".
[[nodiscard]] std::string host_and_port(const std::string& host, int port);

/// "fd00::2" for "[fd00::2]"; any other text as it is.
[[nodiscard]] std::string without_brackets(const std::string& host);

/// The loopback address by which this host reaches itself where others reach it at `host`: "::1" if
/// `host` is that, else "127.0.0.1".
[[nodiscard]] std::string loopback_for(const std::string& host);

/// Whether the host is this one for every process: "localhost", or a numeric loopback address.
[[nodiscard]] bool is_loopback(const std::string& host);

}  // namespace overlaptune::cuda
