#include "machine/controller/launch/agent.hpp"

#include <array>
#include <csignal>
#include <map>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "machine/controller/launch/job_secret.hpp"
#include "machine/controller/wire/secret.hpp"
#include "tests/machine/controller/fixtures.hpp"
#include "tests/machine/controller/peers.hpp"
#include "tests/machine/controller/processes.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

/// The environment of one rank as torchrun sets it.
LaunchEnvironment rank_of(int rank, int size, int port) {
  const std::map<std::string, std::string> environment{{"RANK", std::to_string(rank)},
                                                       {"WORLD_SIZE", std::to_string(size)},
                                                       {"LOCAL_RANK", std::to_string(rank)},
                                                       {"MASTER_ADDR", "127.0.0.1"},
                                                       {"MASTER_PORT", std::to_string(port)}};
  auto launch = value_or_throw(read_launch([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  }));
  launch.secret = "known to the ranks of the test";
  return launch;
}

/// The processes of ranks 1 to N - 1, each an agent; killed at the end.
class Ranks {
 public:
  explicit Ranks(int size) : size_(size), port_(value_or_throw(Listener::open()).port()) {}
  ~Ranks() {
    for (const pid_t pid : pids_) {
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, 0);
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// `size`: the number of ranks that it believes in; 0: the right one.
  pid_t start(int rank, const std::string& version = program_version(), int size = 0) {
    const pid_t pid = fork();
    if (pid == 0) {
      _exit(run_agent(rank_of(rank, size > 0 ? size : size_, port_),
                      {.worker = fake_worker(), .version = version, .limit = 20s}));
    }
    pids_.push_back(pid);
    return pid;
  }

  [[nodiscard]] CudaOptions options() const {
    CudaOptions options = fake_options(0);
    options.launch = rank_of(0, size_, port_);
    return options;
  }

  /// Exit codes of all agents, once they ended by themselves.
  std::vector<int> codes() {
    std::vector<int> codes;
    for (const pid_t pid : pids_) {
      int status = -1;
      soon([&] { return waitpid(pid, &status, WNOHANG) == pid; });
      codes.push_back(WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    }
    pids_.clear();
    return codes;
  }

 private:
  int size_;
  int port_;
  std::vector<pid_t> pids_{};
};

Expected<Measurement> measure(CudaMachine& machine, Act act) {
  return machine.measure(probe_that(act));
}

TEST(Agents, look_after_their_workers_and_end_with_the_code_of_rank_0) {
  Ranks ranks(3);
  for (const int rank : {1, 2}) ranks.start(rank);
  {
    const auto machine = value_or_throw(CudaMachine::open(ranks.options()));
    EXPECT_EQ(machine->platform().gpu_count, 3);
    const auto measured = measure(*machine, Act{});
    ASSERT_TRUE(measured) << measured.error().message;
    EXPECT_EQ(measured->time.count, 3);
    // The worker of rank 2 is a child of its agent, which reports how it died.
    const auto failed = measure(*machine, Act::crash);
    EXPECT_EQ(failed.error().kind, ErrorKind::bad_input);
    EXPECT_NE(failed.error().message.find("rank 2"), std::string::npos);
    EXPECT_NE(failed.error().message.find("killed by signal 11"), std::string::npos)
        << failed.error().message;
    EXPECT_TRUE(measure(*machine, Act{}));
  }
  dismiss_agents(5);
  EXPECT_EQ(ranks.codes(), (std::vector{5, 5}));
}

/// An interrupt as Ctrl-C under mpirun sends it: the controller decides when the agents end.
TEST(Agents, outlive_the_first_interrupt) {
  Ranks ranks(2);
  const pid_t agent = ranks.start(1);
  {
    const auto machine = value_or_throw(CudaMachine::open(ranks.options()));
    kill(agent, SIGINT);
    EXPECT_TRUE(measure(*machine, Act{}));
  }
  dismiss_agents(130);
  EXPECT_EQ(ranks.codes(), (std::vector{130}));
}

TEST(Agents, a_rank_that_never_comes_is_named) {
  Ranks ranks(4);
  ranks.start(1);
  ranks.start(3);
  CudaOptions options = ranks.options();
  options.limits.meet = 1500ms;
  const auto machine = CudaMachine::open(options);
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(machine.error().message.find(": 2; look"), std::string::npos)
      << machine.error().message;
  dismiss_agents(3);
  EXPECT_EQ(ranks.codes(), (std::vector{3, 3}));
}

TEST(Agents, one_of_another_version_is_named_with_its_host) {
  Ranks ranks(2);
  ranks.start(1, "0.0.1");
  const auto machine = CudaMachine::open(ranks.options());
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message.find("rank 1 on " + host_name() + ": overlaptune 0.0.1"),
            std::string::npos)
      << machine.error().message;
  dismiss_agents(3);
  EXPECT_EQ(ranks.codes(), (std::vector{3}));
}

TEST(Agents, one_that_dies_loses_the_machine_and_its_worker) {
  Ranks ranks(2);
  const pid_t agent = ranks.start(1);
  const auto machine = value_or_throw(CudaMachine::open(ranks.options()));
  const std::vector<pid_t> workers = children_of(agent);
  ASSERT_EQ(workers.size(), 1U);
  kill(agent, SIGKILL);
  EXPECT_TRUE(soon([&] { return !runs(workers.front()); }));
  const auto failed = measure(*machine, Act{});
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(failed.error().message.find("rank 1 on " + host_name()), std::string::npos)
      << failed.error().message;
}

TEST(Agents, end_with_their_workers_when_the_controller_is_killed) {
  Ranks ranks(2);
  const pid_t agent = ranks.start(1);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t controller = fork();
  if (controller == 0) {
    const auto machine = CudaMachine::open(ranks.options());
    const char opened = machine ? 'y' : 'n';
    if (write(ends[1], &opened, 1) != 1) _exit(1);
    while (true) pause();
  }
  char opened = 0;
  ASSERT_EQ(read(ends[0], &opened, 1), 1);
  EXPECT_EQ(opened, 'y');
  std::vector<pid_t> workers = children_of(agent);
  for (const pid_t each : children_of(controller)) workers.push_back(each);
  EXPECT_EQ(workers.size(), 2U);
  kill(controller, SIGKILL);
  waitpid(controller, nullptr, 0);
  EXPECT_EQ(ranks.codes(), (std::vector{3}));
  for (const pid_t each : workers) EXPECT_TRUE(soon([&] { return !runs(each); }));
}

/// Strangers that know the name of the job, as one finds it in `squeue`, and greet as agents of
/// earlier versions did.
TEST(Agents, strangers_are_no_ranks_and_stop_nobody) {
  Ranks ranks(2);
  const CudaOptions options = ranks.options();
  auto listener = value_or_throw(listen_for_ranks(options.launch));
  std::vector<Connection> strangers;
  for (const char* greeting :
       {R"({"agent": {"protocol": 0}})",
        R"({"agent": {"protocol": 0, "version": "x", "rank": 1, )"
        R"("host": "\u001b[2J", "job": ""}})",
        R"({"agent": {"protocol": 5, "version": "0.1.0", "rank": 1, "host": "h", "job": ""}})",
        R"({"agent": {"protocol": 5, "version": "0.1.0", "rank": 77, "host": "h", "job": ""}})"}) {
    strangers.push_back(value_or_throw(connect("127.0.0.1", listener.port(), in(10s))));
    ASSERT_TRUE(strangers.back().send(greeting, in(10s)));
  }
  ranks.start(1);
  {
    const auto machine = CudaMachine::open(options, std::move(listener));
    ASSERT_TRUE(machine) << machine.error().message;
    for (Connection& stranger : strangers) {
      EXPECT_EQ(stranger.receive(in(10s)).what, Received::What::line);  // the challenge
      EXPECT_EQ(stranger.receive(in(10s)).what, Received::What::closed);
    }
  }
  dismiss_agents(0);
  EXPECT_EQ(ranks.codes(), (std::vector{0}));
}

/// It bound the port before rank 0 did.
TEST(Agents, do_not_obey_a_false_controller) {
  const auto falsely = [](const std::string& second_line) {
    Listener listener = value_or_throw(Listener::open());
    const pid_t agent = fork();
    if (agent == 0) {
      _exit(run_agent(rank_of(1, 2, listener.port()), {.worker = fake_worker(), .limit = 1s}));
    }
    Descriptor socket;
    soon([&] { return (socket = listener.accept()).is_open(); });
    Connection connection(std::move(socket));
    EXPECT_TRUE(connection.send(Challenge().line(), in(10s)));
    EXPECT_EQ(connection.receive(in(10s)).what, Received::What::line);
    EXPECT_TRUE(connection.send(second_line, in(10s)));
    EXPECT_TRUE(connection.send(to_line(AgentCommand(StartWorker{"start"})), in(10s)));
    // It sends nothing more, starts nothing, and ends.
    EXPECT_EQ(connection.receive(in(10s)).what, Received::What::closed);
    EXPECT_TRUE(children_of(agent).empty());
    int status = -1;
    soon([&] { return waitpid(agent, &status, WNOHANG) == agent; });
    EXPECT_EQ(WEXITSTATUS(status), 3);
  };
  falsely(std::string(kSecretDigits, '0'));
  falsely(to_line(AgentCommand(StartWorker{"start"})));
}

/// Another program had the port for a moment, or a flood pushed the agent out.
TEST(Agents, try_again_until_they_find_their_controller) {
  Ranks ranks(2);
  auto listener = value_or_throw(listen_for_ranks(ranks.options().launch));
  ranks.start(1);
  Descriptor socket;
  ASSERT_TRUE(soon([&] { return (socket = listener.accept()).is_open(); }));
  socket.close();
  { ASSERT_TRUE(CudaMachine::open(ranks.options(), std::move(listener))); }
  dismiss_agents(0);
  EXPECT_EQ(ranks.codes(), (std::vector{0}));
}

TEST(Agents, with_another_secret_find_no_controller) {
  Rendezvous rendezvous(value_or_throw(Listener::open()));
  const pid_t agent = fork();
  if (agent == 0) {
    LaunchEnvironment launch = rank_of(1, 2, rendezvous.port());
    launch.job = "another job of the same user";
    _exit(run_agent(launch, {.worker = fake_worker(), .limit = 500ms}));
  }
  const LaunchEnvironment launch = rank_of(0, 2, rendezvous.port());
  const auto slots =
      meet_agents(rendezvous, launch, value_or_throw(job_secret(launch)), {.limit = 1500ms});
  ASSERT_FALSE(slots);
  EXPECT_NE(slots.error().message.find("without the secret of this job: "), std::string::npos)
      << slots.error().message;
  int status = -1;
  EXPECT_TRUE(soon([&] { return waitpid(agent, &status, WNOHANG) == agent; }));
  EXPECT_EQ(WEXITSTATUS(status), 3);
}

TEST(Agents, cannot_command_the_terminal_of_rank_0) {
  Rendezvous rendezvous(value_or_throw(Listener::open()));
  const AgentReply hello = AgentHello{.version = "\x1b[2J", .rank = 1, .host = "\x1b]0;owned\a"};
  auto coming = peer(rendezvous.port(), "secret", to_line(hello));
  const auto slots = meet_agents(rendezvous, rank_of(0, 2, rendezvous.port()), "secret", {});
  ASSERT_FALSE(slots);
  EXPECT_NE(slots.error().message.find("rank 1 on \\x1b]0;owned\\x07: overlaptune \\x1b[2J"),
            std::string::npos)
      << slots.error().message;
  coming.get();
  dismiss_agents(3);
}

TEST(Agents, of_other_hosts_need_a_secret) {
  LaunchEnvironment launch = rank_of(0, 2, 1);
  launch.port = 0;
  launch.host = "node0";
  launch.one_host = false;
  const auto address_of = [&] {
    const Listener listener = value_or_throw(listen_for_ranks(launch));
    sockaddr_storage address{};
    socklen_t size = sizeof address;
    EXPECT_EQ(getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    std::array<char, NI_MAXHOST> text{};
    EXPECT_EQ(getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text.data(), text.size(),
                          nullptr, 0, NI_NUMERICHOST),
              0);
    return std::string(text.data());
  };
  EXPECT_THAT(address_of(), testing::AnyOf("::", "0.0.0.0"));  // the latter without IPv6
  launch.host = "127.0.0.7";
  EXPECT_EQ(address_of(), "127.0.0.1");
  launch.host = "node0";
  launch.secret.clear();
  EXPECT_EQ(address_of(), "127.0.0.1");
}

/// Both kinds of addresses reach a rank 0 that listens on all.
TEST(Agents, come_by_ipv6_and_by_ipv4) {
  if (!Listener::open("::1")) GTEST_SKIP() << "this host has no IPv6";
  LaunchEnvironment launch = rank_of(0, 2, 1);
  launch.one_host = false;
  launch.port = 0;
  launch.host = "fd00::2";
  const Listener everywhere = value_or_throw(listen_for_ranks(launch));
  EXPECT_TRUE(connect("::1", everywhere.port(), in(10s)));
  EXPECT_TRUE(connect("127.0.0.1", everywhere.port(), in(10s)));
  launch.host = "::1";
  const Listener loopback = value_or_throw(listen_for_ranks(launch));
  EXPECT_TRUE(connect("::1", loopback.port(), in(10s)));
  const auto elsewhere = connect("127.0.0.1", loopback.port(), in(200ms));
  ASSERT_FALSE(elsewhere);
  EXPECT_NE(elsewhere.error().message.find("Connection refused"), std::string::npos);
}

TEST(Agents, one_with_another_number_of_ranks_is_named_at_once) {
  Ranks ranks(3);
  ranks.start(1, program_version(), 4);
  const auto machine = CudaMachine::open(ranks.options());  // rank 2 never comes
  ASSERT_FALSE(machine);
  EXPECT_NE(machine.error().message.find("rank 1 on " + host_name() +
                                         ": it is one of 4 ranks, expected 3 as on rank 0"),
            std::string::npos)
      << machine.error().message;
  dismiss_agents(3);
  EXPECT_EQ(ranks.codes(), (std::vector{3}));
}

/// The controller's side of one agent; the test plays the agent.
TEST(Agents, none_starts_a_worker_beside_one_that_does_not_go) {
  Rendezvous rendezvous(value_or_throw(Listener::open()));
  const AgentReply hello =
      AgentHello{.version = program_version(), .rank = 1, .size = 2, .host = "far"};
  auto coming = peer(rendezvous.port(), "secret", to_line(hello));
  const auto slots =
      value_or_throw(meet_agents(rendezvous, rank_of(0, 2, rendezvous.port()), "secret", {}));
  Connection agent = coming.get();
  const auto say = [&](const AgentReply& reply) {
    ASSERT_TRUE(agent.send(to_line(reply), in(10s)));
  };
  const auto hear = [&] {
    return value_or_throw(parse_agent_command(agent.receive(in(10s)).text));
  };
  WorkerSlot& slot = *slots.back();

  EXPECT_FALSE(slot.running());
  ASSERT_TRUE(slot.start("t"));
  EXPECT_TRUE(std::holds_alternative<StartWorker>(hear()));
  say(Started{4711});
  EXPECT_TRUE(soon([&] { return slot.running() == 4711; }));
  slot.kill();
  EXPECT_TRUE(std::holds_alternative<KillWorker>(hear()));
  const auto beside = slot.start("t");
  ASSERT_FALSE(beside);
  EXPECT_NE(beside.error().message.find("process 4711"), std::string::npos);
  say(Ended{.how = "killed by signal 9", .killed = true});
  EXPECT_TRUE(soon([&] { return !slot.running(); }));
  EXPECT_TRUE(slot.start("t"));
  EXPECT_TRUE(std::holds_alternative<StartWorker>(hear()));
}

TEST(Agents, without_a_controller_they_give_up) {
  const int port = value_or_throw(Listener::open()).port();
  EXPECT_EQ(run_agent(rank_of(1, 2, port), {.worker = fake_worker(), .limit = 200ms}), 3);
}

}  // namespace
}  // namespace overlaptune::cuda
