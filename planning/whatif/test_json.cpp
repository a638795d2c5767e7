// The JSON that nccl-tests (`-J`; src/util.cu) and rccl-tests (`-Z json`) write.

#include <algorithm>

#include <fmt/format.h>

#include "json/parse.hpp"
#include "json/reader.hpp"
#include "planning/whatif/row_forms.hpp"

namespace overlaptune::cluster {
namespace {

using nlohmann::json;

std::string text_of(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The names that any object of a list has: a later one may be the first to say that its results
/// were wrong.
std::vector<std::string> names_in_list(const json& document) {
  std::vector<std::string> names;
  for (const json& object : document) {
    if (!object.is_object()) continue;
    for (const auto& [name, value] : object.items()) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  return names;
}

/// A list of objects with the columns of the CSV.
Rows rows_of_list(const json& document, const std::string& origin) {
  if (document.empty() || !document[0].is_object()) {
    JsonReader(document, origin).fail("expected a list of objects, as rccl-tests writes it");
  }
  const std::vector<std::string> names = names_in_list(document);
  const RowTable table(names, origin);
  Rows rows;
  for (std::size_t i = 0; i < document.size(); ++i) {
    const std::string place = fmt::format("{}: [{}]", origin, i);
    std::vector<std::string> cells;
    for (const std::string& name : names) {
      const bool there =
          document[i].is_object() && document[i].contains(name) && !document[i][name].is_null();
      cells.push_back(there ? text_of(document[i][name]) : "");
    }
    if (const auto row = table.row(cells, place)) rows.push_back(*row);
  }
  return rows;
}

int gpus_of(const JsonReader& config) {
  const JsonReader devices = config["devices"];
  RankList ranks;
  devices.each([&](const JsonReader& device) {
    const int group = device.has("group") ? device["group"].small(0, kMostGpus) : 0;
    if (const auto added = ranks.add(device["rank"].small(0, kMostGpus), group); !added) {
      device.fail(added.error().message);
    }
  });
  if (ranks.empty()) devices.fail("expected the GPUs of the run, found none");
  const auto each =
      std::int64_t{config["nthreads"].small(1, kMostGpus)} * config["ngpus"].small(1, kMostGpus);
  if (each > kMostGpus) config["ngpus"].fail("expected fewer GPUs");
  const auto gpus = ranks.gpus(static_cast<int>(each));
  if (!gpus) devices.fail(gpus.error().message);
  if (*gpus < 2) devices.fail("expected at least 2 GPUs");
  return *gpus;
}

/// The name of the last GPU of a run; empty where none is.
std::string gpu_of(const JsonReader& config) {
  std::string name;
  const JsonReader devices = config["devices"];
  devices.each([&](const JsonReader& device) {
    if (device.has("device_info") && device["device_info"].is_text()) {
      name = device["device_info"].text();
    }
  });
  return name;
}

Operation operation_of(const JsonReader& root, Operation asked) {
  if (!root.has("args")) return asked;
  const JsonReader args = root["args"];
  std::optional<Operation> named;
  args.each([&](const JsonReader& each) {
    const auto found = operation_in(each.is_text() ? each.text() : "");
    if (!found) each.fail(found.error().message);
    if (*found && !named) named = *found;
  });
  return named.value_or(asked);
}

/// The settings of a run, by the names of util.cu.
Sweep sweep_of(const JsonReader& config) {
  Sweep sweep;
  const auto read = [&](const char* name, double& value) {
    if (config.has(name)) value = config[name].number(0, 1e18);
  };
  read("maximum_bytes", sweep.most);
  read("step_factor", sweep.factor);
  read("step_bytes", sweep.step);
  return sweep;
}

/// Throws: out-of-place or in-place results that were wrong. Null: they were not checked.
void check_wrong_in(const JsonReader& result) {
  for (const char* way : {"out_of_place", "in_place"}) {
    if (!result.has(way)) continue;
    const JsonReader timed = result[way];
    if (!timed.has("nwrong")) continue;
    const JsonReader wrong = timed["nwrong"];
    if (wrong.number() != 0) wrong.fail("expected 0: wrong results have no time");
  }
}

/// Throws: a run that found results wrong. The test writes "okay" as a text.
void check_bounds(const JsonReader& root) {
  if (!root.has("out_of_bounds")) return;
  const JsonReader bounds = root["out_of_bounds"];
  if (bounds.has("count")) {
    const JsonReader count = bounds["count"];
    if (count.integer() > 0) count.fail("expected 0: wrong results have no time");
  }
  if (!bounds.has("okay")) return;
  const JsonReader okay = bounds["okay"];
  const bool is_good = okay.is_text() ? okay.text() == "true" : okay.boolean();
  if (!is_good) okay.fail("expected true: wrong results have no time");
}

Rows rows_of_run(const JsonReader& root, const std::string& origin, Operation asked) {
  const JsonReader results = root["results"];
  const JsonReader config = root["config"];
  const int gpus = gpus_of(config);
  const std::string gpu = gpu_of(config);
  const Operation operation = operation_of(root, asked);
  check_bounds(root);
  Rows rows;
  std::size_t index = 0;
  results.each([&](const JsonReader& at) {
    const std::string place = fmt::format("{}: results[{}]", origin, index++);
    const double bytes = at["size"].number(0, 1e18);
    check_wrong_in(at);
    if (bytes == 0 || !at.has("out_of_place")) return;
    const JsonReader timed = at["out_of_place"];
    const double us = timed[timed.has("time") ? "time" : "cpu_time"].number(1e-6, 1e12);
    const double algbw = timed["alg_bw"].number();
    rows.push_back({operation, gpus, bytes, us, place, bus_share(algbw, timed["bus_bw"].number()),
                    gpu, known_rate(algbw), 0});
  });
  const Sweep sweep = sweep_of(config);
  if (!rows.empty() && sweep.goes_on_after(rows.back().bytes)) rows.back().run_to = sweep.most;
  return rows;
}

}  // namespace

Rows parse_test_json(std::string_view text, const std::string& origin, Operation asked) {
  const json document = parse_unique_json(text, origin);
  Rows rows = document.is_array() ? rows_of_list(document, origin)
                                  : rows_of_run(JsonReader(document, origin), origin, asked);
  if (rows.empty()) fail_at(origin, "expected results of nccl-tests, found none");
  return rows;
}

}  // namespace overlaptune::cluster
