#include "machine/controller/worker_pool.hpp"

#include <algorithm>
#include <poll.h>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "machine/controller/round.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

}  // namespace

WorkerPool::WorkerPool(Rendezvous rendezvous, std::vector<std::unique_ptr<WorkerSlot>> slots,
                       PoolOptions options)
    : rendezvous_(std::move(rendezvous)),
      slots_(std::move(slots)),
      options_(std::move(options)),
      connections_(slots_.size()),
      hellos_(slots_.size()) {}

WorkerPool::~WorkerPool() {
  // Workers that end by themselves can still write their last messages.
  constexpr auto kLeaveLimit = 5s;
  const Deadline deadline = Clock::now() + kLeaveLimit;
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    if (connections_[rank] && !connections_[rank]->send(to_line(Command(Quit{})), deadline)) {
      connections_[rank].reset();
    }
  }
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    if (!connections_[rank]) continue;
    while (!slots_[rank]->ended() && !slots_[rank]->lost() && Clock::now() < deadline) {
      poll(nullptr, 0, 5);
    }
  }
  static_cast<void>(kill());
  spdlog::debug("{} workers have left", size());
}

Expected<void> WorkerPool::kill() {
  for (auto& connection : connections_) connection.reset();
  for (const auto& slot : slots_) slot->kill();
  if (!gone_by_) gone_by_ = Clock::now() + options_.kill_limit;
  std::string left;
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    while (slots_[rank]->running() && Clock::now() < *gone_by_) poll(nullptr, 0, 5);
    const auto pid = slots_[rank]->running();
    if (pid) left += fmt::format("{}{} (process {})", left.empty() ? "" : ", ", place(rank), *pid);
  }
  if (left.empty()) return {};
  return unavailable(
      fmt::format("killed, and not gone after {:.3g} s: {}: the driver may hang: look at `dmesg` "
                  "and `nvidia-smi` of that host, and reset the GPU or restart the host",
                  std::chrono::duration<double>(options_.kill_limit).count(), left));
}

std::string WorkerPool::place(std::size_t rank) const {
  return fmt::format("rank {} on {}", rank, slots_[rank]->host());
}

Expected<void> WorkerPool::start() {
  if (auto gone = kill(); !gone) return gone;
  gone_by_.reset();
  const std::string start = new_secret();
  auto ready = start_all(start);
  spdlog::debug("{} workers were started", size());
  if (ready) ready = await_hellos(worker_secret(options_.secret, start));
  if (ready) ready = join();
  // The next start reports a worker that does not end.
  if (!ready) static_cast<void>(kill());
  return ready;
}

Expected<void> WorkerPool::start_all(const std::string& start) {
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    if (const auto started = slots_[rank]->start(start); !started) {
      return unavailable(place(rank) + ": " + started.error().message);
    }
  }
  return {};
}

Expected<void> WorkerPool::check_ended() {
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    const auto ended = slots_[rank]->ended();
    if (const auto lost = slots_[rank]->lost()) return unavailable(place(rank) + ": " + *lost);
    if (ended) return unavailable(place(rank) + ": its worker " + in_words(*ended));
  }
  return {};
}

Expected<void> WorkerPool::await_hellos(const std::string& secret) {
  constexpr auto kLook = 50ms;
  const Deadline deadline = Clock::now() + options_.start_limit;
  const auto is_missing = [](const auto& connection) { return !connection; };
  while (std::ranges::any_of(connections_, is_missing)) {
    auto arrival = rendezvous_.next(secret, std::min(deadline, Clock::now() + kLook));
    if (arrival) {
      if (auto good = admit(std::move(*arrival)); !good) return good;
      continue;
    }
    if (auto good = check_ended(); !good) return good;
    if (Clock::now() < deadline) continue;
    const auto missing = std::ranges::find_if(connections_, is_missing);
    return unavailable(fmt::format("{}: its worker did not say hello within {:.3g} s{}",
                                   place(static_cast<std::size_t>(missing - connections_.begin())),
                                   std::chrono::duration<double>(options_.start_limit).count(),
                                   rendezvous_.note()));
  }
  return {};
}

Expected<void> WorkerPool::admit(Rendezvous::Arrival arrival) {
  const auto reply = parse_reply(arrival.line);
  const auto* greeting = reply ? std::get_if<Hello>(&*reply) : nullptr;
  if (greeting == nullptr) return {};  // it failed before it could say hello, and ends
  const Hello& hello = *greeting;
  if (hello.rank >= size()) {
    return unavailable(
        fmt::format("a worker of rank {} came, expected at most rank {}", hello.rank, size() - 1));
  }
  const auto rank = static_cast<std::size_t>(hello.rank);
  if (hello.protocol != kProtocol || hello.version != options_.version) {
    return unavailable(
        fmt::format("{}: its worker is of overlaptune {} (protocol {}), expected {} (protocol {}): "
                    "install both programs from the same build",
                    place(rank), hello.version, hello.protocol, options_.version, kProtocol));
  }
  hellos_[rank] = hello;
  connections_[rank].emplace(std::move(arrival.connection));
  return {};
}

Expected<void> WorkerPool::join() {
  spdlog::debug("{} workers have said hello", size());
  const auto limit = [this](const RunStep*) { return options_.join_limit; };
  const auto id =
      ask_round({{.rank = 0, .connection = &*connections_.front(), .slot = slots_.front().get()}},
                UniqueIdRequest{}, limit);
  if (!id) return unavailable(id.error().reason);
  const auto* unique = std::get_if<UniqueId>(&id->front());
  if (unique == nullptr)
    return unavailable(place(0) + ": it answered unique_id with something else");
  const auto joined = ask(
      JoinRequest{
          .nccl_id = unique->hex, .ranks = size(), .allow_multicast = options_.allow_multicast},
      limit);
  if (!joined) return unavailable(joined.error().reason);
  for (std::size_t rank = 0; rank < joined->size(); ++rank) {
    if (!std::holds_alternative<Joined>((*joined)[rank])) {
      return unavailable(place(rank) + ": it answered join with something else");
    }
  }
  spdlog::debug("{} workers have joined", size());
  return {};
}

tl::expected<std::vector<Reply>, Loss> WorkerPool::ask(const Command& command,
                                                       const StepLimit& limit) {
  std::vector<Participant> participants;
  for (std::size_t rank = 0; rank < slots_.size(); ++rank) {
    if (!connections_[rank]) {
      return tl::make_unexpected(Loss{.how = Loss::How::died,
                                      .rank = static_cast<int>(rank),
                                      .reason = place(rank) + ": its worker is not running",
                                      .steps = std::vector<std::optional<RunStep>>(slots_.size())});
    }
    participants.push_back({.rank = static_cast<int>(rank),
                            .connection = &*connections_[rank],
                            .slot = slots_[rank].get()});
  }
  return ask_round(participants, command, limit);
}

}  // namespace overlaptune::cuda
