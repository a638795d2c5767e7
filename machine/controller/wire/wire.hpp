#pragma once
// Messages as lines of JSON, both ways.
//
// Controller to worker, one command at a time:
//   {"do": "unique_id"}                     answered by {"unique_id": "..."}
//   {"do": "join", "request": {...}}        answered by {"joined": true}
//   {"do": "prepare", "kernels": [...]}     answered by {"prepared": true}
//   {"do": "measure", "probe": {...}}       answered by {"samples": {...}}
//   {"do": "run", "request": {...}}         answered by {"at": {...}}, any number of times,
//                                           and then {"run": {...}}
//   {"do": "quit"}                          answered by the end of the connection
// Worker to controller, beside the answers:
//   {"hello": {...}}                        its first line
//   {"refused": "..."}                      instead of an answer: this machine cannot do it
//                                           (`bad_input`)
//   {"failed": "..."}                       the worker ends: no answer will come
// Agent (the launcher's process of another rank) to controller:
//   {"agent": {...}}                        its first line
//   {"started": pid}                        its worker runs
//   {"ended": {...}}                        its worker is gone, and how
// Controller to agent:
//   {"do": "start", "start": "..."}, {"do": "kill"}, {"do": "done", "code": 0}
//
// Times are in microseconds, problems as `to_string` writes them, enumerations by name. Text that
// cannot be read is an error that names the place, never a crash. Control characters in texts are
// escaped when they are read, because these texts become messages.

#include <string>
#include <string_view>
#include <variant>

#include "core/base/error.hpp"
#include "machine/controller/wire/messages.hpp"

namespace overlaptune::cuda {

/// The version of this build. Both ends of a connection must have the same.
[[nodiscard]] const char* program_version();

struct UniqueIdRequest {};
struct MeasureRequest {
  Probe probe{};
};
struct Quit {};
using Command =
    std::variant<UniqueIdRequest, JoinRequest, PrepareRequest, MeasureRequest, RunRequest, Quit>;

struct UniqueId {
  std::string hex;
};
struct Joined {};
struct Prepared {};
struct Refused {
  std::string message;
};
struct Failed {
  std::string message;
};
using Reply =
    std::variant<Hello, UniqueId, Joined, Prepared, Samples, RunStep, RunReply, Refused, Failed>;

/// An agent's first line.
struct AgentHello {
  int protocol = kProtocol;
  std::string version;
  int rank = 0;
  int size = 0;  ///< of the launch, as this rank sees it
  std::string host;
};
/// The worker of an agent runs.
struct Started {
  int pid = 0;  ///< process number on the agent's host
};
/// How an agent's worker ended, or why it could not be started.
struct Ended {
  std::string how;         ///< "killed by signal 9"
  bool killed = false;     ///< by SIGKILL
  std::string last_words;  ///< the end of its standard error
};
using AgentReply = std::variant<AgentHello, Started, Ended>;

struct StartWorker {
  std::string start;  ///< name of this start, from which the worker's secret follows
};
struct KillWorker {};
struct Done {
  int code = 0;  ///< exit code of the controller and of the agent
};
using AgentCommand = std::variant<StartWorker, KillWorker, Done>;

/// The message without a line end. Bytes of a text that are not UTF-8 are replaced.
[[nodiscard]] std::string to_line(const Command& command);
[[nodiscard]] std::string to_line(const Reply& reply);
[[nodiscard]] std::string to_line(const AgentCommand& command);
[[nodiscard]] std::string to_line(const AgentReply& reply);

/// The message of a line. A greeting of another protocol is read in part: protocol, version, rank
/// and host only.
[[nodiscard]] Expected<Command> parse_command(std::string_view line);
[[nodiscard]] Expected<Reply> parse_reply(std::string_view line);
[[nodiscard]] Expected<AgentCommand> parse_agent_command(std::string_view line);
[[nodiscard]] Expected<AgentReply> parse_agent_reply(std::string_view line);

/// The output of `overlaptune-worker --devices`: {"devices": [...]}, or {"error": "..."}, whose
/// text is then the error (`machine_unavailable`).
[[nodiscard]] std::string to_line(const std::vector<Device>& devices);
[[nodiscard]] Expected<std::vector<Device>> parse_devices(std::string_view text);

}  // namespace overlaptune::cuda
