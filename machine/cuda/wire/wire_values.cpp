#include "machine/cuda/wire/wire_values.hpp"

namespace overlaptune::cuda {
namespace {

Json to_json(const std::vector<Microseconds>& times) {
  Json list = Json::array();
  for (const Microseconds& time : times) list.push_back(time.count());
  return list;
}

std::vector<Microseconds> times_of(const JsonReader& reader) {
  return reader.list([](const JsonReader& time) { return us(time.real()); });
}

Json to_json(const Conditions& conditions) {
  Json json = Json::object();
  if (conditions.sm_clock_mhz) json["sm_clock_mhz"] = *conditions.sm_clock_mhz;
  if (conditions.power_w) json["power_w"] = *conditions.power_w;
  return json;
}

Conditions conditions_of(const JsonReader& reader) {
  Conditions conditions;
  if (reader.has("sm_clock_mhz")) conditions.sm_clock_mhz = reader["sm_clock_mhz"].real();
  if (reader.has("power_w")) conditions.power_w = reader["power_w"].real();
  return conditions;
}

Json to_json(const Tile& tile) {
  return {{"block_m", tile.block_m},
          {"block_n", tile.block_n},
          {"block_k", tile.block_k},
          {"stages", tile.stages},
          {"cluster", tile.cluster}};
}

Tile tile_of(const JsonReader& reader) {
  return {.block_m = reader["block_m"].small(),
          .block_n = reader["block_n"].small(),
          .block_k = reader["block_k"].small(),
          .stages = reader["stages"].small(),
          .cluster = reader["cluster"].small()};
}

struct ProbeWriter {
  Json operator()(const GemmProbe& probe) const {
    return {{"gemm",
             {{"m", probe.m},
              {"n", probe.n},
              {"k", probe.k},
              {"dtype", to_string(probe.dtype)},
              {"tile", to_json(probe.tile)},
              {"raster", probe.raster},
              {"sms", probe.sms}}}};
  }
  Json operator()(const CollectiveProbe& probe) const {
    return {{"collective",
             {{"collective", to_string(probe.collective)},
              {"bytes", probe.bytes.count},
              {"ranks", probe.ranks},
              {"comm_ctas", probe.comm_ctas},
              {"transport", to_string(probe.transport)}}}};
  }
  Json operator()(const ConcurrentProbe& probe) const { return {{"concurrent", both(probe)}}; }
  Json operator()(const SustainedProbe& probe) const { return {{"sustained", both(probe)}}; }
  template <class Both>
  Json both(const Both& probe) const {
    Json fields = (*this)(probe.gemm);
    fields.update((*this)(probe.collective));
    return fields;
  }
  Json operator()(const CopyProbe& probe) const {
    return {{"copy", {{"bytes", probe.bytes.count}, {"ctas", probe.ctas}}}};
  }
  Json operator()(const LaunchProbe& probe) const {
    return {{"launch", {{"cost", to_string(probe.cost)}}}};
  }
};

GemmProbe gemm_probe_of(const JsonReader& reader) {
  return {.m = reader["m"].integer(),
          .n = reader["n"].integer(),
          .k = reader["k"].integer(),
          .dtype = reader["dtype"].name<Dtype>(),
          .tile = tile_of(reader["tile"]),
          .raster = reader["raster"].small(),
          .sms = reader["sms"].small()};
}

CollectiveProbe collective_probe_of(const JsonReader& reader) {
  return {.collective = reader["collective"].name<Collective>(),
          .bytes = {reader["bytes"].integer()},
          .ranks = reader["ranks"].small(),
          .comm_ctas = reader["comm_ctas"].small(),
          .transport = reader["transport"].name<Transport>()};
}

Json to_json(const Activity& activity) {
  return {{"rank", activity.rank},
          {"stream", activity.stream},
          {"kind", to_string(activity.kind)},
          {"name", activity.name},
          {"start_us", activity.start.count()},
          {"end_us", activity.end.count()}};
}

Activity activity_of(const JsonReader& reader) {
  return {.rank = reader["rank"].small(),
          .stream = reader["stream"].small(),
          .kind = reader["kind"].name<ActivityKind>(),
          .name = reader["name"].text(),
          .start = us(reader["start_us"].real()),
          .end = us(reader["end_us"].real())};
}

Json to_json(const ConfigSamples& samples) {
  Json activities = Json::array();
  for (const Activity& activity : samples.activities) activities.push_back(to_json(activity));
  return {{"verdict", to_string(samples.verdict)},
          {"reason", samples.reason},
          {"times_us", to_json(samples.times)},
          {"conditions", to_json(samples.conditions)},
          {"activities", std::move(activities)}};
}

ConfigSamples config_samples_of(const JsonReader& reader) {
  return {.verdict = reader["verdict"].name<Verdict>(),
          .reason = reader["reason"].text(),
          .times = times_of(reader["times_us"]),
          .conditions = conditions_of(reader["conditions"]),
          .activities = reader["activities"].list(activity_of)};
}

Problem problem_of(const JsonReader& reader) {
  const auto problem = parse_problem(reader.text());
  if (!problem) reader.fail(problem.error().message);
  return *problem;
}

}  // namespace

Json to_json(const Device& device) {
  return {{"model", device.model},
          {"sms", device.sms},
          {"compute_capability", device.compute_capability},
          {"memory_bytes", device.memory.count},
          {"driver_version", device.driver_version},
          {"cuda_version", device.cuda_version},
          {"nccl_version", device.nccl_version},
          {"topology", device.topology},
          {"transport", device.link},
          {"pci_bus", device.pci_bus},
          {"numa_node", device.numa_node},
          {"power_limit_w", device.power_limit_w},
          {"max_sm_clock_mhz", device.max_sm_clock_mhz},
          {"ecc", device.ecc}};
}

Device device_of(const JsonReader& reader) {
  return {.model = reader["model"].text(),
          .sms = reader["sms"].small(),
          .compute_capability = reader["compute_capability"].small(),
          .memory = {reader["memory_bytes"].integer()},
          .driver_version = reader["driver_version"].text(),
          .cuda_version = reader["cuda_version"].text(),
          .nccl_version = reader["nccl_version"].text(),
          .topology = reader["topology"].text(),
          .link = reader["transport"].text(),
          .pci_bus = reader["pci_bus"].text(),
          .numa_node = reader["numa_node"].small(-1),
          .power_limit_w = reader["power_limit_w"].real(),
          .max_sm_clock_mhz = reader["max_sm_clock_mhz"].real(),
          .ecc = reader["ecc"].boolean()};
}

Json to_json(const Hello& hello) {
  return {{"protocol", hello.protocol}, {"version", hello.version},
          {"rank", hello.rank},         {"pid", hello.pid},
          {"host", hello.host},         {"device", to_json(hello.device)}};
}

Hello hello_of(const JsonReader& reader) {
  Hello hello{.protocol = reader["protocol"].small(),
              .version = reader["version"].text(),
              .rank = reader["rank"].small(),
              .host = reader["host"].text()};
  if (hello.protocol != kProtocol) return hello;
  hello.pid = reader["pid"].small();
  hello.device = device_of(reader["device"]);
  return hello;
}

Json to_json(const TiledKernel& kernel) {
  return {{"tile", to_json(kernel.tile)},
          {"dtype", to_string(kernel.dtype)},
          {"regions", kernel.regions}};
}

TiledKernel tiled_kernel_of(const JsonReader& reader) {
  return {.tile = tile_of(reader["tile"]),
          .dtype = reader["dtype"].name<Dtype>(),
          .regions = reader["regions"].small()};
}

Json to_json(const JoinRequest& request) {
  return {{"nccl_id", request.nccl_id},
          {"ranks", request.ranks},
          {"allow_multicast", request.allow_multicast}};
}

JoinRequest join_request_of(const JsonReader& reader) {
  return {.nccl_id = reader["nccl_id"].text(),
          .ranks = reader["ranks"].small(),
          .allow_multicast = reader["allow_multicast"].boolean()};
}

Json to_json(const Probe& probe) {
  return std::visit(ProbeWriter{}, probe);
}

Probe probe_of(const JsonReader& reader) {
  if (reader.has("gemm")) return gemm_probe_of(reader["gemm"]);
  if (reader.has("collective")) return collective_probe_of(reader["collective"]);
  if (reader.has("concurrent")) {
    const JsonReader both = reader["concurrent"];
    return ConcurrentProbe{.gemm = gemm_probe_of(both["gemm"]),
                           .collective = collective_probe_of(both["collective"])};
  }
  if (reader.has("sustained")) {
    const JsonReader both = reader["sustained"];
    return SustainedProbe{.gemm = gemm_probe_of(both["gemm"]),
                          .collective = collective_probe_of(both["collective"])};
  }
  if (reader.has("copy")) {
    const JsonReader copy = reader["copy"];
    return CopyProbe{.bytes = {copy["bytes"].integer()}, .ctas = copy["ctas"].small()};
  }
  if (reader.has("launch")) {
    return LaunchProbe{.cost = reader["launch"]["cost"].name<LaunchCost>()};
  }
  reader.fail("expected a gemm, collective, concurrent, sustained, copy or launch probe");
}

Json to_json(const Samples& samples) {
  Json json{{"times_us", to_json(samples.times)},
            {"collective_times_us", to_json(samples.collective_times)},
            {"conditions", to_json(samples.conditions)}};
  if (samples.library_tile) json["library_tile"] = to_json(*samples.library_tile);
  return json;
}

Samples samples_of(const JsonReader& reader) {
  Samples samples{.times = times_of(reader["times_us"]),
                  .collective_times = times_of(reader["collective_times_us"]),
                  .conditions = conditions_of(reader["conditions"])};
  if (reader.has("library_tile")) samples.library_tile = tile_of(reader["library_tile"]);
  return samples;
}

Config config_of(const JsonReader& reader) {
  auto config = parse_config(reader.text());
  if (!config) reader.fail(config.error().message);
  return std::move(*config);
}

Json to_json(const RunRequest& request) {
  Json configs = Json::array();
  for (const Config& config : request.configs) configs.push_back(to_string(config));
  return {{"problem", to_string(request.problem)},
          {"configs", std::move(configs)},
          {"launch", to_string(request.launch)},
          {"repetitions", request.repetitions},
          {"seed", request.seed},
          {"spread", request.spread},
          {"trace", request.trace},
          {"fault", request.fault}};
}

RunRequest run_request_of(const JsonReader& reader) {
  return {.problem = problem_of(reader["problem"]),
          .configs = reader["configs"].list(config_of),
          .launch = reader["launch"].name<Launch>(),
          .repetitions = reader["repetitions"].small(),
          .seed = reader["seed"].seed(),
          .spread = reader["spread"].boolean(),
          .trace = reader["trace"].boolean(),
          .fault = reader["fault"].text()};
}

Json to_json(const RunReply& reply) {
  Json configs = Json::array();
  for (const ConfigSamples& samples : reply.configs) configs.push_back(to_json(samples));
  return {{"configs", std::move(configs)},
          {"gemm_alone_us", to_json(reply.gemm_alone)},
          {"collective_alone_us", to_json(reply.collective_alone)}};
}

RunReply run_reply_of(const JsonReader& reader) {
  return {.configs = reader["configs"].list(config_samples_of),
          .gemm_alone = times_of(reader["gemm_alone_us"]),
          .collective_alone = times_of(reader["collective_alone_us"])};
}

Json to_json(const RunStep& step) {
  return {{"config", step.config}, {"step", step.step}};
}

RunStep run_step_of(const JsonReader& reader) {
  return {.config = reader["config"].small(-1), .step = reader["step"].text()};
}

}  // namespace overlaptune::cuda
