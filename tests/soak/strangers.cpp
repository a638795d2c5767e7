// Strangers at the controller's rendezvous, for as long as is said: strangers SECONDS [SEED].
//
// Each round opens a rendezvous in a process that may have 64 descriptors. Another process floods
// it with silent connections and comes back whenever one is dropped; junk greetings of many kinds
// arrive; then the honest rank comes. Prints "strangers tried N bad M". A stranger is bad if the
// controller sends it more than a challenge. A round is bad if the honest rank does not get in, if
// somebody else does, or if the controller computes for more than half of the time. The exit code
// is 0 if nothing was bad.

#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <poll.h>
#include <random>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "machine/controller/launch/agent.hpp"
#include "machine/controller/wire/secret.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;
using Random = std::mt19937_64;

constexpr rlim_t kDescriptors = 64;
constexpr int kFlood = 150;
constexpr int kJunk = 50;
constexpr auto kLimit = 30s;
const std::string kSecret = new_secret();

/// A child process, killed at the end.
class Child {
 public:
  explicit Child(const std::function<void()>& act) : pid_(fork()) {
    if (pid_ != 0) return;
    act();
    _exit(0);
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Kills it. Returns the time that it computed.
  std::chrono::microseconds end() {
    if (pid_ <= 0) return {};
    kill(pid_, SIGKILL);
    rusage usage{};
    wait4(std::exchange(pid_, -1), nullptr, 0, &usage);
    const auto of = [](const timeval& time) {
      return std::chrono::seconds(time.tv_sec) + std::chrono::microseconds(time.tv_usec);
    };
    return of(usage.ru_utime) + of(usage.ru_stime);
  }

 private:
  pid_t pid_;
};

/// The controller's process: writes the host of the rank that it let in, or its error.
void meet(Listener listener, int report) {
  const rlimit few{.rlim_cur = kDescriptors, .rlim_max = kDescriptors};
  setrlimit(RLIMIT_NOFILE, &few);
  const int port = listener.port();
  Rendezvous rendezvous(std::move(listener));
  const LaunchEnvironment launch{
      .launcher = Launcher::torchrun, .size = 2, .host = "127.0.0.1", .port = port};
  const auto slots = meet_agents(rendezvous, launch, kSecret, {.limit = kLimit});
  const std::string outcome = (slots ? slots->back()->host() : slots.error().message) + "\n";
  if (write(report, outcome.data(), outcome.size()) < 0) _exit(1);
  while (true) pause();  // its connections stay open until it is killed
}

/// Keeps `kFlood` silent connections, and counts in `tried` those that it made.
void flood(int port, int tried) {
  std::vector<std::optional<Connection>> connections(kFlood);
  while (true) {
    for (auto& connection : connections) {
      if (connection) {
        const Received received = connection->receive(Clock::now());
        if (received.what != Received::What::closed) continue;
        connection.reset();
      }
      auto made = connect("127.0.0.1", port, Clock::now() + 1s);
      if (!made) continue;
      connection.emplace(std::move(*made));
      if (write(tried, "x", 1) < 0) _exit(1);
    }
    poll(nullptr, 0, 5);
  }
}

std::string random_text(Random& random, std::size_t longest) {
  std::string text(random() % (longest + 1), '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

/// An honest rank's answer to the controller's first line, as handshake.hpp describes it.
std::string answer_to(const std::string& challenge) {
  const std::string controller = challenge.substr(challenge.find(' ') + 1);
  const std::string peer = new_secret();
  return peer + " " + hmac(kSecret, {"peer ", controller, " ", peer});
}

/// A greeting of a stranger, without the line end. `challenge` is the controller's line. `recorded`
/// is the answer of an honest rank to another challenge.
std::string junk(Random& random, const std::string& challenge, const std::string& recorded) {
  switch (random() % 10) {
    case 0:
      return "";
    case 1:
      return random_text(random, 300);
    case 2:
      return random_text(random, 200'000);
    case 3:
      return R"({"agent": {"protocol": 0}})";
    case 4:
      return fmt::format(R"({{"agent": {{"protocol": {}, "version": "{}", "rank": {}, )"
                         R"("host": "\u001b[2J", "job": ""}}}})",
                         random() % 8, program_version(), random() % 4);
    case 5:
      return fmt::format(R"({{"hello": {{"protocol": {}}}, "token": "t"}})", random() % 8);
    case 6:
      return recorded;
    case 7:
      return new_secret() + " " + new_secret();
    case 8:
      return challenge;
    default: {
      std::string wrong = answer_to(challenge);
      const std::size_t at = random() % wrong.size();
      wrong[at] = wrong[at] == '0' ? '1' : '0';
      return wrong;
    }
  }
}

/// Sends bytes as they are. They may come to nobody.
void send_raw(const Connection& connection, const std::string& bytes) {
  static_cast<void>(
      send(connection.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
}

struct Count {
  std::size_t tried = 0;
  std::size_t bad = 0;
};

/// A line from the pipe; empty at the deadline.
std::string line_from(int pipe, Deadline deadline) {
  std::string line;
  while (!line.ends_with('\n')) {
    pollfd entry{.fd = pipe, .events = POLLIN, .revents = 0};
    char c = 0;
    if (poll(&entry, 1, milliseconds_until(deadline)) <= 0 || read(pipe, &c, 1) != 1) return "";
    line += c;
  }
  line.pop_back();
  return line;
}

class Round {
 public:
  explicit Round(Random& random) : random_(random) {}

  Count run() {
    std::array<int, 2> report{};
    std::array<int, 2> tried{};
    if (pipe(report.data()) != 0 || pipe(tried.data()) != 0) complain("pipe: " + system_error());
    const Descriptor heard(report[0]);
    const Descriptor flooded(tried[0]);
    const auto start = Clock::now();
    std::optional<Listener> listener = value_or_throw(Listener::open());
    port_ = listener->port();
    Child controller([&] { meet(std::move(*listener), report[1]); });
    listener.reset();
    close(report[1]);
    Child crowd([&] { flood(port_, tried[1]); });
    close(tried[1]);
    send_junk();
    come_as_honest_rank();
    const std::string host = line_from(heard.get(), Clock::now() + kLimit);
    if (host != "honest") complain("the controller let in: '" + host + "'");
    const auto computed = controller.end();
    if (computed > 500ms && 2 * computed > Clock::now() - start) {
      complain(fmt::format("the controller computed for {} us", computed.count()));
    }
    crowd.end();
    look_at_strangers();
    for (char c = 0; read(flooded.get(), &c, 1) == 1;) ++count_.tried;
    return count_;
  }

 private:
  void complain(const std::string& what) {
    ++count_.bad;
    fmt::print(stderr, "strangers: {}\n", what);
  }

  void send_junk() {
    std::vector<Connection> connections;
    for (int i = 0; i < kJunk; ++i) {
      auto connection = connect("127.0.0.1", port_, Clock::now() + 10s);
      if (connection) connections.push_back(std::move(*connection));
    }
    count_.tried += connections.size();
    for (Connection& connection : connections) greet(std::move(connection));
  }

  void greet(Connection stranger) {
    // Half of them greet before they hear anything.
    const Received heard = stranger.receive(Clock::now() + (random_() % 2 == 0 ? 0s : 1s));
    const bool challenged = heard.what == Received::What::line;
    const std::string greeting = junk(random_, challenged ? heard.text : "", recorded_);
    if (challenged) recorded_ = answer_to(heard.text);
    send_raw(stranger, random_() % 8 == 0 ? greeting : greeting + "\n");
    if (random_() % 4 == 0) return;  // it hangs up
    strangers_.push_back({std::move(stranger), challenged});
  }

  void come_as_honest_rank() {
    auto honest = connect_to_controller(
        "127.0.0.1", port_, [] { return kSecret; }, Clock::now() + kLimit);
    if (!honest) return complain("the honest rank did not get in: " + honest.error().message);
    const AgentHello hello{.version = program_version(), .rank = 1, .size = 2, .host = "honest"};
    if (!honest->send(to_line(AgentReply(hello)), Clock::now() + 10s)) complain("it was dropped");
    honest_.emplace(std::move(*honest));
  }

  /// All connections are closed by now. A stranger got a challenge, or nothing.
  void look_at_strangers() {
    for (auto& [stranger, challenged] : strangers_) {
      int lines = challenged ? 1 : 0;
      while (stranger.receive(Clock::now() + 1s).what == Received::What::line) ++lines;
      if (lines > 1) complain("a stranger was told more than a challenge");
    }
  }

  struct Stranger {
    Connection connection;
    bool challenged;  ///< has read the controller's first line
  };

  Random& random_;
  int port_ = 0;
  std::string recorded_ = new_secret() + " " + new_secret();
  std::vector<Stranger> strangers_{};
  std::optional<Connection> honest_{};
  Count count_{};
};

int soak(std::chrono::seconds time, std::uint64_t seed) {
  spdlog::set_level(spdlog::level::off);  // of strangers, who are many
  Random random(seed);
  Count all;
  const auto end = Clock::now() + time;
  do {
    const Count count = Round(random).run();
    all.tried += count.tried;
    all.bad += count.bad;
  } while (Clock::now() < end);
  fmt::print("strangers tried {} bad {}\n", all.tried, all.bad);
  return all.bad == 0 ? 0 : 1;
}

}  // namespace
}  // namespace overlaptune::cuda

int main(int argc, char** argv) {
  const long seconds = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 0;
  if (seconds <= 0 || argc > 3) {
    fmt::print(stderr, "usage: strangers SECONDS [SEED]\n");
    return 2;
  }
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  return overlaptune::cuda::soak(std::chrono::seconds(seconds), seed);
}
