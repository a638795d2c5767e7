#include "machine/controller/launch/rendezvous.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/resource.h>

#include <fmt/format.h>

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

/// The time in which a stranger must prove the secret, if there is room for it.
constexpr auto kPatience = 5s;
/// The time that every stranger has, even in a flood: many times what an answer takes.
constexpr auto kGrace = 100ms;
/// Pause after a connection could not be accepted.
constexpr auto kPause = 50ms;

/// A part of the descriptors that this process may have, so that the rest of it never lacks one.
std::size_t room_for_strangers() {
  constexpr rlim_t kFewest = 16;
  constexpr rlim_t kMostCallers = 256;
  constexpr rlim_t kPart = 4;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return kFewest;
  return std::clamp(descriptors.rlim_cur / kPart, kFewest, kMostCallers);
}

pollfd entry_of(int descriptor) {
  return {.fd = descriptor, .events = POLLIN, .revents = 0};
}

}  // namespace

Rendezvous::Rendezvous(Listener listener)
    : listener_(std::move(listener)), most_strangers_(room_for_strangers()) {}

std::optional<Rendezvous::Arrival> Rendezvous::next(const std::string& secret, Deadline deadline) {
  while (true) {
    accept_all();
    hear_strangers(secret);
    if (auto arrival = hear_admitted()) return arrival;
    if (Clock::now() >= deadline) return std::nullopt;
    wait(deadline);
  }
}

void Rendezvous::accept_all() {
  while (Clock::now() >= accepts_at_ && make_room()) {
    Descriptor socket = listener_.accept();
    if (!socket.is_open()) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // There is no descriptor left (EMFILE). Polling would report this connection again at once.
      accepts_at_ = Clock::now() + kPause;
      auto oldest = strangers_.begin();
      if (oldest != strangers_.end()) drop(oldest);
      return;
    }
    Connection connection(std::move(socket));
    std::string address = connection.peer();
    Stranger stranger{.connection = std::move(connection), .address = std::move(address)};
    // The system's buffer is empty and takes the line at once, unless the other side is gone.
    if (stranger.connection.send(stranger.challenge.line(), Clock::now())) {
      strangers_.push_back(std::move(stranger));
    }
  }
}

/// Whether one more stranger has a place. The oldest one gives up its place if it had its time;
/// otherwise this is tried again when it has had it.
bool Rendezvous::make_room() {
  if (strangers_.size() < most_strangers_) return true;
  auto oldest = strangers_.begin();
  const Deadline had_its_time = oldest->came + kGrace;
  if (Clock::now() < had_its_time) {
    accepts_at_ = had_its_time;
    return false;
  }
  drop(oldest);
  return true;
}

/// Sets `stranger` to the one after it.
void Rendezvous::drop(std::vector<Stranger>::iterator& stranger) {
  ++dropped_;
  last_dropped_ = std::move(stranger->address);
  stranger = strangers_.erase(stranger);
}

void Rendezvous::hear_strangers(const std::string& secret) {
  for (auto each = strangers_.begin(); each != strangers_.end();) {
    const Received received = each->connection.receive(Clock::now(), kLongestProof);
    const bool waits = received.what == Received::What::nothing;
    if (received.what == Received::What::line && admit(*each, secret, received.text)) {
      each = strangers_.erase(each);
    } else if (!waits || Clock::now() >= each->came + kPatience) {
      drop(each);
    } else {
      ++each;
    }
  }
}

/// Moves the connection to those that were admitted, if the answer proves the secret.
bool Rendezvous::admit(Stranger& stranger, const std::string& secret, const std::string& answer) {
  auto admission = stranger.challenge.check(secret, answer);
  if (!admission || !stranger.connection.send(admission->proof, Clock::now())) return false;
  stranger.connection.protect(std::move(admission->session));
  admitted_.push_back(std::move(stranger.connection));
  return true;
}

std::optional<Rendezvous::Arrival> Rendezvous::hear_admitted() {
  for (auto each = admitted_.begin(); each != admitted_.end();) {
    Received received = each->receive(Clock::now(), kLongestGreeting);
    if (received.what == Received::What::line) {
      Arrival arrival{std::move(*each), std::move(received.text)};
      admitted_.erase(each);
      return arrival;
    }
    each = received.what == Received::What::closed ? admitted_.erase(each) : each + 1;
  }
  return std::nullopt;
}

void Rendezvous::wait(Deadline deadline) const {
  std::vector<pollfd> entries;
  if (Clock::now() >= accepts_at_) {
    entries.push_back(entry_of(listener_.descriptor()));
  } else {
    deadline = std::min(deadline, accepts_at_);
  }
  for (const Stranger& each : strangers_) {
    entries.push_back(entry_of(each.connection.descriptor()));
    deadline = std::min(deadline, each.came + kPatience);
  }
  for (const Connection& each : admitted_) entries.push_back(entry_of(each.descriptor()));
  poll(entries.data(), entries.size(), milliseconds_until(deadline));
}

std::string Rendezvous::note() const {
  if (dropped_ == 0) return "";
  return fmt::format("; connections without the secret of this job: {}, the last one from {}",
                     dropped_, last_dropped_);
}

}  // namespace overlaptune::cuda
