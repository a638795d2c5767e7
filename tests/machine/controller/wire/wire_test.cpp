#include "machine/controller/wire/wire.hpp"

#include <limits>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace overlaptune::cuda {
namespace {

Device some_device() {
  return {.model = "NVIDIA H200 \"x\"\xff",
          .sms = 132,
          .compute_capability = 90,
          .memory = {std::int64_t{141} << 30},
          .driver_version = "580.1",
          .cuda_version = "13.0",
          .nccl_version = "2.28.9",
          .topology = "NVSwitch",
          .link = "nvlink",
          .network = "IB",
          .pci_bus = "0000:1b:00.0",
          .numa_node = -1,
          .power_limit_w = 700.5,
          .max_sm_clock_mhz = 1980,
          .ecc = true};
}

Probe some_gemm() {
  return GemmProbe{.m = 4096,
                   .n = kLargestSize,
                   .k = 64,
                   .elements = Elements::fp16,
                   .tile = {128, 256, 64, 4, 2},
                   .swizzle = 8,
                   .sms = 116};
}

Probe some_collective() {
  return CollectiveProbe{.collective = Collective::all_to_all,
                         .bytes = {std::int64_t{1} << 40},
                         .ranks = 8,
                         .comm_ctas = 16,
                         .transport = Transport::symmetric};
}

RunRequest some_run() {
  return {.problem = {.op = Op::gemm_reduce_scatter, .m = 4096, .n = 8192, .k = 3584, .ranks = 8},
          .configs = {Config{}, Chunked{.comm_ctas = 16, .chunks = 2},
                      Signaled{.tile = {128, 256, 64, 4, 2},
                               .swizzle = 4,
                               .comm_ctas = 16,
                               .transport = kSymmetricThenRing,
                               .wait = Wait::kernel,
                               .wave_groups = {928, 96}}},
          .launch = Launch::eager,
          .repetitions = 12,
          .seed = std::numeric_limits<std::uint64_t>::max(),
          .phase = RunPhase::beside,
          .own_memory = true,
          .trace = true,
          .fault = "1:spin"};
}

std::vector<Command> all_commands() {
  return {UniqueIdRequest{},
          JoinRequest{.nccl_id = "c0ffee", .ranks = 8, .allow_multicast = true},
          PrepareRequest{},
          PrepareRequest{{{.tile = {128, 256, 64, 4, 2}, .elements = Elements::fp16, .regions = 3},
                          {.tile = {64, 16, 64, 7, 1}}}},
          MeasureRequest{some_gemm()},
          MeasureRequest{some_collective()},
          MeasureRequest{ConcurrentProbe{std::get<GemmProbe>(some_gemm()),
                                         std::get<CollectiveProbe>(some_collective())}},
          MeasureRequest{CopyProbe{.bytes = {77}, .ctas = 4}},
          MeasureRequest{LaunchProbe{LaunchCost::signal_trigger}},
          some_run(),
          Quit{}};
}

std::vector<Reply> all_replies() {
  const Conditions conditions{.sm_clock_mhz = 1755, .power_w = 699.25};
  const Activity activity{.rank = 3,
                          .stream = 7,
                          .kind = ActivityKind::collective,
                          .name = "ncclDevKernel",
                          .start = us(1),
                          .end = us(2.5)};
  return {
      Hello{
          .version = "1", .rank = 3, .pid = 99, .host = "h", .node = "n", .device = some_device()},
      UniqueId{"c0ffee"},
      Joined{},
      Prepared{},
      Samples{.times = {us(1.25), us(1e9)},
              .collective_times = {us(0.1)},
              .library_tile = Tile{64, 64, 64, 3, 1},
              .conditions = conditions},
      Samples{},
      RunStep{},
      RunStep{.config = 2, .step = "time"},
      RunReply{.configs = {{.verdict = Verdict::wrong,
                            .reason = "no",
                            .times = {us(3)},
                            .conditions = conditions,
                            .activities = {activity}},
                           {}},
               .gemm_alone = {us(4)},
               .collective_alone = {us(5)}},
      Refused{"too large"},
      Failed{"illegal address"}};
}

/// Equal lines of text are equal messages: each field was written, read and written again.
template <class Message, class Parse>
void expect_round_trip(const std::vector<Message>& messages, Parse parse) {
  for (const Message& message : messages) {
    const std::string line = to_line(message);
    EXPECT_EQ(line.find('\n'), std::string::npos);
    const auto read = parse(line);
    ASSERT_TRUE(read) << line << ": " << read.error().message;
    EXPECT_EQ(read->index(), message.index());
    EXPECT_EQ(to_line(*read), line);
  }
}

TEST(Wire, every_message_survives) {
  expect_round_trip(all_commands(), parse_command);
  expect_round_trip(all_replies(), parse_reply);
  expect_round_trip<AgentCommand>({StartWorker{"t"}, KillWorker{}, Done{130}}, parse_agent_command);
  expect_round_trip<AgentReply>(
      {AgentHello{.version = "1", .rank = 2, .size = 3, .host = "h"}, Started{4711},
       Ended{.how = "killed", .killed = true, .last_words = "a; b"}},
      parse_agent_reply);
}

TEST(Wire, values_are_the_same_on_the_other_side) {
  const auto command = parse_command(to_line(Command(some_run())));
  ASSERT_TRUE(command);
  const auto& request = std::get<RunRequest>(*command);
  const RunRequest sent = some_run();
  EXPECT_EQ(request.problem, sent.problem);
  EXPECT_EQ(request.configs, sent.configs);
  EXPECT_EQ(request.seed, sent.seed);
  EXPECT_EQ(request.launch, sent.launch);
  EXPECT_EQ(request.repetitions, sent.repetitions);
  EXPECT_EQ(request.phase, sent.phase);
  EXPECT_TRUE(request.trace);
  const auto probe = parse_command(to_line(Command(MeasureRequest{some_collective()})));
  EXPECT_EQ(std::get<MeasureRequest>(*probe).probe, some_collective());
  const auto reply = parse_reply(to_line(all_replies()[4]));
  const auto& samples = std::get<Samples>(*reply);
  EXPECT_EQ(samples.times, (std::vector{us(1.25), us(1e9)}));
  EXPECT_EQ(samples.library_tile, (Tile{64, 64, 64, 3, 1}));
  EXPECT_EQ(samples.conditions.power_w, 699.25);
}

TEST(Wire, devices_or_the_reason_why_there_are_none) {
  const auto devices = parse_devices(to_line(std::vector<Device>{some_device(), some_device()}));
  ASSERT_TRUE(devices) << devices.error().message;
  EXPECT_EQ(devices->size(), 2U);
  EXPECT_EQ(devices->back().memory, some_device().memory);
  EXPECT_EQ(parse_devices(to_line(std::vector<Device>{}))->size(), 0U);
  const auto none = parse_devices(R"({"error": "no driver"})");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::machine_unavailable);
  EXPECT_EQ(none.error().message, "no driver");
  EXPECT_FALSE(parse_devices("segmentation fault"));
}

TEST(Wire, a_greeting_of_another_protocol_still_says_who_it_is) {
  const auto reply =
      parse_reply(R"({"hello": {"protocol": 999, "version": "9.9", "rank": 5, "host": "h"}})");
  ASSERT_TRUE(reply) << reply.error().message;
  EXPECT_EQ(std::get<Hello>(*reply).protocol, 999);
  EXPECT_EQ(std::get<Hello>(*reply).rank, 5);
}

/// Texts of other hosts become messages on a terminal.
TEST(Wire, control_characters_are_escaped_when_they_are_read) {
  const std::string colour = "\x1b[31m";
  const auto hello = value_or_throw(parse_agent_reply(to_line(
      AgentReply(AgentHello{.version = "1\n", .rank = 1, .host = "node" + colour + "\u009b0c"}))));
  EXPECT_EQ(std::get<AgentHello>(hello).host, "node\\x1b[31m\\x9b0c");
  EXPECT_EQ(std::get<AgentHello>(hello).version, "1\\x0a");
  const auto ended = value_or_throw(
      parse_agent_reply(to_line(AgentReply(Ended{.how = colour, .last_words = colour}))));
  EXPECT_EQ(std::get<Ended>(ended).how, "\\x1b[31m");
  EXPECT_EQ(std::get<Ended>(ended).last_words, "\\x1b[31m");
  const auto failed = value_or_throw(parse_reply(to_line(Reply(Failed{colour}))));
  EXPECT_EQ(std::get<Failed>(failed).message, "\\x1b[31m");
  const auto run = value_or_throw(
      parse_reply(to_line(Reply(RunReply{.configs = {ConfigSamples{.reason = colour}}}))));
  EXPECT_EQ(std::get<RunReply>(run).configs.front().reason, "\\x1b[31m");
}

TEST(Wire, hostile_text_is_an_error_that_names_the_place) {
  const auto expect_error = [](const std::string& line, const std::string& part) {
    const auto command = parse_command(line);
    ASSERT_FALSE(command) << line;
    EXPECT_NE(command.error().message.find(part), std::string::npos) << command.error().message;
    EXPECT_EQ(command.error().message.find('\n'), std::string::npos);
  };
  const std::string join =
      R"({"do": "join", "request": {"nccl_id": "x", "allow_multicast": true, )";
  expect_error("", "JSON");
  expect_error("GET / HTTP/1.1", "JSON");
  expect_error(R"({"do": "ping")", "JSON");
  expect_error("[]", "object");
  expect_error("null", "object");
  expect_error(R"({"do": 3})", "message: do: expected text");
  expect_error(R"({"do": "dance"})", "unique_id");
  expect_error(R"({"do": "join"})", "request");
  expect_error(join + R"("ranks": 2.5}})", "message: request.ranks");
  expect_error(join + R"("ranks": 99999999999}})", "message: request.ranks");
  expect_error(join + R"("ranks": 18446744073709551615}})", "message: request.ranks");
  expect_error(join + R"("ranks": 1e400}})", "message: request.ranks: a number too large");
  expect_error(join + R"("ranks": -1}})", "message: request.ranks");
  expect_error(R"({"do": "measure", "probe": {}})", "probe");
  expect_error(R"({"do": "measure", "probe": {"launch": {"cost": "much"}}})", "launch cost 'much'");
  expect_error(std::string(200'000, '[') + std::string(200'000, ']'), "object");
}

/// Truncated anywhere, or with any byte changed: an error or a message, never a crash.
TEST(Wire, damaged_lines_never_crash) {
  std::mt19937 random(1);
  std::size_t refused = 0;
  for (const Reply& reply : all_replies()) {
    const std::string line = to_line(reply);
    for (std::size_t size = 0; size < line.size(); ++size) {
      EXPECT_FALSE(parse_reply(std::string_view(line).substr(0, size)));
      std::string damaged = line;
      damaged[size] = static_cast<char>(random() % 256);
      if (!parse_reply(damaged)) ++refused;
    }
  }
  EXPECT_GT(refused, 0U);
}

TEST(Wire, a_config_is_its_canonical_line) {
  const RunRequest request = some_run();
  const auto sent = nlohmann::json::parse(to_line(Command(request)));
  const auto& lines = sent.at("request").at("configs");
  ASSERT_EQ(lines.size(), request.configs.size());
  for (std::size_t i = 0; i < lines.size(); ++i) {
    EXPECT_EQ(lines[i], to_string(request.configs[i]));
  }
  auto damaged = sent;
  damaged["request"]["configs"][1] = "chunked ctas=16 chunks=none";
  const auto read = parse_command(damaged.dump());
  ASSERT_FALSE(read);
  EXPECT_NE(read.error().message.find("configs[1]: config: chunks = 'none'"), std::string::npos)
      << read.error().message;
}

}  // namespace
}  // namespace overlaptune::cuda
