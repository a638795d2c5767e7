#include "machine/cuda/launch/rendezvous.hpp"

#include <algorithm>
#include <poll.h>

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

constexpr auto kPatience = 20s;
constexpr std::size_t kMostWaiting = 4096;

}  // namespace

void Rendezvous::accept_all() {
  while (waiting_.size() < kMostWaiting) {
    FileDescriptor socket = listener_.accept();
    if (!socket.is_open()) return;
    waiting_.push_back({Connection(std::move(socket)), Clock::now() + kPatience});
  }
}

std::optional<Rendezvous::Arrival> Rendezvous::next(Deadline deadline) {
  while (true) {
    accept_all();
    for (auto each = waiting_.begin(); each != waiting_.end();) {
      Received received = each->connection.receive(Clock::now(), kLongestGreeting);
      if (received.what == Received::What::line) {
        Arrival arrival{std::move(each->connection), std::move(received.text)};
        waiting_.erase(each);
        return arrival;
      }
      const bool leaves = received.what == Received::What::closed || each->until <= Clock::now();
      each = leaves ? waiting_.erase(each) : each + 1;
    }
    if (Clock::now() >= deadline) return std::nullopt;
    std::vector<pollfd> entries{{.fd = listener_.descriptor(), .events = POLLIN, .revents = 0}};
    Deadline first = std::min(deadline, Clock::now() + kPatience);
    for (const Waiting& each : waiting_) {
      entries.push_back({.fd = each.connection.descriptor(), .events = POLLIN, .revents = 0});
      first = std::min(first, each.until);
    }
    poll(entries.data(), entries.size(), milliseconds_until(first));
  }
}

}  // namespace overlaptune::cuda
