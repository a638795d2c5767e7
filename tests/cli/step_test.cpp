// overlaptune step, as a user runs it.

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using tool::Folder;

constexpr const char* kLlamaOfStep = R"({"model_type": "llama", "hidden_size": 1024,
    "intermediate_size": 4096, "num_attention_heads": 8, "num_key_value_heads": 4,
    "num_hidden_layers": 3, "torch_dtype": "bfloat16"})";

void expect_refused(const Folder& folder, const std::string& command_line,
                    const std::string& words) {
  SCOPED_TRACE(command_line);
  const tool::Outcome outcome = tool::run(folder, command_line);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// A database with quick probes of 4 ranks, and a model of three layers.
void make_database(const Folder& folder) {
  folder.write("small.json", kLlamaOfStep);
  tool::json(folder,
             "tune --machine sim:rtx4090-pcie-x4 --db f.db --quick-probe --top-k 1 "
             "--problem gemm_reduce_scatter:2048,1024,256:bf16:4");
}

TEST(Step, a_training_step_from_a_database) {
  const Folder folder;
  make_database(folder);
  const std::string question = "step --db f.db --model small.json --tp 4 --tokens 2k ";
  const json step =
      tool::json(folder, question + "--dp 8 --data-parallel-gb-per-s 10 --trace t.json --json");
  EXPECT_EQ(step.at("simulated"), true);
  const double sequential = step.at("sequential_us");
  const double operations = step.at("operations_us");
  const double scheduled = step.at("scheduled_us");
  EXPECT_LE(operations, sequential);
  EXPECT_LE(scheduled, operations);
  EXPECT_LE(step.at("ideal_us").get<double>(), scheduled);
  // Gradients of three layers: 2 x (1024 x (512 + 256) + 3 x 1024 x 1024) bytes on each GPU.
  EXPECT_NEAR(step.at("sequential_exposed_us").at("gradient_reduce_scatter"),
              3 * 2 * (1024 * (512 + 256) + 3 * 1024 * 1024) * 7.0 / 8 / 10e3, 1e-6);
  std::set<std::string> sources;
  double last = 0;
  for (const json& node : step.at("nodes")) {
    EXPECT_LE(node.at("start_us"), node.at("end_us"));
    last = std::max(last, node.at("end_us").get<double>());
    sources.insert(node.at("cost_source"));
    EXPECT_THAT(node.at("resource").get<std::string>(), testing::AnyOf("compute", "links", "both"));
  }
  EXPECT_NEAR(last, scheduled, 1e-6);
  EXPECT_TRUE(sources.contains("predicted") && sources.contains("link rate given") &&
              sources.contains("memory rate of the data sheet"));
  const json trace = json::parse(tool::content(folder / "t.json"));
  const auto events = std::count_if(trace.at("traceEvents").begin(), trace.at("traceEvents").end(),
                                    [](const json& event) { return event.at("ph") == "X"; });
  // A fused pair is on both threads.
  EXPECT_EQ(events, std::accumulate(step.at("nodes").begin(), step.at("nodes").end(), 0,
                                    [](int sum, const json& node) {
                                      return sum + (node.at("resource") == "both" ? 2 : 1);
                                    }));

  const tool::Outcome text = tool::run(folder, question + "--scope forward");
  EXPECT_EQ(text.status, 0) << text.err;
  std::istringstream lines(text.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.find("machine") != line.npos || line.find("---") != line.npos)
      continue;
    if (line.starts_with("Note: not in the file")) continue;  // sizes of the model
    EXPECT_TRUE(line.find("sim:rtx4090-pcie-x4") != line.npos ||
                line.find("(simulated)") != line.npos)
        << line;
  }
  expect_refused(folder, "step --db f.db --model small.json --tp 3 --tokens 2k",
                 "num_attention_heads = 8: expected a multiple of --tp 3");
  expect_refused(folder, "step --db f.db --model small.json --tp 4 --tokens 1001",
                 "--tokens: 1001 in a micro-batch: expected a multiple of --tp 4");
  expect_refused(folder, "step --db f.db --model small.json --tp 2 --tokens 2k", "probe --ranks 2");
  expect_refused(folder, question + "--dp 8", "--dp 8: ");
}

/// The answer of `step` for one layer of the model of `make_database`: its tasks by their names.
std::map<std::string, json> tasks_of_layer(const Folder& folder, const std::string& more = "") {
  const json layer = tool::json(folder,
                                "step --db f.db --model small.json --tp 4 --tokens 2k --scope "
                                "layer --json" +
                                    more);
  std::map<std::string, json> tasks;
  for (const json& task : layer.at("tasks")) tasks[task.at("name")] = task;
  return tasks;
}

/// An export of the database with a run that has these operations, as `compare-step --store` makes
/// it.
json with_layer_run(const Folder& folder, const json& measurements) {
  json document = tool::json(folder, "db export --db f.db");
  json run = document.at("probe_runs").at(0);
  run["uid"] = "0123456789abcdef0123456789abcdef";
  run["measurements"] = measurements;
  document["probe_runs"] = json::array({run});
  document["tuning_runs"] = document["winners"] = json::array();
  return document;
}

json layer_row(const std::string& work, const json& amount, int ranks, double us) {
  return {{"probe", {{"kind", "layer"}, {"work", work}, {"amount", amount}, {"ranks", ranks}}},
          {"time", {{"median_us", us}, {"p10_us", 0.5 * us}, {"p90_us", 4 * us}, {"count", 5}}},
          {"collective_time", nullptr},
          {"library_tile", nullptr},
          {"sm_clock_mhz", nullptr},
          {"power_w", nullptr}};
}

TEST(Step, stored_times_of_operations_are_taken) {
  const Folder folder;
  make_database(folder);
  const auto assumed = tasks_of_layer(folder);
  const json& norm = assumed.at("forward mlp norm 0");
  const json& gather = assumed.at("forward all_gather of qkv 0");
  const std::int64_t bytes = norm.at("amount");
  EXPECT_EQ(norm.at("work"), "norm");
  EXPECT_EQ(bytes, 4 * 512 * 1024 * 2);  // two tensors of 512 tokens, read and written
  EXPECT_EQ(gather.at("amount"), 2048 * 1024 * 2);
  EXPECT_LT(norm.at("low_us"), norm.at("us"));
  EXPECT_GT(norm.at("high_us"), norm.at("us"));

  folder.write(
      "layer.json",
      with_layer_run(folder, {layer_row("norm", bytes, 1, 345), layer_row("rope", 1000, 1, 2),
                              layer_row("all_gather", gather.at("amount"), 4, 456)})
          .dump());
  const auto fit_before = tool::run(folder, "db check --db f.db");
  tool::json(folder, "db import --db f.db layer.json --json");
  EXPECT_EQ(tool::run(folder, "db check --db f.db").out, fit_before.out);
  const auto stored = tasks_of_layer(folder);
  for (const char* const name : {"forward mlp norm 0", "forward attention norm 0"}) {
    EXPECT_DOUBLE_EQ(stored.at(name).at("us"), 345);
    EXPECT_DOUBLE_EQ(stored.at(name).at("low_us"), 0.5 * 345);
    EXPECT_DOUBLE_EQ(stored.at(name).at("high_us"), 4 * 345);
    EXPECT_EQ(stored.at(name).at("cost_source"), "measured in a graph");
  }
  EXPECT_DOUBLE_EQ(stored.at("forward all_gather of qkv 0").at("us"), 456);
  const json& rope = stored.at("forward rope 0");
  EXPECT_EQ(rope.at("cost_source"), "extrapolated");
  // From the one time that is stored, at the rate that was assumed for norm and rope.
  const json& other = assumed.at("forward rope 0");
  const double more = rope.at("amount").get<double>() - 1000;
  const double rate = (norm.at("us").get<double>() - other.at("us").get<double>()) /
                      (norm.at("amount").get<double>() - other.at("amount").get<double>());
  EXPECT_NEAR(rope.at("us"), 2 + rate * more, 1e-6);
  // All else is as it was, but that GEMMs have the clock of the step, which is another one by less
  // than 1 %.
  for (const auto& [name, task] : stored) {
    if (task.value("work", "") == "norm" || task.value("work", "") == "rope" ||
        task.value("work", "") == "all_gather") {
      continue;
    }
    json expected = assumed.at(name);
    for (const char* const time : {"us", "low_us", "high_us"}) {
      EXPECT_NEAR(task.at(time), expected.at(time), 0.01 * expected.at(time).get<double>()) << name;
      expected[time] = task.at(time);
    }
    EXPECT_EQ(task, expected) << name;
  }
  // A rate that is given comes first; a copy of the database says the same.
  EXPECT_LT(tasks_of_layer(folder, " --memory-gb-per-s 1000").at("forward mlp norm 0").at("us"),
            100);
  folder.write("all.json", tool::json(folder, "db export --db f.db").dump());
  tool::run(folder, "db import --db g.db all.json");
  EXPECT_EQ(tool::json(folder, "db export --db g.db"), tool::json(folder, "db export --db f.db"));

  const std::string place = "probe_runs[0].measurements[0]";
  for (const auto& [amount, words] :
       {std::pair(json(0), place + ": amount is 0; expected 1 to 1152921504606846976"),
        std::pair(json(std::int64_t{1} << 61), place + ": amount is 2305843009213693952; expected"),
        std::pair(json(-5), place + ".probe.amount: expected a whole number from 0"),
        std::pair(json(1.5), place + ".probe.amount: expected a whole number from 0")}) {
    folder.write("bad.json",
                 with_layer_run(folder, json::array({layer_row("norm", amount, 1, 3)})).dump());
    expect_refused(folder, "db import --db f.db bad.json", words);
  }
  folder.write("bad.json",
               with_layer_run(folder, json::array({layer_row("nrom", 5, 1, 3)})).dump());
  expect_refused(folder, "db import --db f.db bad.json", "'nrom': expected one of norm, rope");
  EXPECT_EQ(tasks_of_layer(folder), stored);
}

TEST(Step, its_tasks_and_fusions_are_a_graph_to_plan) {
  const Folder folder;
  folder.write("small.json", kLlamaOfStep);
  const json layer = tool::json(folder,
                                "step --machine sim:h200-nvlink-x8 --model small.json --tp 2 "
                                "--tokens 32k --scope layer --json");
  double sum = 0;
  std::set<std::string> sources;
  for (const json& task : layer.at("tasks")) {
    sum += task.at("us").get<double>();
    sources.insert(task.at("cost_source"));
  }
  EXPECT_NEAR(sum, layer.at("sequential_us"), 1e-6);
  EXPECT_TRUE(sources.contains("predicted") && sources.contains("tensor rate probed"));
  EXPECT_FALSE(layer.at("fusions").empty());
  folder.write("layer.json", layer.dump());
  const json again = tool::json(folder, "step --graph layer.json --json");
  for (const char* const field : {"sequential_us", "operations_us", "ideal_us"}) {
    EXPECT_NEAR(again.at(field), layer.at(field), 1e-6) << field;
  }
}

/// A model of 8-bit products beside that of `make_database`, and a database with probes of both.
void make_8_bit_database(const Folder& folder) {
  folder.write("small.json", kLlamaOfStep);
  json quantised = json::parse(kLlamaOfStep);
  quantised["quantization_config"] = {{"quant_method", "fbgemm_fp8"}};
  folder.write("eight.json", quantised.dump());
  quantised["quantization_config"] = {{"quant_method", "fbgemm_fp8"},
                                      {"modules_to_not_convert", {"q_proj", "k_proj", "v_proj"}}};
  folder.write("kept.json", quantised.dump());
  tool::json(folder,
             "tune --machine sim:h200-nvlink-x4 --db f.db --quick-probe --top-k 1 "
             "--problem gemm_reduce_scatter:2048,1024,256:bf16:4 "
             "--problem gemm_reduce_scatter:2048,1024,256:e4m3_rows_bf16:4");
}

/// The tasks of a plan that `tool::json` gave, by their names.
std::map<std::string, json> by_name(const json& plan) {
  std::map<std::string, json> tasks;
  for (const json& task : plan.at("tasks")) tasks[task.at("name")] = task;
  return tasks;
}

TEST(Step, a_layer_of_8_bit_products) {
  const Folder folder;
  make_8_bit_database(folder);
  const auto layer = [&](const std::string& model) {
    return tool::json(folder, "step --db f.db --tp 4 --tokens 2k --scope layer --json --model " +
                                  model + ".json");
  };
  const json plan = layer("eight");
  const auto eight = by_name(plan);
  const auto sixteen = by_name(layer("small"));
  EXPECT_EQ(eight.size(), sixteen.size() + 4);
  EXPECT_EQ(eight.at("forward qkv 0").at("dtype"), "e4m3_rows_bf16");
  EXPECT_EQ(sixteen.at("forward qkv 0").at("dtype"), "bf16");
  EXPECT_FALSE(eight.at("forward rope 0").contains("dtype"));
  // 2048 tokens of 1024 elements; each GPU has 512 of them before the gather.
  EXPECT_EQ(eight.at("forward all_gather of qkv 0").at("amount"), 2048 * 1024);
  EXPECT_EQ(sixteen.at("forward all_gather of qkv 0").at("amount"), 2 * 2048 * 1024);
  EXPECT_EQ(eight.at("forward reduce_scatter of o 0").at("amount"), 2 * 2048 * 1024);
  const json& quantised = eight.at("forward quantise gate_up 0");
  EXPECT_EQ(quantised.at("work"), "quantise");
  EXPECT_EQ(quantised.at("amount"), 5 * 512 * 1024);
  EXPECT_EQ(eight.at("forward quantise down 0").at("amount"), 5 * 2048 * 1024);
  EXPECT_EQ(eight.at("forward attention 0").at("us"), sixteen.at("forward attention 0").at("us"));
  EXPECT_LT(eight.at("forward gate_up 0").at("us"), sixteen.at("forward gate_up 0").at("us"));
  EXPECT_THAT(plan.at("notes").dump(), HasSubstr("quantising"));
  EXPECT_THAT(plan.at("notes").dump(), HasSubstr("a GEMM of 8192 in bf16"));

  const auto kept = by_name(layer("kept"));
  EXPECT_FALSE(kept.contains("forward quantise qkv 0"));
  EXPECT_TRUE(kept.contains("forward quantise o 0"));
  EXPECT_EQ(kept.at("forward qkv 0").at("dtype"), "bf16");
  EXPECT_EQ(kept.at("forward all_gather of qkv 0").at("amount"), 2 * 2048 * 1024);
  EXPECT_EQ(kept.at("forward all_gather of gate_up 0").at("amount"), 2048 * 1024);

  folder.write("plan.json", plan.dump());
  const json again = tool::json(folder, "step --graph plan.json --json");
  for (const char* const field : {"sequential_us", "operations_us", "ideal_us"}) {
    EXPECT_NEAR(again.at(field), plan.at(field), 1e-6) << field;
  }

  folder.write(
      "layer.json",
      with_layer_run(folder, json::array({layer_row("quantise", quantised.at("amount"), 1, 123)}))
          .dump());
  tool::json(folder, "db import --db f.db layer.json --json");
  const auto stored = by_name(layer("eight"));
  EXPECT_EQ(stored.at("forward quantise qkv 0").at("us"), 123);
  EXPECT_EQ(stored.at("forward quantise qkv 0").at("cost_source"), "measured in a graph");

  for (const char* const scope : {"", " --scope step"}) {
    expect_refused(folder,
                   std::string("step --db f.db --model eight.json --tp 4 --tokens 2k") + scope,
                   "eight: products of e4m3_rows_bf16 have no backward pass: expected --scope "
                   "layer or --scope forward");
  }
  tool::json(folder, "step --db f.db --model eight.json --tp 4 --tokens 2k --scope forward --json");
}

TEST(Step, attention_beside_8_bit_products_needs_a_rate_of_16_bits) {
  const Folder folder;
  make_8_bit_database(folder);
  tool::json(folder,
             "tune --machine sim:h200-nvlink-x4 --db eight.db --quick-probe --top-k 1 "
             "--problem gemm_reduce_scatter:2048,1024,256:e4m3_rows_bf16:4");
  const std::string question = "step --db eight.db --model eight.json --tp 4 --tokens 2k ";
  expect_refused(folder, question + "--scope layer",
                 "run `overlaptune probe --dtype bf16` first, for attention; or give "
                 "--attention-tflops");
  // More probes would not help a training step.
  expect_refused(folder, question, "have no backward pass");
  const json given = tool::json(folder, question + "--scope layer --attention-tflops 400 --json");
  EXPECT_EQ(by_name(given).at("forward attention 0").at("cost_source"), "tensor rate given");
}

TEST(Step, a_winner_that_is_sequential_by_another_transport_is_a_cost_of_the_pair) {
  const Folder folder;
  folder.write("small.json", kLlamaOfStep);
  const json tuned =
      tool::json(folder,
                 "tune --machine sim:h200-nvlink-x4 --db f.db --quick-probe --top-k 1 "
                 "--problem gemm_reduce_scatter:128,1024,256:bf16:4");
  EXPECT_TRUE(tuned.at("winners").at(0).at("overlap_fraction").is_null());  // nothing overlaps
  const json winner = tool::json(folder,
                                 "query --db f.db --op gemm_reduce_scatter --m 128 --n 1024 "
                                 "--k 256 --dtype bf16 --ranks 4 --json");
  ASSERT_EQ(winner.at("config").at("strategy"), "sequential");
  ASSERT_EQ(winner.at("config").at("transport"), "peer_access");
  const json layer = tool::json(
      folder, "step --db f.db --model small.json --tp 4 --tokens 128 --scope layer --json");
  const json& fusions = layer.at("fusions");
  const auto o = std::find_if(fusions.begin(), fusions.end(), [](const json& fusion) {
    return fusion.at("compute") == "forward o 0";
  });
  ASSERT_NE(o, fusions.end());
  EXPECT_EQ(o->at("cost_source"), "measured");
  // The gap before a kernel is in it, the replay is not.
  EXPECT_NEAR(o->at("us").get<double>(), winner.at("measured_us").get<double>(), 10);
}

TEST(Step, a_machine_that_is_probed_now) {
  const Folder folder;
  folder.write("small.json", kLlamaOfStep);
  const json step = tool::json(folder,
                               "step --machine sim:rtx4090-pcie-x4 --model small.json --tp 2 "
                               "--dp 2 --tokens 2k --sequence-parallel no --json");
  EXPECT_EQ(step.at("full_name"), "sim:rtx4090-pcie-x4");
  EXPECT_LE(step.at("scheduled_us"), step.at("operations_us"));
  EXPECT_GT(step.at("sequential_exposed_us").at("all_reduce"), 0);
  EXPECT_GT(step.at("sequential_exposed_us").at("gradient_reduce_scatter"), 0);
}

TEST(Step, a_graph_of_one_s_own) {
  const Folder folder;
  folder.write("graph.json", R"({"tasks": [
      {"name": "a", "resource": "compute", "us": 2},
      {"name": "sum", "resource": "links", "us": 3, "after": ["a"]},
      {"name": "b", "resource": "compute", "us": 3},
      {"name": "c", "resource": "compute", "us": 2, "after": ["sum"]}],
    "fusions": [{"compute": "a", "links": "sum", "us": 4}]})");
  const json plan = tool::json(folder, "step --graph graph.json --json");
  EXPECT_EQ(plan.at("sequential_us"), 10);
  EXPECT_EQ(plan.at("operations_us"), 9);
  EXPECT_EQ(plan.at("scheduled_us"), 7);  // b beside the sum; fused it were 9
  EXPECT_EQ(plan.at("exposed_us").at("sum"), 0);
  EXPECT_EQ(plan.at("nodes").size(), 4U);
}

TEST(Step, bad_input) {
  const Folder folder;
  folder.write("small.json", kLlamaOfStep);
  folder.write("cycle.json", R"({"tasks": [
      {"name": "a", "resource": "compute", "us": 2, "after": ["b"]},
      {"name": "b", "resource": "links", "us": 3, "after": ["a"]}]})");
  folder.write("unknown.json", R"({"tasks": [
      {"name": "a", "resource": "compute", "us": 2, "after": ["x"]}]})");
  folder.write("twice.json", R"({"tasks": [{"name": "a", "resource": "compute", "us": 2},
      {"name": "a", "resource": "compute", "us": 2}]})");
  folder.write("negative.json", R"({"tasks": [{"name": "a", "resource": "compute", "us": -2}]})");
  folder.write("resource.json", R"({"tasks": [{"name": "a", "resource": "disk", "us": 2}]})");
  folder.write("none.json", R"({"tasks": []})");
  expect_refused(folder, "step --graph cycle.json", "cycle.json: task 'a': waits for itself");
  expect_refused(folder, "step --graph unknown.json", "unknown.json: tasks[0].after[0]: no task");
  expect_refused(folder, "step --graph twice.json",
                 "twice.json: tasks[1].name: 'a' is there twice");
  expect_refused(folder, "step --graph negative.json", "negative.json: tasks[0].us");
  expect_refused(folder, "step --graph resource.json", "resource.json: tasks[0].resource");
  expect_refused(folder, "step --graph none.json", "at least one task");
  expect_refused(folder, "step --graph missing.json", "missing.json");
  expect_refused(folder, "step", "expected --model FILE with --db or --machine, or --graph FILE");
  expect_refused(folder, "step --model small.json --tokens 1k", "--db: missing");
  expect_refused(folder, "step --model small.json --db f.db", "--tokens: missing");
  expect_refused(folder, "step --model small.json --db f.db --tokens 0", "--tokens: '0'");
  expect_refused(folder, "step --model small.json --db f.db --tokens 1k --tp 0", "--tp: '0'");
  expect_refused(folder, "step --model small.json --db f.db --tokens 1k --memory-gb-per-s nan",
                 "--memory-gb-per-s: 'nan'");
  expect_refused(folder, "step --model small.json --db f.db --tokens 1k --scope all",
                 "scope 'all': expected one of layer, forward, step");
}

TEST(Step, graphs_with_unknown_fields_are_refused) {
  const Folder folder;
  const std::string inputs = std::string(OVERLAPTUNE_TEST_DATA) + "/inputs/";
  expect_refused(folder, "step --graph " + inputs + "graph-depends_on.json",
                 "depends_on: not a field that is read");
  expect_refused(folder, "step --graph " + inputs + "graph-fusion-typo.json",
                 "not a field that is read");
  EXPECT_NEAR(
      tool::json(folder, "step --graph " + inputs + "graph-right.json --json").at("scheduled_us"),
      290, 1e-6);
}

TEST(Step, more_gpus_than_were_probed_need_a_rate) {
  const Folder folder;
  make_database(folder);
  const std::string question = "step --db f.db --model small.json --tp 4 --dp 4 --tokens 2k";
  expect_refused(folder, question, "--dp 4: with --tp 4 16 GPUs, of which 4 were probed");
  EXPECT_EQ(tool::run(folder, question + " --data-parallel-gb-per-s 50").status, 0);
}

}  // namespace
}  // namespace overlaptune
