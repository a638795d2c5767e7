// overlaptune whatif, as a user runs it.

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using tool::Folder;

const std::string kData = std::string(OVERLAPTUNE_TEST_DATA) + "/collectives/";
const std::string kModels = std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/models/";
const std::string kReduce = "whatif --op all_reduce --gpus 8 ";

void expect_refused(const Folder& folder, const std::string& command_line,
                    const std::string& words) {
  SCOPED_TRACE(command_line);
  const tool::Outcome outcome = tool::run(folder, command_line);
  EXPECT_EQ(outcome.status, 2);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
}

/// 1.75 x 1 GiB in the 6.5 ms of a bus bandwidth of 290 GB/s and less: between an A100 and an H100.
TEST(WhatIf, one_question) {
  const Folder folder;
  const auto answer = tool::json(folder, kReduce + "--cluster hgx-h100 --bytes 1G --json");
  EXPECT_EQ(answer.at("cluster"), "hgx-h100");
  EXPECT_EQ(answer.at("op"), "all_reduce");
  EXPECT_EQ(answer.at("bytes"), 1 << 30);
  EXPECT_EQ(answer.at("gpus"), 8);
  EXPECT_EQ(answer.at("calibrated"), false);
  EXPECT_EQ(answer.at("algorithm"), answer.at("algorithms").front().at("algorithm"));
  const double us = answer.at("us");
  EXPECT_NEAR(answer.at("algbw_gb_per_s"), (1 << 30) / us / 1e3, 1e-6);
  EXPECT_NEAR(answer.at("busbw_gb_per_s"), 1.75 * (1 << 30) / us / 1e3, 1e-6);
  EXPECT_GT(us, 3000);
  EXPECT_LT(us, 6500);
  EXPECT_FALSE(answer.contains("low_us"));
}

TEST(WhatIf, tables_over_sizes_and_clusters) {
  const Folder folder;
  const auto answers =
      tool::json(folder, kReduce + "--cluster dgx-a100,hgx-h100 --bytes 1M,1G --json")
          .at("answers");
  ASSERT_EQ(answers.size(), 4U);
  EXPECT_EQ(answers[1].at("cluster"), "dgx-a100");
  EXPECT_EQ(answers[2].at("cluster"), "hgx-h100");
  EXPECT_GT(answers[1].at("us"), answers[3].at("us"));
  const tool::Outcome text = tool::run(folder, kReduce + "--cluster hgx-h100 --bytes 1G");
  EXPECT_THAT(text.out, HasSubstr("from data sheets"));
  EXPECT_THAT(text.out, HasSubstr("| nvls "));
}

TEST(WhatIf, a_cluster_of_one_s_own) {
  const Folder folder;
  folder.write("mine.json", R"({"name": "mine", "description": "a ring",
    "launch_us": {"value": 0, "source": "test"}, "levels": [{"name": "wires", "kind": "ring",
    "size": 8, "links": {"value": 1, "source": "test"}, "gb_per_s": {"value": 10, "source": "test"},
    "latency_us": {"value": 0, "source": "test"}}]})");
  // Seven eighths of the bytes twice, half of them each way round.
  const auto answer =
      tool::json(folder, "whatif --cluster mine.json --op all_reduce --gpus 8 --bytes 8000 --json");
  EXPECT_NEAR(answer.at("us"), 2 * 7000 / 2 / 10e3, 1e-9);
  EXPECT_EQ(answer.at("bound_by"), "wires");
}

TEST(WhatIf, calibrated_by_a_file) {
  const Folder folder;
  const std::string question = kReduce + "--cluster h200-rings --json --calibrate ";
  // A measured row: 1 GiB in 5240.0 us.
  const auto known = tool::json(folder, question + kData + "h200_rings.csv --bytes 1G");
  EXPECT_EQ(known.at("calibrated"), true);
  EXPECT_EQ(known.at("calibrated_by"), kData + "h200_rings.csv");
  EXPECT_NEAR(known.at("us"), 5240.0, 1);
  EXPECT_LT(known.at("low_us"), 5240.0);
  EXPECT_GT(known.at("high_us"), 5240.0);
  folder.write("log.txt",
               "# nThread 1 nGpus 8 minBytes 8\n# size count type redop root time algbw busbw\n"
               " 1048576 262144 float sum -1 50.0 1 1 0 49.0 1 1 0\n");
  EXPECT_NEAR(tool::json(folder, question + "log.txt --bytes 1M").at("us"), 50, 0.1);
}

TEST(WhatIf, calibrated_by_a_database) {
  const Folder folder;
  {
    Store store(folder / "f.db", Access::create);
    const PlatformId platform = store.add_platform({.machine = "sim", .name = "x", .gpu_count = 8});
    const ProbeRunId run = store.begin_probe_run(platform, {.program_version = "t"});
    const CollectiveProbe probe{
        .collective = Collective::all_reduce, .bytes = {1 << 20}, .ranks = 8};
    const Summary time{.median = us(44), .p10 = us(43), .p90 = us(45), .count = 9};
    store.add_measurement(run, {.probe = probe, .time = time});
    store.finish_probe_run(run);
  }
  const std::string question = kReduce + "--cluster h200-rings --bytes 1M --calibrate f.db ";
  const auto simulated = tool::json(folder, question + "--json");
  EXPECT_NEAR(simulated.at("us"), 44, 0.1);
  EXPECT_EQ(simulated.at("calibrated_by"), "sim:x");
  // Every line with a figure says that it rests on a simulation.
  std::istringstream lines(tool::run(folder, question).out);
  int figures = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("| ") != 0 || line.find("---") != line.npos || line.find("bound by") != line.npos)
      continue;
    ++figures;
    EXPECT_THAT(line, HasSubstr("sim:x"));
  }
  EXPECT_GE(figures, 2);
  expect_refused(folder, question + "--platform x,x", "also of another platform");
  expect_refused(folder, question + "--platform y", "y");
}

TEST(WhatIf, a_training_step) {
  const Folder folder;
  const auto step = tool::json(folder, "whatif --cluster hgx-h100 --model " + kModels +
                                           "llama-3-70b.json --data-parallel 64 "
                                           "--tensor-parallel 8 --json");
  // 70.55 billion weights in bf16, an eighth on each GPU.
  EXPECT_NEAR(step.at("gradient_bytes"), 70.55e9 * 2 / 8, 0.01e9);
  const double tokens = step.at("hiding_tokens_per_replica");
  EXPECT_EQ(step.at("hiding_tokens"), 64 * tokens);
  // One card of 50 GB/s for each GPU: the ring takes at least 2 x 63/64 of the bytes.
  EXPECT_GT(step.at("all_reduce_us"), 2 * 63.0 / 64 * 17.6e9 / 50e3);
}

TEST(WhatIf, embeddings_that_are_not_counted_are_said) {
  const Folder folder;
  const std::string sizes = R"("model_type": "llama", "hidden_size": 4096, "num_hidden_layers": 32,
    "intermediate_size": 14336, "num_attention_heads": 32)";
  folder.write("none.json", "{" + sizes + "}");
  folder.write("some.json", "{" + sizes + R"(, "vocab_size": 32000})");
  const auto assumed = [&](const std::string& model) {
    return tool::json(folder, "whatif --cluster hgx-h100 --data-parallel 8 --json --model " + model)
        .at("assumptions")
        .dump();
  };
  EXPECT_THAT(assumed("none.json"), HasSubstr("vocab_size is not in the file"));
  EXPECT_THAT(assumed("some.json"), testing::Not(HasSubstr("vocab_size")));
}

TEST(WhatIf, bad_input) {
  const Folder folder;
  folder.write("zero.json", R"({"name": "z", "description": "d",
    "launch_us": {"value": 1, "source": "t"}, "levels": [{"name": "a", "kind": "switch", "size": 8,
    "links": {"value": 1, "source": "t"}, "gb_per_s": {"value": 0, "source": "t"},
    "latency_us": {"value": 0, "source": "t"}}]})");
  const std::string sized = kReduce + "--bytes 1M --cluster ";
  expect_refused(folder, sized + "zero.json", "zero.json: levels[0].gb_per_s.value");
  expect_refused(folder, sized + "hgx-h10", "did you mean 'hgx-h100'?");
  expect_refused(folder, sized + ",hgx-h100", "separated by commas");
  expect_refused(folder, "whatif --bytes 1M --cluster hgx-h100 --gpus 8", "--op: missing");
  expect_refused(folder, kReduce + "--cluster hgx-h100", "--bytes: missing");
  expect_refused(folder, kReduce + "--cluster hgx-h100 --bytes 0", "--bytes 0");
  expect_refused(folder, kReduce + "--cluster hgx-h100 --bytes -1", "size '-1'");
  expect_refused(folder, "whatif --op all_reduce --bytes 1M --cluster hgx-h100", "--gpus: missing");
  expect_refused(folder, "whatif --op all_reduce --bytes 1M --cluster hgx-h100 --gpus 20",
                 "--gpus 20: expected a multiple of the 8");
  expect_refused(folder, "whatif --op broadcast --bytes 1M --cluster hgx-h100 --gpus 8",
                 "op 'broadcast': expected one of all_reduce");
  expect_refused(folder, sized + "hgx-h100 --platform x", "--platform: expected beside a database");
  expect_refused(folder, sized + "hgx-h100 --model x.json", "--model: expected without --op");
  expect_refused(folder, "whatif --cluster hgx-h100 --model " + kModels + "llama-3-8b.json",
                 "--data-parallel: missing");
  expect_refused(folder,
                 "whatif --cluster hgx-h100 --data-parallel 8 --tensor-parallel 3 --model " +
                     kModels + "llama-3-8b.json",
                 "--tensor-parallel 3: expected a divisor");
  expect_refused(folder, "whatif --cluster tpu-v4 --data-parallel 8 --utilisation 0 --model x",
                 "--utilisation: '0'");
}

TEST(WhatIf, bad_rows) {
  const Folder folder;
  const std::string question = kReduce + "--bytes 1M --cluster h200-rings --calibrate ";
  const std::string head = "op,gpus,bytes,us\n";
  folder.write("other.csv", head + "all_gather,8,1024,5\n");
  folder.write("order.csv", head + "all_reduce,8,2048,5\nall_reduce,8,1024,5\n");
  folder.write("zero.csv", head + "all_reduce,8,1024,0\n");
  expect_refused(folder, question + "none.csv", "none.csv: no such file");
  expect_refused(folder, question + "other.csv", "of all_gather, none of all_reduce");
  expect_refused(folder, question + "order.csv", "order.csv: line 3: 1024 bytes");
  expect_refused(folder, question + "zero.csv", "zero.csv: line 2: us = '0'");
}

const std::string kInputs = std::string(OVERLAPTUNE_TEST_DATA) + "/inputs/";

TEST(WhatIf, rows_of_rccl_tests_and_quoted_ones) {
  const Folder folder;
  const std::string question = kReduce + "--cluster hgx-h100 --bytes 1G --json --calibrate ";
  for (const char* file : {"calibrate-rccl-tests.csv", "calibrate-quoted.csv"}) {
    EXPECT_NEAR(tool::json(folder, question + kInputs + file).at("us"), 5239.58, 0.1) << file;
  }
  expect_refused(folder, question + kInputs + "nccl-tests-elided72.txt", "has 4 of 72");
  expect_refused(folder, question + kInputs + "nccl-tests-wrong.txt", "line 16: #wrong is 524288");
}

TEST(WhatIf, a_row_that_links_cannot_carry_is_a_warning) {
  const Folder folder;
  folder.write("fast.csv", "op,gpus,bytes,us\nall_reduce,8,1073741824,1\n");
  const tool::Outcome outcome =
      tool::run(folder, kReduce + "--cluster hgx-h100 --bytes 1G --calibrate fast.csv");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.err, HasSubstr("fast.csv: line 2: all_reduce of 1073741824 bytes on 8 GPUs"));
  EXPECT_THAT(outcome.err, HasSubstr("more than the links of hgx-h100 carry"));
}

TEST(WhatIf, a_mesh_is_said) {
  const Folder folder;
  const tool::Outcome outcome =
      tool::run(folder, "whatif --op send --gpus 2 --bytes 1GiB --json --cluster " + kInputs +
                            "cluster-mesh-8.json");
  EXPECT_NEAR(nlohmann::json::parse(outcome.out).at("us"), 22370, 10);
  EXPECT_THAT(outcome.err, HasSubstr("taken for a full mesh"));
}

}  // namespace
}  // namespace overlaptune
