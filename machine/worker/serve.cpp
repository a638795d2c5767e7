#include "machine/worker/serve.hpp"

#include <cstdio>
#include <optional>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/environment.hpp"
#include "core/nodes.hpp"
#include "machine/controller/launch/launch_environment.hpp"
#include "machine/controller/wire/address.hpp"
#include "machine/controller/wire/handshake.hpp"
#include "machine/controller/wire/wire.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

/// The controller reads at once; if it does not, it is gone.
constexpr auto kSendLimit = 30s;
constexpr auto kConnectLimit = 30s;

/// Thrown if a message cannot be sent to the controller.
struct ControllerGone {};

class Server {
 public:
  Server(Connection& connection, int rank, Backend& backend)
      : connection_(connection), rank_(rank), backend_(backend) {}

  void say(const Reply& reply) {
    if (!connection_.send(to_line(reply), Clock::now() + kSendLimit)) throw ControllerGone{};
  }

  // Each throws what the backend throws.
  void answer(const UniqueIdRequest& /*request*/) { say(UniqueId{backend_.unique_id()}); }
  void answer(const JoinRequest& request) {
    backend_.join(request, rank_);
    say(Joined{});
  }
  void answer(const PrepareRequest& request) {
    backend_.prepare(request);
    say(Prepared{});
  }
  void answer(const MeasureRequest& request) { reply(backend_.measure(request.probe)); }
  void answer(const RunRequest& request) {
    reply(backend_.run(request, [this](const RunStep& step) { say(step); }));
  }
  void answer(const Quit& /*request*/) {}  // by the end of the connection

 private:
  template <class T>
  void reply(Expected<T> outcome) {
    if (outcome) {
      say(std::move(*outcome));
    } else if (outcome.error().kind == ErrorKind::bad_input) {
      say(Refused{outcome.error().message});
    } else {
      throw Failure(outcome.error());
    }
  }

  Connection& connection_;
  int rank_;
  Backend& backend_;
};

void complain(const std::string& message) {
  std::fprintf(stderr, "overlaptune-worker: %s\n", message.c_str());
}

/// Tells both the controller and standard error.
int fail(Connection& connection, const std::string& message) {
  complain(message);
  // If this fails too, there is nobody left to tell.
  static_cast<void>(connection.send(to_line(Reply(Failed{message})), Clock::now() + kSendLimit));
  return 1;
}

/// Ends the process without destructors. The driver takes back all memory of this process in any
/// state of the GPU. After a failure destructors may hang or crash, and without one they take
/// seconds for dozens of communicators.
[[noreturn]] void leave(int code) {
  std::fflush(nullptr);
  _exit(code);
}

}  // namespace

Expected<WorkerOptions> worker_options(int argc, const char* const* argv) {
  constexpr int kLargestPort = 65535;
  WorkerOptions options{.rank = -1, .local_rank = -1};
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    const std::string_view value = i + 1 < argc ? argv[i + 1] : "";
    std::optional<int> parsed;
    if (flag == "--connect") {
      // The port follows the last colon, because an IPv6 address has more of them.
      const std::size_t colon = value.rfind(':');
      if (colon != std::string_view::npos)
        parsed = whole_number(value.substr(colon + 1), 0, kLargestPort);
      if (parsed) options.host = without_brackets(std::string(value.substr(0, colon)));
      options.port = parsed.value_or(0);
    } else if (flag == "--rank" || flag == "--local-rank") {
      parsed = whole_number(value, 0, kMostRanks - 1);
      (flag == "--rank" ? options.rank : options.local_rank) = parsed.value_or(-1);
    }
    if (!parsed) {
      return bad_input(fmt::format(
          "'{} {}': expected --connect HOST:PORT, --rank R or --local-rank L", flag, value));
    }
  }
  if (options.host.empty() || options.rank < 0 || options.local_rank < 0) {
    return bad_input(
        "expected --connect HOST:PORT --rank R --local-rank L: `overlaptune` starts "
        "this program, a user never does");
  }
  options.secret = environment().token.value_or("");
  return options;
}

int serve(Connection connection, int rank, const std::string& version, Backend& backend) {
  Server server(connection, rank, backend);
  try {
    server.say(Hello{.version = version,
                     .rank = rank,
                     .pid = static_cast<int>(getpid()),
                     .host = host_name(),
                     .node = this_node(),
                     .device = backend.device()});
    while (true) {
      const Received received = connection.receive(Deadline::max());
      if (received.what == Received::What::closed) return 0;
      const auto command = parse_command(received.text);
      if (!command) return fail(connection, command.error().message);
      if (std::holds_alternative<Quit>(*command)) return 0;
      std::visit([&](const auto& request) { server.answer(request); }, *command);
    }
  } catch (const ControllerGone&) {
    return 0;
  } catch (const std::exception& error) {
    return fail(connection, error.what());
  } catch (...) {
    return fail(connection, "an exception of an unknown type");
  }
}

int run_worker(int argc, const char* const* argv,
               const std::function<std::unique_ptr<Backend>(const WorkerOptions&)>& make) {
  const auto options = worker_options(argc, argv);
  if (!options) {
    complain(options.error().message);
    return static_cast<int>(ErrorKind::bad_input);
  }
  auto connection = connect_to_controller(
      options->host, options->port, [&] { return options->secret; }, Clock::now() + kConnectLimit);
  if (!connection) {
    complain(connection.error().message);
    return static_cast<int>(ErrorKind::machine_unavailable);
  }
  std::unique_ptr<Backend> backend;
  try {
    backend = make(*options);
  } catch (const std::exception& error) {
    leave(fail(*connection, error.what()));
  }
  leave(serve(std::move(*connection), options->rank, program_version(), *backend));
}

}  // namespace overlaptune::cuda
