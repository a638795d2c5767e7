#include "machine/controller/launch/agent.hpp"

#include <array>
#include <csignal>
#include <poll.h>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/base/environment.hpp"
#include "core/base/signals.hpp"
#include "machine/controller/launch/job_secret.hpp"
#include "machine/controller/wire/address.hpp"
#include "machine/controller/wire/handshake.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

constexpr auto kAgentSendLimit = 10s;

class Agent {
 public:
  Agent(Connection connection, WorkerCall call)
      : connection_(std::move(connection)), call_(std::move(call)) {}

  int run() {
    while (true) {
      const Received received = connection_.receive(Clock::now());
      if (received.what == Received::What::closed) return gone(received.text);
      if (received.what == Received::What::line) {
        const auto command = parse_agent_command(received.text);
        if (!command) return gone(command.error().message);
        if (const auto* done = std::get_if<Done>(&*command)) return done->code;
        if (const auto* start = std::get_if<StartWorker>(&*command)) start_one(start->start);
        if (std::holds_alternative<KillWorker>(*command) && process_) process_->kill();
      }
      report_end();
      if (received.what == Received::What::nothing) wait();
    }
  }

 private:
  static int gone(const std::string& why) {
    spdlog::error("the controller (rank 0) is gone: {}", why);
    return static_cast<int>(ErrorKind::machine_unavailable);
  }

  void start_one(const std::string& name) {
    // The controller waits for the end of a worker before it asks for the next one.
    if (process_) return;
    auto process = start_worker(call_, name);
    if (process) {
      process_.emplace(std::move(*process));
      say(Started{process_->pid()});
    } else {
      say(Ended{.how = process.error().message});
    }
  }

  /// Reports the end of a worker, once.
  void report_end() {
    if (!process_) return;
    const auto ending = process_->ending();
    process_->drain();
    if (!ending) return;
    say(ended_of(*ending, *process_));
    process_.reset();
  }

  void say(const AgentReply& reply) {
    // If this fails, the next look at the connection shows that the controller is gone.
    static_cast<void>(connection_.send(to_line(reply), Clock::now() + kAgentSendLimit));
  }

  void wait() const {
    constexpr int kLookMilliseconds = 50;  // no event reports the end of a process
    std::array<pollfd, 2> entries{
        {{.fd = connection_.descriptor(), .events = POLLIN, .revents = 0},
         {.fd = process_ ? process_->descriptor() : -1, .events = POLLIN, .revents = 0}}};
    poll(entries.data(), entries.size(), process_ ? kLookMilliseconds : -1);
  }

  Connection connection_;
  WorkerCall call_;
  std::optional<Process> process_{};
};

/// Connections to agents that are only waiting for the exit code.
std::vector<Connection>& waiting_agents() {
  static std::vector<Connection> agents;
  return agents;
}

class AgentSlot : public WorkerSlot {
 public:
  AgentSlot(Connection connection, AgentHello hello)
      : connection_(std::move(connection)), hello_(std::move(hello)) {}
  ~AgentSlot() override {
    if (!lost_) waiting_agents().push_back(std::move(connection_));
  }

  Expected<void> start(const std::string& name) override {
    if (const auto pid = running()) return still_runs(*pid);
    if (!lost_) say(StartWorker{name});
    if (lost_) return unavailable(*lost_);
    pid_ = 0;
    ended_.reset();
    return {};
  }

  std::optional<Ended> ended() override {
    listen();
    if (lost_ && pid_ && !ended_) ended_ = Ended{.how = *lost_, .killed = true};
    return ended_;
  }

  std::optional<std::string> lost() const override { return lost_; }

  void kill() override {
    if (running()) say(KillWorker{});
  }

  /// The process number; 0 until the agent reports it. None if the agent is lost: its worker ends
  /// with it.
  std::optional<int> running() override {
    listen();
    return ended_ || lost_ ? std::nullopt : pid_;
  }

  const std::string& host() const override { return hello_.host; }

 private:
  void say(const AgentCommand& command) {
    const auto sent = connection_.send(to_line(command), Clock::now() + kAgentSendLimit);
    if (!sent && !lost_) lost_ = "its agent is gone: " + sent.error().message;
  }

  /// Takes all that the agent has sent so far.
  void listen() {
    while (!lost_) {
      const Received received = connection_.receive(Clock::now());
      if (received.what == Received::What::nothing) return;
      if (received.what == Received::What::closed) {
        lost_ = "its agent is gone: " + received.text;
      } else {
        take(received.text);
      }
    }
  }

  void take(const std::string& line) {
    const auto reply = parse_agent_reply(line);
    if (const auto* started = reply ? std::get_if<Started>(&*reply) : nullptr) {
      pid_ = started->pid;
    } else if (const auto* ended = reply ? std::get_if<Ended>(&*reply) : nullptr) {
      ended_ = *ended;
    } else {
      lost_ = "its agent sent something else than how its worker fares";
    }
  }

  Connection connection_;
  AgentHello hello_;
  std::optional<int> pid_{};  ///< of the worker that was started last, and perhaps ended since
  std::optional<Ended> ended_{};
  std::optional<std::string> lost_{};
};

/// Ctrl-C reaches the processes of all ranks. The controller then finishes what is under way, and
/// needs its workers for that. So an agent ignores the first signal of a kind; the second one kills
/// it.
void leave_signals_to_controller() {
  const auto nothing = [](int) {};
  catch_signal(SIGINT, nothing, 0);
  catch_signal(SIGTERM, nothing, 0);
}

/// The reason why this agent does not fit the job; empty if it does.
std::string objection(const AgentHello& hello, const LaunchEnvironment& launch,
                      const std::string& version) {
  if (hello.protocol != kProtocol || hello.version != version) {
    return fmt::format(
        "overlaptune {} (protocol {}), expected {} (protocol {}) as on rank 0: start "
        "the same build on every host",
        hello.version, hello.protocol, version, kProtocol);
  }
  if (hello.size != launch.size) {
    return fmt::format(
        "it is one of {} ranks, expected {} as on rank 0: give all ranks the same "
        "number of ranks (WORLD_SIZE under torchrun)",
        hello.size, launch.size);
  }
  if (hello.rank < 1 || hello.rank >= launch.size) {
    return fmt::format("expected a rank from 1 to {}", launch.size - 1);
  }
  return "";
}

std::string missing_ranks(const std::vector<std::unique_ptr<WorkerSlot>>& slots) {
  std::string list;
  for (std::size_t rank = 0; rank < slots.size(); ++rank) {
    if (!slots[rank]) list += (list.empty() ? "" : ", ") + std::to_string(rank);
  }
  return list;
}

}  // namespace

int run_agent(const LaunchEnvironment& launch, const AgentOptions& options) {
  std::string secret;
  const auto find_secret = [&] {  // its file may be made after this rank started
    auto found = job_secret(launch);
    if (found) secret = *found;
    return found;
  };
  auto connection =
      connect_to_controller(launch.host, launch.port, find_secret, Clock::now() + options.limit);
  if (!connection) {
    spdlog::error("rank {} found no controller (rank 0) of its job: {}", launch.rank,
                  connection.error().message);
    return static_cast<int>(ErrorKind::machine_unavailable);
  }
  leave_signals_to_controller();
  const AgentHello hello{
      .version = options.version, .rank = launch.rank, .size = launch.size, .host = host_name()};
  // A failure shows at the first look at the connection.
  static_cast<void>(connection->send(to_line(AgentReply(hello)), Clock::now() + kAgentSendLimit));
  return Agent(std::move(*connection), {.program = options.worker,
                                        .host = launch.host,
                                        .port = launch.port,
                                        .rank = launch.rank,
                                        .local_rank = launch.local_rank,
                                        .secret = secret})
      .run();
}

Expected<Listener> listen_for_ranks(const LaunchEnvironment& launch) {
  // Agents of other hosts must reach the listener. If all are on this host, the loopback is enough.
  bool local = launch.one_host || is_loopback(launch.host);
  if (launch.launcher != Launcher::plain && launch.secret.empty()) {
    local = true;
    spdlog::warn(
        "the ranks have no secret, so rank 0 listens to processes of this host only, and cannot "
        "tell them from those of other users: set {} to the same text on all ranks, or {} to a "
        "file that they share",
        kSecretVariable, kSecretFileVariable);
  }
  auto listener = Listener::open(local ? loopback_for(launch.host) : "::", launch.port);
  if (!listener && !local) listener = Listener::open("0.0.0.0", launch.port);  // no IPv6 here
  if (!listener && launch.port != 0) {
    listener.error().message += ": choose another port by OVERLAPTUNE_PORT, the same on all ranks";
  }
  return listener;
}

Expected<std::vector<std::unique_ptr<WorkerSlot>>> meet_agents(Rendezvous& rendezvous,
                                                               const LaunchEnvironment& launch,
                                                               const std::string& secret,
                                                               const AgentOptions& options) {
  std::vector<std::unique_ptr<WorkerSlot>> slots(static_cast<std::size_t>(launch.size));
  slots.front() = std::make_unique<LocalSlot>(WorkerCall{.program = options.worker,
                                                         .host = loopback_for(launch.host),
                                                         .port = rendezvous.port(),
                                                         .local_rank = launch.local_rank,
                                                         .secret = secret});
  const Deadline deadline = Clock::now() + options.limit;
  while (true) {
    const std::string missing = missing_ranks(slots);
    if (missing.empty()) {
      if (!rendezvous.note().empty()) spdlog::warn("all ranks came{}", rendezvous.note());
      return slots;
    }
    auto arrival = rendezvous.next(secret, deadline);
    if (!arrival) {
      return unavailable(fmt::format(
          "of {} ranks these did not come to {} within {} s: {}; look for "
          "their own messages, and whether they can reach that host{}",
          launch.size, host_and_port(launch.host, launch.port),
          std::chrono::duration<double>(options.limit).count(), missing, rendezvous.note()));
    }
    const auto reply = parse_agent_reply(arrival->line);
    const auto* hello = reply ? std::get_if<AgentHello>(&*reply) : nullptr;
    if (hello == nullptr) continue;  // a rank of a build that greets in another way
    const std::string wrong = objection(*hello, launch, options.version);
    if (!wrong.empty()) {
      waiting_agents().push_back(std::move(arrival->connection));
      return unavailable(fmt::format("rank {} on {}: {}", hello->rank, hello->host, wrong));
    }
    auto& slot = slots[static_cast<std::size_t>(hello->rank)];
    if (slot) {
      return unavailable(
          fmt::format("rank {} came twice, from {} and from {}: each process needs a rank "
                      "of its own",
                      hello->rank, slot->host(), hello->host));
    }
    slot = std::make_unique<AgentSlot>(std::move(arrival->connection), *hello);
  }
}

void dismiss_agents(int code) {
  for (Connection& agent : waiting_agents()) {
    static_cast<void>(
        agent.send(to_line(AgentCommand(Done{code})), Clock::now() + kAgentSendLimit));
  }
  waiting_agents().clear();
}

}  // namespace overlaptune::cuda
