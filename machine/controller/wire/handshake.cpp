#include "machine/controller/wire/handshake.hpp"

#include <algorithm>
#include <poll.h>

#include <fmt/format.h>

#include "machine/controller/wire/address.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

/// The secret and both random numbers. From them follow the proofs of "controller" and "peer", and
/// the keys of the lines "to controller" and "to peer".
struct Shared {
  std::string_view secret;
  std::string_view controller;
  std::string_view peer;
  [[nodiscard]] std::string about(std::string_view purpose) const {
    return hmac(secret, {purpose, " ", controller, " ", peer});
  }
};

/// How the controller's first line begins. The number is that of this handshake, which changes less
/// often than the messages that follow.
constexpr std::string_view kGreeting = "overlaptune-handshake-1 ";

/// The other side's line, or why there is none.
Expected<std::string> hear(Connection& connection, Deadline deadline) {
  Received received = connection.receive(deadline, kLongestProof);
  if (received.what == Received::What::line) return std::move(received.text);
  return unavailable(received.what == Received::What::closed ? received.text
                                                             : "it does not answer");
}

}  // namespace

Challenge::Challenge() : nonce_(new_secret()) {}

std::string Challenge::line() const {
  return std::string(kGreeting) + nonce_;
}

std::optional<Challenge::Admission> Challenge::check(std::string_view secret,
                                                     std::string_view answer) const {
  if (answer.size() != 2 * kSecretDigits + 1 || answer[kSecretDigits] != ' ') return std::nullopt;
  const Shared shared{secret, nonce_, answer.substr(0, kSecretDigits)};
  if (!is_same(answer.substr(kSecretDigits + 1), shared.about("peer"))) return std::nullopt;
  return Admission{.proof = shared.about("controller"),
                   .session = {shared.about("to peer"), shared.about("to controller")}};
}

Expected<void> prove(Connection& connection, std::string_view secret, Deadline deadline) {
  const auto challenge = hear(connection, deadline);
  if (!challenge) return error_of(challenge);
  if (!challenge->starts_with(kGreeting) || challenge->size() != kGreeting.size() + kSecretDigits) {
    return unavailable("it is no controller of this version of overlaptune");
  }
  const std::string nonce = new_secret();
  const Shared shared{secret, std::string_view(*challenge).substr(kGreeting.size()), nonce};
  if (auto sent = connection.send(nonce + " " + shared.about("peer"), deadline); !sent) return sent;
  const auto proof = hear(connection, deadline);
  if (!proof) {
    return unavailable("it did not accept this rank's secret; all ranks need the same one: " +
                       proof.error().message);
  }
  if (!is_same(*proof, shared.about("controller"))) {
    return unavailable("it does not know the secret of this job");
  }
  connection.protect({shared.about("to controller"), shared.about("to peer")});
  return {};
}

Expected<Connection> connect_to_controller(const std::string& host, int port,
                                           const std::function<Expected<std::string>()>& secret,
                                           Deadline deadline) {
  constexpr auto kAttempt = std::chrono::seconds(10);
  constexpr int kPauseMilliseconds = 100;
  while (true) {
    auto connection = connect(host, port, deadline);
    if (!connection) return connection;
    // The secret is made before the controller listens.
    const auto known = secret();
    if (!known) return error_of(known);
    const auto proved = prove(*connection, *known, std::min(deadline, Clock::now() + kAttempt));
    if (proved) return connection;
    poll(nullptr, 0, std::min(kPauseMilliseconds, milliseconds_until(deadline)));
    if (Clock::now() < deadline) continue;
    return unavailable(fmt::format("{}: {}", host_and_port(host, port), proved.error().message));
  }
}

}  // namespace overlaptune::cuda
