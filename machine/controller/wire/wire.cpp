#include "machine/controller/wire/wire.hpp"

#include <variant>

#include "json/parse.hpp"
#include "json/printable.hpp"
#include "machine/controller/wire/wire_forms.hpp"

namespace overlaptune::cuda {
namespace {

using Json = nlohmann::json;

std::string line_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

/// The result of `read` on the line; an exception that it throws becomes the error.
template <class F>
auto read_line(std::string_view line, F read) {
  return outcome_of([&] {
    Json json = parse_json(line, "message");
    make_printable(json);
    return read(JsonReader(json, "message"));
  });
}

struct CommandWriter {
  Json operator()(const UniqueIdRequest&) const { return {{"do", "unique_id"}}; }
  Json operator()(const JoinRequest& request) const {
    return {{"do", "join"}, {"request", written<Json>(kJoinRequest, request)}};
  }
  Json operator()(const PrepareRequest& request) const {
    return {{"do", "prepare"}, {"kernels", written<Json>(kTiledKernel, request.kernels)}};
  }
  Json operator()(const MeasureRequest& request) const {
    return {{"do", "measure"}, {"probe", written<Json>(ProbeForm{}, request.probe)}};
  }
  Json operator()(const RunRequest& request) const {
    return {{"do", "run"}, {"request", written<Json>(kRunRequest, request)}};
  }
  Json operator()(const Quit&) const { return {{"do", "quit"}}; }
};

struct ReplyWriter {
  Json operator()(const Hello& hello) const {
    return {{"hello", written<Json>(HelloForm{}, hello)}};
  }
  Json operator()(const UniqueId& id) const { return {{"unique_id", id.hex}}; }
  Json operator()(const Joined&) const { return {{"joined", true}}; }
  Json operator()(const Prepared&) const { return {{"prepared", true}}; }
  Json operator()(const Samples& samples) const {
    return {{"samples", written<Json>(kSamples, samples)}};
  }
  Json operator()(const RunStep& step) const { return {{"at", written<Json>(kRunStep, step)}}; }
  Json operator()(const RunReply& reply) const {
    return {{"run", written<Json>(kRunReply, reply)}};
  }
  Json operator()(const Refused& refused) const { return {{"refused", refused.message}}; }
  Json operator()(const Failed& failed) const { return {{"failed", failed.message}}; }
};

struct AgentCommandWriter {
  Json operator()(const StartWorker& start) const {
    return {{"do", "start"}, {"start", start.start}};
  }
  Json operator()(const KillWorker&) const { return {{"do", "kill"}}; }
  Json operator()(const Done& done) const { return {{"do", "done"}, {"code", done.code}}; }
};

struct AgentReplyWriter {
  Json operator()(const AgentHello& hello) const {
    return {{"agent", written<Json>(kAgentHello, hello)}};
  }
  Json operator()(const Started& started) const { return {{"started", started.pid}}; }
  Json operator()(const Ended& ended) const { return {{"ended", written<Json>(kEnded, ended)}}; }
};

Command command_of(const JsonReader& reader) {
  const std::string what = reader["do"].text();
  if (what == "unique_id") return UniqueIdRequest{};
  if (what == "join") return read_as<JoinRequest>(kJoinRequest, reader["request"]);
  if (what == "prepare") {
    return PrepareRequest{read_as<std::vector<TiledKernel>>(kTiledKernel, reader["kernels"])};
  }
  if (what == "measure") return MeasureRequest{read_as<Probe>(ProbeForm{}, reader["probe"])};
  if (what == "run") return read_as<RunRequest>(kRunRequest, reader["request"]);
  if (what == "quit") return Quit{};
  reader["do"].fail("expected unique_id, join, prepare, measure, run or quit");
}

Reply reply_of(const JsonReader& reader) {
  if (reader.has("hello")) return read_as<Hello>(HelloForm{}, reader["hello"]);
  if (reader.has("unique_id")) return UniqueId{reader["unique_id"].text()};
  if (reader.has("joined")) return Joined{};
  if (reader.has("prepared")) return Prepared{};
  if (reader.has("samples")) return read_as<Samples>(kSamples, reader["samples"]);
  if (reader.has("at")) return read_as<RunStep>(kRunStep, reader["at"]);
  if (reader.has("run")) return read_as<RunReply>(kRunReply, reader["run"]);
  if (reader.has("refused")) return Refused{reader["refused"].text()};
  if (reader.has("failed")) return Failed{reader["failed"].text()};
  reader.fail("expected a reply of a worker");
}

AgentCommand agent_command_of(const JsonReader& reader) {
  const std::string what = reader["do"].text();
  if (what == "start") return StartWorker{reader["start"].text()};
  if (what == "kill") return KillWorker{};
  if (what == "done") return Done{reader["code"].small(0, 255)};
  reader["do"].fail("expected start, kill or done");
}

AgentReply agent_reply_of(const JsonReader& reader) {
  if (reader.has("agent")) return read_as<AgentHello>(kAgentHello, reader["agent"]);
  if (reader.has("started")) return Started{reader["started"].small(1)};
  return read_as<Ended>(kEnded, reader["ended"]);
}

}  // namespace

const char* program_version() {
  return OVERLAPTUNE_VERSION;
}

std::string to_line(const Command& command) {
  return line_of(std::visit(CommandWriter{}, command));
}

std::string to_line(const Reply& reply) {
  return line_of(std::visit(ReplyWriter{}, reply));
}

std::string to_line(const AgentCommand& command) {
  return line_of(std::visit(AgentCommandWriter{}, command));
}

std::string to_line(const AgentReply& reply) {
  return line_of(std::visit(AgentReplyWriter{}, reply));
}

Expected<Command> parse_command(std::string_view line) {
  return read_line(line, command_of);
}

Expected<Reply> parse_reply(std::string_view line) {
  return read_line(line, reply_of);
}

Expected<AgentCommand> parse_agent_command(std::string_view line) {
  return read_line(line, agent_command_of);
}

Expected<AgentReply> parse_agent_reply(std::string_view line) {
  return read_line(line, agent_reply_of);
}

std::string to_line(const std::vector<Device>& devices) {
  return line_of({{"devices", written<Json>(kDevice, devices)}});
}

Expected<std::vector<Device>> parse_devices(std::string_view text) {
  const auto read = [](const JsonReader& reader) {
    if (reader.has("error")) {
      throw Failure(ErrorKind::machine_unavailable, reader["error"].text());
    }
    return read_as<std::vector<Device>>(kDevice, reader["devices"]);
  };
  auto devices = read_line(text, read);
  if (!devices) devices.error().kind = ErrorKind::machine_unavailable;
  return devices;
}

}  // namespace overlaptune::cuda
