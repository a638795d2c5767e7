#include "machine/controller/wire/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <fmt/format.h>

namespace overlaptune::cuda {
namespace {

bool is_loopback_v6(const std::string& host) {
  in6_addr address{};
  return inet_pton(AF_INET6, host.c_str(), &address) == 1 && IN6_IS_ADDR_LOOPBACK(&address);
}

}  // namespace

std::string host_and_port(const std::string& host, int port) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", is_v6 ? "[" : "", host, is_v6 ? "]" : "", port);
}

std::string without_brackets(const std::string& host) {
  const bool has_both = host.starts_with('[') && host.ends_with(']');
  return has_both ? host.substr(1, host.size() - 2) : host;
}

std::string loopback_for(const std::string& host) {
  return is_loopback_v6(host) ? "::1" : "127.0.0.1";
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host.starts_with("127.") || is_loopback_v6(host);
}

}  // namespace overlaptune::cuda
