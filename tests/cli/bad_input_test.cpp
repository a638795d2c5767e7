// Bad input ends in its exit code and one line on standard error, and leaves nothing behind.

#include <algorithm>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;
using tool::Folder;

const std::string kSmallLlama =
    std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/models/llama-3-70b.json";
const std::string kTuneAnew = "tune --machine sim:h200-nvlink-x8 --db new.db ";
const std::string kGood = "--problem gemm_all_reduce:4096,8192,3584:bf16:8 ";

/// Runs a command line and checks everything that holds for all bad input.
void expect_refused(const Folder& folder, const std::string& command_line, int status,
                    const std::string& words) {
  SCOPED_TRACE(command_line);
  const auto before = folder.entries();
  const tool::Outcome outcome = tool::run(folder, command_line);
  EXPECT_EQ(outcome.status, status);
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, HasSubstr(words));
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(folder.entries(), before);
}

TEST(BadInput, wrong_use) {
  const Folder folder;
  expect_refused(folder, "tuna", 2, "'tuna': expected one of machines, probe, tune");
  expect_refused(folder, "tune --nonsense", 2, "--nonsense: unknown option");
  expect_refused(folder, "query --databse f.db --op x", 2, "query: --databse: unknown option");
  expect_refused(folder, "probe --machine sim:h200-nvlink-x8 --db new.db --ranks 8,8", 2,
                 "8 given twice");
  expect_refused(folder, kTuneAnew + kGood + "--nonsense", 2, "--nonsense");
  expect_refused(folder, kTuneAnew, 2, "expected --model, --problem or --problems");
  expect_refused(folder, kTuneAnew + kGood + "--top-k 0", 2,
                 "--top-k: '0': expected a whole number");
  expect_refused(folder, kTuneAnew + kGood + "--explore -1", 2, "--explore: '-1'");
  expect_refused(folder, kTuneAnew + kGood + "--seed -1", 2, "--seed: '-1'");
  expect_refused(folder, kTuneAnew + kGood + "--budget soon", 2, "--budget: duration 'soon'");
  expect_refused(folder, kTuneAnew + kGood + "--launch later", 2, "expected one of graph, eager");
  expect_refused(folder, kTuneAnew + kGood + "--model " + kSmallLlama, 2, "--model");
  expect_refused(folder, kTuneAnew + kGood + "--sequence-parallel", 2, "--model");
  expect_refused(folder, "report --db " + kSmallLlama + " --format soon", 2, "--format");
}

TEST(BadInput, misspelled_words_have_a_suggestion) {
  const Folder folder;
  expect_refused(folder, "qery", 2, "did you mean 'query'?");
  expect_refused(folder, kTuneAnew + kGood + "--machin auto", 2, "did you mean '--machine'?");
  expect_refused(folder, "db inf", 2, "did you mean 'info'?");
  const std::string of_model = kTuneAnew + "--model " + kSmallLlama + " --tp 8 ";
  expect_refused(folder, of_model + "--tokens 1k 4k", 2, "written with commas, as in 1k,4k");
  expect_refused(folder, of_model + "--tokens 1k --sequence-parallel twice", 2, "both");
}

TEST(BadInput, a_flag_is_not_the_fault_of_the_model_s_file) {
  const Folder folder;
  const std::string of_model = kTuneAnew + "--model " + kSmallLlama + " --tp ";
  expect_refused(folder, of_model + "8 --tokens 0", 2, "overlaptune: --tokens 0: expected 1");
  expect_refused(folder, of_model + "3 --tokens 1k", 2,
                 "--tp 2, 4, 8, 16, 32, 64 would divide all sizes");
}

TEST(BadInput, advice) {
  const Folder folder;
  const std::string of_model = "advise --model " + kSmallLlama + " ";
  const std::string machine = "--machine sim:h200-nvlink-x8 ";
  expect_refused(folder, of_model + "--tokens 1k", 2, "expected --db FILE with results");
  expect_refused(folder, of_model + "--tokens 1k --db f.db " + machine, 2, "excludes");
  expect_refused(folder, of_model + machine, 2, "--tokens: missing");
  expect_refused(folder, of_model + machine + "--tokens 1k,1k", 2, "1k given twice");
  expect_refused(folder, of_model + machine + "--tokens 1k --tp 2,x", 2, "'x': expected a whole");
  expect_refused(folder, of_model + machine + "--tokens 1k --tp 3", 2, "expected a multiple");
  expect_refused(folder, of_model + machine + "--tokens 10 --tp 4 --sequence-parallel yes", 2,
                 "--tokens = 10");
  expect_refused(folder, of_model + machine + "--tokens 1k --tp 16", 2,
                 "--tp 16: sim:h200-nvlink-x8 has 8 GPUs");
  expect_refused(folder, of_model + machine + "--tokens 1k --sequence-parallel maybe", 2, "both");
  expect_refused(folder, of_model + "--tokens 1k --db none.db", 2, "none.db");
  expect_refused(folder, "advise --model none.json --tokens 1k " + machine, 2, "none.json");
}

TEST(BadInput, a_command_without_arguments_shows_its_help) {
  const Folder folder;
  for (const char* command : {"", "db"}) {
    const tool::Outcome outcome = tool::run(folder, command);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_EQ(outcome.out, "");
    EXPECT_THAT(outcome.err, HasSubstr("Usage: overlaptune"));
    EXPECT_THAT(outcome.err, HasSubstr("Example:"));
  }
}

TEST(BadInput, import_of_a_database_names_merge) {
  const Folder folder;
  { const Store store(folder / "kept.db", Access::create); }
  expect_refused(folder, "db import --db new.db kept.db", 2, "`overlaptune db merge`");
}

/// A reader that ends early, as in `overlaptune report … | head`.
TEST(BadInput, who_reads_no_further_is_not_told) {
  const Folder folder;
  const std::string err = (folder / "err").string();
  const std::string line = "set -o pipefail; (sleep 0.2; exec " + std::string(OVERLAPTUNE_PROGRAM) +
                           " machines --json 2> " + err + ") | true";
  EXPECT_EQ(std::system(("bash -c '" + line + "'").c_str()), 0);
  EXPECT_EQ(tool::content(folder / "err"), "");
}

TEST(BadInput, a_database_is_not_overwritten_by_what_is_printed) {
  const Folder folder;
  { const Store store(folder / "kept.db", Access::create); }
  const tool::Outcome outcome = tool::run(folder, "db export --db kept.db --out kept.db");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_THAT(outcome.err, HasSubstr("kept.db: is a database"));
  EXPECT_EQ(Store(folder / "kept.db", Access::read).info().platforms, 0);
}

TEST(BadInput, problems) {
  const Folder folder;
  const std::pair<const char*, const char*> cases[] = {
      {"gemm_all_reduce:0,8192,3584:bf16:8", "m = 0"},
      {"gemm_all_reduce:-8,8192,3584:bf16:8", "m: size '-8'"},
      {"gemm_all_reduce:4096,8191,3584:bf16:8", "n = 8191: expected a multiple of 8"},
      {"gemm_all_reduce:4096,8192,2g:bf16:8", "k = 2147483648: expected 1 to 2^31 - 1"},
      {"gemm_all_reduce:1g,1g,1g:bf16:8", "expected at most the"},
      {"gemm_reduce_scatter:4100,8192,3584:bf16:8", "m = 4100"},
      {"gemm_all_reduce:4096,8192,3584:bf16:1", "ranks = 1"},
      {"gemm_all_reduce:4096,8192,3584:bf16:16", "ranks = 16: expected at most the 8 GPUs"},
      {"gemm_all_reduce:4096,8192,3584:int8:8", "dtype 'int8': expected one of"},
      {"gemm_some_reduce:4096,8192,3584:bf16:8", "op 'gemm_some_reduce': expected one of"},
      {"gemm_all_reduce", "expected OP:M,N,K:dtype:ranks"},
  };
  for (const auto& [problem, words] : cases) {
    expect_refused(folder, kTuneAnew + "--problem " + problem, 2, words);
  }
  expect_refused(folder, kTuneAnew + kGood + "--problem gemm_all_reduce:4k,8k,3584:bf16:8", 2,
                 "given twice");
  expect_refused(folder, kTuneAnew + "--problems nowhere.csv", 2, "nowhere.csv: no such file");
  folder.write("twice.csv",
               "op,m,n,k,dtype,ranks\ngemm_all_reduce,4k,8k,3584,bf16,8\n"
               "gemm_all_reduce,4096,8192,3584,bf16,8\n");
  expect_refused(folder, kTuneAnew + "--problems twice.csv", 2, "line 3: the problem of line 2");
}

TEST(BadInput, text_of_other_encodings) {
  const Folder folder;
  expect_refused(
      folder,
      "sequences --gpus 8 --gpus-per-node 8 --batch 8 --max-length 64k --costs x.json --lengths " +
          std::string(OVERLAPTUNE_TEST_DATA) + "/inputs/lengths-utf16.txt",
      2, "UTF-16: expected UTF-8");
}

TEST(BadInput, numbers_that_are_not_finite_in_fields_that_are_not_read) {
  const Folder folder;
  EXPECT_EQ(
      tool::run(folder, "advise --machine sim:h200-nvlink-x8 --tokens 4k --tp 8 --model " +
                            std::string(OVERLAPTUNE_TEST_DATA) + "/inputs/infinity-in-config.json")
          .status,
      0);
}

TEST(BadInput, model_configs) {
  const Folder folder;
  const std::string rest = " --tp 8 --tokens 4096";
  folder.write("empty.json", "");
  folder.write("huge.json", std::string(32'000'001, ' '));
  folder.write("text.json", "hidden_size = 8192\n");
  folder.write("list.json", "[1, 2]");
  folder.write("typed.json", R"({"model_type": "llama", "hidden_size": "8192",
                                 "num_attention_heads": 64, "intermediate_size": 28672})");
  folder.write("layers.json", R"({"model_type": "llama", "hidden_size": 8192,
                                  "num_attention_heads": 64, "intermediate_size": 28672})");
  expect_refused(folder, kTuneAnew + "--model none.json" + rest, 2, "none.json: no such file");
  expect_refused(folder, kTuneAnew + "--model ." + rest, 2, "not a regular file");
  expect_refused(folder, kTuneAnew + "--model empty.json" + rest, 2, "empty.json: empty");
  expect_refused(folder, kTuneAnew + "--model huge.json" + rest, 2, "larger than 32000000 bytes");
  expect_refused(folder, kTuneAnew + "--model text.json" + rest, 2, "not JSON");
  expect_refused(folder, kTuneAnew + "--model list.json" + rest, 2, "expected the object");
  expect_refused(folder, kTuneAnew + "--model typed.json" + rest, 2, "hidden_size = \"8192\"");
  expect_refused(folder, kTuneAnew + "--model layers.json" + rest, 2, "num_hidden_layers");
  expect_refused(folder, kTuneAnew + "--model " + kSmallLlama, 2, "--tp");
  expect_refused(folder, kTuneAnew + "--model " + kSmallLlama + " --tp 8", 2, "--tokens");
  expect_refused(folder, kTuneAnew + "--model " + kSmallLlama + " --tp 7 --tokens 4k", 2,
                 "num_attention_heads = 64");
  expect_refused(folder, kTuneAnew + "--model " + kSmallLlama + " --tp 8 --tokens 0", 2,
                 "--tokens 0");
  expect_refused(folder, kTuneAnew + "--model " + kSmallLlama + " --tp 8 --tokens 4k,4096", 2,
                 "given twice");
  expect_refused(folder,
                 kTuneAnew + "--model " + kSmallLlama + " --tp 8 --tokens 1001 --sequence-parallel",
                 2, "--tokens = 1001");
  expect_refused(folder, kTuneAnew + "--model " + kSmallLlama + " --tp 16 --tokens 4k", 2,
                 "8 GPUs");
}

TEST(BadInput, machines) {
  const Folder folder;
  expect_refused(folder, "tune --machine sim:abacus --db new.db " + kGood, 2, "'sim:abacus'");
  expect_refused(folder, "probe --machine sim:abacus --db new.db", 2, "sim:h200-nvlink-x8");
  expect_refused(folder, "probe --machine sim:h200-nvlink-x8 --db new.db --ranks 9", 2, "8 GPUs");
  expect_refused(folder, "machines --profile none.json", 2, "none.json");
  folder.write("profile.json", R"({"name": "mine", "sms": -4})");
  expect_refused(folder, kTuneAnew + kGood + "--profile profile.json", 2, "profile.json");
}

TEST(BadInput, a_field_of_a_profile_that_is_not_read_is_a_warning) {
  const Folder folder;
  std::string text = tool::content(std::string(OVERLAPTUNE_SOURCE_DIR) +
                                   "/machine/simulator/profiles/rtx4090-pcie-x4.json");
  const std::string name = "\"rtx4090-pcie-x4\"";
  text.replace(text.find(name), name.size(), "\"mine\", \"pover\": 1");
  folder.write("mine.json", text);
  const tool::Outcome outcome = tool::run(folder, "machines --profile mine.json");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_THAT(outcome.out, HasSubstr("sim:mine"));
  EXPECT_EQ(outcome.err, "warning: mine.json: pover: not a field that is read\n");
  folder.write("named.json", text.replace(text.find("\"mine\""), 6, "\"my node\""));
  expect_refused(folder, "machines --profile named.json", 2,
                 "named.json: name: expected letters, digits, '-', '_' and '.', found \"my node\"");
}

TEST(BadInput, import_of_a_binary_file) {
  const Folder folder;
  folder.write("image", std::string("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) + std::string(999, '\0'));
  expect_refused(folder, "db import --db new.db image", 2, "a byte of 0");
  expect_refused(folder, "db merge --db new.db image", 4, "image");
}

TEST(BadInput, a_platform_is_named_not_its_fingerprint) {
  const Folder folder;
  Platform stored{.machine = "sim", .name = "h200-nvlink-x8", .gpu_count = 8, .sms = 7};
  { Store(folder / "f.db", Access::create).add_platform(stored); }
  const std::string machine = " --db f.db --machine sim:";
  for (const std::string command :
       {"evaluate --held-out 1", "evaluate --again 1", "evaluate --untuned 1"}) {
    const tool::Outcome other = tool::run(folder, command + machine + "rtx4090-pcie-x4");
    EXPECT_EQ(other.status, 2);
    EXPECT_THAT(other.err,
                HasSubstr("has nothing of sim:rtx4090-pcie-x4; it has sim:h200-nvlink-x8"));
    const tool::Outcome namesake = tool::run(folder, command + machine + "h200-nvlink-x8");
    EXPECT_EQ(namesake.status, 2);
    EXPECT_THAT(namesake.err, HasSubstr("sms: 132 here, 7 there"));
  }
  const tool::Outcome run = tool::run(folder, "run" + machine + "h200-nvlink-x8 " + kGood);
  EXPECT_EQ(run.status, 2);
  for (const std::string& text :
       {run.err, tool::run(folder, "query --db f.db --platform x " + kGood).err}) {
    EXPECT_THAT(text, HasSubstr("sim:h200-nvlink-x8"));
    EXPECT_THAT(text, testing::Not(HasSubstr(fingerprint(stored))));
  }
}

TEST(BadInput, configs_to_run) {
  const Folder folder;
  const std::string run =
      "run --machine sim:h200-nvlink-x8 --op gemm_all_reduce --m 4k --n 8k --k 3584 --dtype bf16 ";
  expect_refused(folder, run, 2, "--ranks");
  expect_refused(folder, run + "--ranks 8", 2, "no config given: expected --config");
  expect_refused(folder, run + "--ranks 8 --config fastest", 2, "strategy = 'fastest'");
  expect_refused(folder, run + "--ranks 8 --config sequential --db f.db", 2, "--db");
  expect_refused(folder, run + "--ranks 8 --db none.db", 2, "none.db");
  expect_refused(folder, run + "--ranks 16 --config sequential", 2, "8 GPUs");
  expect_refused(folder, run + "--ranks 8 --config sequential --repetitions 0", 2,
                 "--repetitions: '0'");
}

TEST(BadInput, cuda_without_gpus) {
  const Folder folder;
  const auto list = tool::json(folder, "machines").at("machines");
  for (const auto& machine : list) {
    if (machine.at("name") == "cuda" && machine.at("available") == true) {
      GTEST_SKIP() << "this host has GPUs";
    }
  }
  expect_refused(folder, "probe --machine cuda --db new.db", 3, "cuda");
}

TEST(BadInput, databases) {
  const Folder folder;
  const std::string question =
      " --op gemm_all_reduce --m 4k --n 8k --k 3584 --dtype bf16 --ranks 8";
  const std::string junk(5000, 'x');
  folder.write("junk.db", junk);
  for (const std::string& command :
       {"query --db DB" + question, std::string("evaluate --db DB"), std::string("report --db DB"),
        std::string("db info --db DB"), std::string("db check --db DB"),
        std::string("db export --db DB")}) {
    std::string with = command;
    expect_refused(folder, with.replace(with.find("DB"), 2, "none.db"), 2, "none.db");
    with = command;
    expect_refused(folder, with.replace(with.find("DB"), 2, "junk.db"), 4, "junk.db");
  }
  expect_refused(folder, "tune --machine auto --db junk.db " + kGood, 4, "junk.db");
  expect_refused(folder, "db merge --db new.db junk.db", 4, "junk.db");
  expect_refused(folder, "db import --db new.db junk.db", 2, "junk.db");
  expect_refused(folder, "db import --db new.db none.json", 2, "none.json");
  std::ifstream in(folder / "junk.db");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), junk);
}

TEST(BadInput, questions_to_a_database_without_probes) {
  const Folder folder;
  {
    Store store(folder / "bare.db", Access::create);
    store.add_platform({.machine = "sim",
                        .name = "bare",
                        .gpu_count = 8,
                        .sms = 132,
                        .compute_capability = 90,
                        .memory = {std::int64_t{1} << 37}});
  }
  const std::string question =
      " --db bare.db --op gemm_all_reduce --m 4k --n 8k --k 3584 --dtype bf16 --ranks 8";
  for (const std::string& command : {"query" + question, "query --explain" + question}) {
    const tool::Outcome outcome = tool::run(folder, command);
    EXPECT_EQ(outcome.status, 2);
    EXPECT_THAT(outcome.err, HasSubstr("overlaptune probe"));
    EXPECT_EQ(outcome.out, "");
  }
  EXPECT_EQ(tool::run(folder, "evaluate --db bare.db").status, 2);
  {
    Store store(folder / "bare.db", Access::write);
    store.add_platform({.machine = "sim", .name = "other", .gpu_count = 4});
  }
  const tool::Outcome several = tool::run(folder, "query" + question);
  EXPECT_EQ(several.status, 2);
  EXPECT_THAT(several.err, testing::AllOf(HasSubstr("bare"), HasSubstr("other")));
}

TEST(BadInput, places_that_cannot_be_written) {
  const Folder folder;
  expect_refused(folder, "tune --machine auto --db nowhere/new.db " + kGood, 6, "nowhere");
  expect_refused(folder, "tune --machine auto --db /proc/new.db " + kGood, 6, "/proc/new.db");
}

TEST(BadInput, names_that_lead_nowhere_are_no_defect_of_the_program) {
  const Folder folder;
  std::filesystem::create_symlink("loop", folder / "loop");
  const std::string document = folder.write("document.json", "{}");
  for (const std::string& command :
       std::vector<std::string>{"db import --db loop " + document, "db import --db new.db loop",
                                "db merge --db new.db loop", "db info --db loop",
                                "tune --machine sim:h200-nvlink-x8 --db loop " + kGood,
                                "probe --machine sim:h200-nvlink-x8 --db loop",
                                kTuneAnew + "--tp 8 --tokens 4k --model loop"}) {
    SCOPED_TRACE(command);
    const tool::Outcome outcome = tool::run(folder, command);
    EXPECT_TRUE(outcome.status == 2 || outcome.status == 6) << outcome.status << outcome.err;
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  }
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "loop"));
}

TEST(BadInput, a_pipe_is_named_as_a_file_is) {
  const Folder folder;
  const std::string pipe = folder / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const pid_t writer = fork();
  if (writer == 0) {
    alarm(60);  // nobody may come to read
    const int out = open(pipe.c_str(), O_WRONLY);
    constexpr std::string_view kNoDocument = "no document\n";
    _exit(write(out, kNoDocument.data(), kNoDocument.size()) > 0 ? 0 : 1);
  }
  expect_refused(folder, "db import --db new.db pipe", 2, "pipe: import: not JSON");
  kill(writer, SIGKILL);
  waitpid(writer, nullptr, 0);
}

TEST(BadInput, a_document_that_cannot_be_read) {
  const Folder folder;
  // The system opens this file, but gives nothing of it, as of a file on a failing disk.
  expect_refused(folder, "db import --db new.db /proc/self/mem", 2,
                 "/proc/self/mem: cannot be read: Input/output error");
}

TEST(BadInput, numbers_beyond_all_bounds_in_a_model) {
  const Folder folder;
  for (const std::string field : {"hidden_size", "num_attention_heads", "rope_theta"}) {
    folder.write("model.json", "{\"model_type\": \"llama\", \"" + field + "\": 1e999}");
    expect_refused(folder, kTuneAnew + "--tp 8 --tokens 4k --model model.json", 2,
                   field + ": a number too large to read");
  }
}

}  // namespace
}  // namespace overlaptune
