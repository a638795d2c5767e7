// The output of each subcommand, on a database that a small run has filled.

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <unistd.h>
#include <vector>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;
using tool::Folder;
using tool::kKnown;
using tool::kTune;

class Commands : public tool::Tuned {};

const std::string kUnknown =
    " --db f.db --op gemm_all_reduce --m 6k --n 4k --k 1k --dtype bf16"
    " --ranks 4";

TEST(Help, every_subcommand_has_an_example) {
  const Folder folder;
  for (const char* command :
       {"",         "machines",  "probe",      "tune",        "run",      "query",
        "advise",   "evaluate",  "report",     "db",          "whatif",   "sequences",
        "db info",  "db check",  "db export",  "db import",   "db merge", "kernels",
        "db prune", "db delete", "cache info", "cache clear", "step"}) {
    const tool::Outcome outcome = tool::run(folder, std::string(command) + " --help");
    EXPECT_EQ(outcome.status, 0) << command;
    EXPECT_EQ(outcome.err, "") << command;
    EXPECT_THAT(outcome.out, HasSubstr("Example:\n  overlaptune " + std::string(command)));
  }
  EXPECT_THAT(tool::run(folder, "--version").out, testing::StartsWith("overlaptune "));
}

TEST(Machines, four_simulated_ones_and_cuda) {
  const Folder folder;
  std::vector<std::string> names;
  const json list = tool::json(folder, "machines").at("machines");
  for (const json& machine : list) {
    names.push_back(machine.at("name"));
  }
  EXPECT_THAT(names, testing::IsSupersetOf({"sim:h200-nvlink-x8", "sim:h200-hostmem-x4",
                                            "sim:a100-nvlink-x8", "sim:rtx4090-pcie-x4", "cuda"}));
}

TEST_F(Commands, tune_tells_what_it_did) {
  EXPECT_EQ(tuned->at("winners").size(), 2U);
  EXPECT_EQ(tuned->at("resumed"), 0);
  EXPECT_EQ(tuned->at("failed"), 0);
  EXPECT_EQ(tuned->at("stopped"), false);
  const int measured = tuned->at("measured");
  EXPECT_GE(measured, 2 * (1 + 3));
  for (const json& winner : tuned->at("winners")) {
    EXPECT_LE(winner.at("measured_us"), winner.at("sequential_us"));
    EXPECT_GT(winner.at("predicted_us"), 0);
    EXPECT_NE(winner.at("config").at("strategy"), "sequential");
    EXPECT_GT(winner.at("overlap_fraction"), 0);
    EXPECT_LE(winner.at("overlap_fraction"), 1);
  }
}

TEST_F(Commands, tune_resumed_measures_nothing_and_says_the_same) {
  const json again = tool::json(*folder, kTune + " --resume");
  EXPECT_EQ(again.at("measured"), 0);
  EXPECT_EQ(again.at("resumed"), tuned->at("measured"));
  EXPECT_EQ(again.at("run"), tuned->at("run"));
  EXPECT_EQ(again.at("winners"), tuned->at("winners"));
  const tool::Outcome other = tool::run(*folder, kTune + " --resume --seed 9");
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("--resume"));
}

TEST_F(Commands, tune_ends_with_a_table_and_the_next_commands) {
  const tool::Outcome outcome = tool::run(*folder, kTune + " --resume");
  EXPECT_EQ(outcome.status, 0);
  for (const char* words :
       {"predicted µs", "hidden", "Database: f.db", "overlaptune report --db f.db",
        "overlaptune query --db f.db --problem"}) {
    EXPECT_THAT(outcome.out, HasSubstr(words));
  }
  // The query that it suggests finds the winner.
  const auto query = outcome.out.find("query --db");
  const auto line = outcome.out.substr(query, outcome.out.find('\n', query) - query);
  EXPECT_EQ(tool::json(*folder, line + " --json").at("source"), "exact") << line;
  EXPECT_THAT(outcome.err, testing::Not(HasSubstr("left")));       // no progress bar in a pipe
  EXPECT_THAT(outcome.out, testing::Not(HasSubstr("| product")));  // no model has the problem
}

/// The lines that have a time or a ratio, with those of tables but for their heads.
std::vector<std::string> lines_with_figures(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    const bool is_head = line.find(" us |") != line.npos;
    const bool has_figure =
        line.find(" us") != line.npos || line.find("paired") != line.npos ||
        (line.starts_with('|') && line.find_first_of("0123456789") != line.npos);
    if (has_figure && !is_head) found.push_back(line);
  }
  return found;
}

TEST_F(Commands, every_line_with_a_figure_says_that_it_is_simulated) {
  for (const std::string& command : {"query" + kKnown, "query --explain" + kKnown,
                                     "run --machine sim:rtx4090-pcie-x4" + kKnown}) {
    const tool::Outcome outcome = tool::run(*folder, command);
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto lines = lines_with_figures(outcome.out);
    EXPECT_FALSE(lines.empty()) << command;
    for (const std::string& line : lines) {
      EXPECT_TRUE(line.find("(simulated)") != line.npos ||
                  line.find("| sim:rtx4090-pcie-x4 ") != line.npos)
          << command << "\n"
          << line;
    }
  }
}

TEST_F(Commands, a_platform_is_named_as_a_machine_is) {
  const json answer = tool::json(*folder, "query" + kKnown);
  EXPECT_EQ(answer.at("full_name"), "sim:rtx4090-pcie-x4");
  EXPECT_EQ(answer.at("simulated"), true);
  EXPECT_THAT(answer.at("reason").get<std::string>(),
              HasSubstr("validated on sim:rtx4090-pcie-x4 at "));
  const std::vector<std::string> names{"rtx4090-pcie-x4", "sim:rtx4090-pcie-x4",
                                       answer.at("fingerprint")};
  for (const std::string& name : names) {
    EXPECT_EQ(tool::json(*folder, "query" + kKnown + " --platform " + name), answer);
  }
  const tool::Outcome real =
      tool::run(*folder, "query" + kKnown + " --platform cuda:rtx4090-pcie-x4");
  EXPECT_EQ(real.status, 2);
  EXPECT_THAT(real.err, HasSubstr("expected one of sim:rtx4090-pcie-x4"));
}

TEST_F(Commands, query_answers_what_is_allowed) {
  const json winner = tool::json(*folder, "query" + kKnown);
  const json sequential = tool::json(*folder, "query" + kKnown + " --strategies sequential");
  EXPECT_EQ(sequential.at("source"), "exact");
  EXPECT_EQ(sequential.at("config").at("strategy"), "sequential");
  EXPECT_GE(sequential.at("measured_us"), winner.at("measured_us"));
  const std::string all = " --strategies sequential,chunked,signaled,waiting,peer_store";
  EXPECT_EQ(tool::json(*folder, "query" + kKnown + all).at("config"), winner.at("config"));
  const json fewer = tool::json(*folder, "query" + kKnown + " --free-sms 32");
  EXPECT_EQ(fewer.at("source"), "predicted");
  EXPECT_TRUE(fewer.at("measured_us").is_null());
  EXPECT_THAT(fewer.at("reason").get<std::string>(),
              HasSubstr("nothing was measured with 32 SMs left free"));
  const std::pair<const char*, const char*> wrong[] = {
      {" --strategies waiting", "no answer of the allowed strategies (waiting)"},
      {" --strategies fast", "strategy 'fast'"},
      {" --free-sms -1", "expected a whole number from 0"},
      {" --free-sms 128", "free_sms = 128: expected fewer than the 128 SMs of the GPU"}};
  for (const auto& [flags, words] : wrong) {
    const tool::Outcome outcome = tool::run(*folder, "query" + kKnown + flags);
    EXPECT_EQ(outcome.status, 2) << flags;
    EXPECT_THAT(outcome.err, HasSubstr(words));
  }
}

TEST_F(Commands, auto_without_gpus_warns_and_says_why) {
  const tool::Outcome outcome =
      tool::run(*folder,
                "run --op gemm_all_reduce --m 1k --n 1k --k 1k --dtype bf16 --ranks 8 "
                "--config sequential");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("every figure is simulated: no GPUs were found ("));
  EXPECT_THAT(outcome.err, HasSubstr("so machine auto is sim:h200-nvlink-x8"));
}

TEST_F(Commands, query_is_exact_for_what_was_tuned) {
  const json answer = tool::json(*folder, "query" + kKnown);
  EXPECT_EQ(answer.at("source"), "exact");
  EXPECT_EQ(answer.at("platform"), "rtx4090-pcie-x4");
  EXPECT_EQ(answer.at("launch"), "graph");
  EXPECT_EQ(answer.at("problem"), (json{{"op", "gemm_all_reduce"},
                                        {"m", 4096},
                                        {"n", 4096},
                                        {"k", 1024},
                                        {"dtype", "bf16"},
                                        {"ranks", 4}}));
  const json& winner = tuned->at("winners").at(0);
  EXPECT_EQ(answer.at("config"), winner.at("config"));
  EXPECT_EQ(answer.at("measured_us"), winner.at("measured_us"));
  EXPECT_EQ(answer.at("baseline_us"), winner.at("sequential_us"));
  for (const char* field : {"strategy", "block_m", "block_n", "block_k", "stages", "comm_ctas",
                            "wave_groups", "chunks", "transport"}) {
    EXPECT_TRUE(answer.at("config").contains(field)) << field;
  }
}

/// A damaged row is not an answer, and its bytes do not reach the document.
TEST_F(Commands, query_of_a_damaged_winner_predicts_and_says_why) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "f.db");
  SQLite::Database database((own / "f.db").string(), SQLite::OPEN_READWRITE);
  for (const char* change : {"measured_median_us = measured_median_us / 64", "predicted_us = 1e40",
                             "config = CAST(x'ff20ff' AS TEXT)", "reason = CAST(x'ff' AS TEXT)",
                             "validated_at = '2026'"}) {
    database.exec("BEGIN");
    database.exec(std::string("UPDATE winners SET ") + change);
    database.exec("COMMIT");
    const json answer = tool::json(own, "query" + kKnown);
    EXPECT_EQ(answer.at("source"), "predicted") << change;
    EXPECT_THAT(answer.at("reason"), HasSubstr("is damaged (")) << change;
    const tool::Outcome checked = tool::run(own, "db check --db f.db --json");
    EXPECT_EQ(checked.status, 4);
    EXPECT_GE(json::parse(checked.out).at("problems").size(), 2U);
  }
}

TEST_F(Commands, db_repair_rebuilds_winners_and_keeps_a_copy) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "f.db");
  SQLite::Database((own / "f.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET measured_median_us = measured_median_us / 64");
  const json done = tool::json(own, "db repair --db f.db");
  EXPECT_EQ(done.at("sound"), true);
  EXPECT_TRUE(std::filesystem::exists(own / done.at("copy").get<std::string>()));
  EXPECT_EQ(tool::json(own, "query" + kKnown).at("source"), "exact");
  EXPECT_EQ(tool::json(own, "db repair --db f.db").at("copy"), "");
}

/// Damaged text is told as it is, and must not command the terminal.
TEST_F(Commands, db_repair_shows_no_control_characters) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "f.db");
  SQLite::Database((own / "f.db").string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET origin = origin || char(27) || '[31m'");
  const tool::Outcome done = tool::run(own, "db repair --db f.db");
  EXPECT_EQ(done.status, 0) << done.err;
  EXPECT_THAT(done.out, HasSubstr("\\x1b[31m"));
  EXPECT_EQ(done.out.find('\x1b'), std::string::npos);
}

/// The name of a file may hold any bytes.
TEST_F(Commands, json_of_a_path_that_is_not_utf8) {
  const Folder own;
  std::filesystem::copy_file(*folder / "f.db", own / "\xff.db");
  for (const std::string command :
       {"db info --db \xff.db", "db check --db \xff.db", "db merge --db \xfe.db \xff.db",
        "evaluate --db \xff.db", "probe --machine sim:rtx4090-pcie-x4 --quick --db \xfd.db"}) {
    const tool::Outcome outcome = tool::run(own, command + " --json");
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_TRUE(json::accept(outcome.out)) << command;
  }
}

TEST_F(Commands, query_predicts_what_was_not) {
  for (const std::string& question : {kUnknown, kKnown + " --launch eager"}) {
    const json answer = tool::json(*folder, "query" + question);
    EXPECT_EQ(answer.at("source"), "predicted");
    EXPECT_TRUE(answer.at("measured_us").is_null());
    EXPECT_LE(answer.at("predicted_us"), answer.at("baseline_us"));
    EXPECT_THAT(answer.at("reason").get<std::string>(), HasSubstr("no winner is stored"));
  }
}

TEST_F(Commands, a_predicted_sequential_stands_beside_nccl_s_own_ring) {
  const json answer = tool::json(*folder, "query --strategies sequential" + kUnknown);
  ASSERT_EQ(answer.at("source"), "predicted");
  EXPECT_EQ(answer.at("predicted_us"), answer.at("baseline_us"));
  const json& config = answer.at("config");
  const bool plain = config.at("transport") == "ring" && config.at("comm_ctas").is_null();
  ASSERT_EQ(answer.at("nccl_ring_us").is_null(), plain) << answer;
  if (!plain) {
    EXPECT_GE(answer.at("nccl_ring_us"), answer.at("baseline_us"));  // that is the fastest
  }
}

TEST_F(Commands, query_falls_back_to_the_baseline) {
  const json answer = tool::json(*folder,
                                 "query --db f.db --op gemm_all_reduce --m 6k --n 4k "
                                 "--k 1k --dtype bf16 --ranks 2");
  EXPECT_EQ(answer.at("source"), "baseline");
  EXPECT_EQ(answer.at("config").at("strategy"), "sequential");
  EXPECT_TRUE(answer.at("predicted_us").is_null());
}

TEST_F(Commands, query_explains_the_choice_of_the_model) {
  const json whole = tool::json(*folder, "query --explain" + kKnown);
  const json& answer = whole.at("explanation");
  const json& timeline = answer.at("timeline");
  ASSERT_FALSE(timeline.empty());
  for (const json& group : timeline) {
    EXPECT_LE(group.at("ready_us"), group.at("start_us"));
    EXPECT_LE(group.at("start_us"), group.at("end_us"));
    EXPECT_LE(group.at("exposed_us").get<double>(),
              group.at("end_us").get<double>() - group.at("start_us").get<double>() + 1e-6);
  }
  EXPECT_FALSE(answer.at("alternatives").empty());
  for (const json& other : answer.at("alternatives")) {
    EXPECT_GE(other.at("predicted_us"), answer.at("predicted_us"));
    EXPECT_NE(other.at("config"), answer.at("config"));
  }
  const tool::Outcome text = tool::run(*folder, "query --explain" + kKnown);
  EXPECT_THAT(text.out, HasSubstr("exposed"));
  // The answer itself is the one that `query` gives without the explanation.
  json plain = whole;
  plain.erase("explanation");
  EXPECT_EQ(plain, tool::json(*folder, "query" + kKnown));
  EXPECT_THAT(text.out, testing::StartsWith(tool::run(*folder, "query" + kKnown).out));
}

TEST(Probe, shows_bandwidths_of_the_ranks_that_were_asked_for) {
  const Folder folder;
  const std::string probe = "probe --machine sim:rtx4090-pcie-x4 --db p.db --quick --ranks ";
  tool::json(folder, probe + "2");
  const json few = tool::json(folder, probe + "4").at("bandwidths");
  const json all = tool::json(folder, probe + "4 --every-bandwidth").at("bandwidths");
  EXPECT_EQ(few.size(), 4U * 3U);  // three sizes of each collective
  EXPECT_GT(all.size(), few.size());
  for (const json& row : few) {
    EXPECT_EQ(row.at("ranks"), 4);
    EXPECT_NEAR(row.at("algbw_gb_per_s"),
                row.at("bytes").get<double>() / row.at("time_us").get<double>() / 1000, 1e-9);
    for (const json& other : all) {
      if (other.at("collective") != row.at("collective") || other.at("bytes") != row.at("bytes")) {
        continue;
      }
      EXPECT_LE(row.at("time_us"), other.at("time_us"));
    }
  }
}

TEST(Probe, shows_what_each_gpu_reaches_in_copies_to_each_other) {
  const Folder folder;
  const std::string probe = "probe --machine sim:h200-nvlink-x2 --quick --db two.db";
  const tool::Outcome outcome = tool::run(folder, probe);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("Peer matrix of sim:h200-nvlink-x2"));
  EXPECT_THAT(outcome.out, HasSubstr("| from |"));
  const json document = tool::json(folder, probe);
  EXPECT_EQ(document.at("measured"), 0);
  ASSERT_EQ(document.at("peers").size(), 2U);
  EXPECT_EQ(document.at("peers").at(0).at("from"), 0);
  EXPECT_EQ(document.at("peers").at(0).at("to"), 1);
  EXPECT_GT(document.at("peers").at(0).at("bandwidth_gb_per_s"), 100);
  EXPECT_TRUE(document.at("peers").at(0).at("latency_us").is_null());  // not by --quick

  const tool::Outcome none =
      tool::run(folder, "probe --machine sim:rtx4090-pcie-x4 --quick --db four.db");
  EXPECT_THAT(none.out, HasSubstr("No peer matrix: NCCL does not reach"));
  EXPECT_THAT(none.out, HasSubstr("host_memory"));
}

TEST_F(Commands, query_writes_a_trace_of_what_it_explains) {
  const json answer =
      tool::json(*folder, "query --explain --trace predicted.json" + kKnown).at("explanation");
  std::ifstream in(*folder / "predicted.json");
  const json trace = json::parse(in);
  std::vector<double> ready;
  for (const json& event : trace.at("traceEvents")) {
    if (event.at("ph") == "i" && event.at("pid") == 0) ready.push_back(event.at("ts"));
  }
  const json& timeline = answer.at("timeline");
  ASSERT_EQ(ready.size(), timeline.size());
  for (std::size_t i = 0; i < ready.size(); ++i) {
    EXPECT_EQ(ready[i], timeline[i].at("ready_us"));
  }
  EXPECT_THAT(trace.at("otherData").at("title").get<std::string>(), HasSubstr("predicted"));
  EXPECT_EQ(tool::run(*folder, "query --explain --trace f.db" + kKnown).status, 2);
  EXPECT_EQ(tool::run(*folder, "query --trace t.json" + kKnown).status, 2);
}

/// `run` of the problem that was tuned, with a config that has blanks in it.
tool::Outcome run_config(const Folder& folder, const std::string& config,
                         const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments{"run",
                                     "--machine",
                                     "sim:rtx4090-pcie-x4",
                                     "--op",
                                     "gemm_all_reduce",
                                     "--m",
                                     "4k",
                                     "--n",
                                     "4k",
                                     "--k",
                                     "1k",
                                     "--dtype",
                                     "bf16",
                                     "--ranks",
                                     "4",
                                     "--config",
                                     config};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return tool::Process(folder, arguments).wait();
}

TEST_F(Commands, run_times_the_stored_winner) {
  const json& winner = tuned->at("winners").at(0);
  const json result =
      tool::json(*folder, "run --machine sim:rtx4090-pcie-x4" + kKnown + " --repetitions 5");
  EXPECT_EQ(result.at("config"), winner.at("config"));
  EXPECT_EQ(result.at("verdict"), "valid");
  EXPECT_EQ(result.at("repetitions"), 5);
  EXPECT_NEAR(result.at("measured_us"), winner.at("measured_us"),
              0.05 * winner.at("measured_us").get<double>());
  EXPECT_NEAR(result.at("sequential_us"), winner.at("sequential_us"),
              0.05 * winner.at("sequential_us").get<double>());
  EXPECT_LE(result.at("measured_p10_us"), result.at("measured_us"));
  EXPECT_TRUE(result.at("trace").is_null());
  EXPECT_TRUE(result.at("busy").is_null());
  const tool::Outcome other = tool::run(*folder, "run --machine sim:h200-nvlink-x8" + kKnown);
  EXPECT_EQ(other.status, 2);
  EXPECT_THAT(other.err, HasSubstr("f.db: no winner of gemm_all_reduce:4096,4096,1024:bf16:4"));
}

TEST_F(Commands, run_takes_the_line_that_it_prints) {
  const json first = json::parse(run_config(*folder, "chunks=4 chunked ctas=8", {"--json"}).out);
  EXPECT_EQ(first.at("config").at("chunks"), 4);
  EXPECT_GT(first.at("speedup"), 0);
  EXPECT_LE(first.at("speedup_p10"), first.at("speedup_p90"));
  const std::string line = first.at("config_line");
  EXPECT_EQ(json::parse(run_config(*folder, line, {"--json"}).out), first);
  EXPECT_THAT(run_config(*folder, line).out, HasSubstr("Speedup over sequential, paired"));
}

TEST_F(Commands, run_writes_a_trace) {
  const auto outcome =
      run_config(*folder, "chunked ctas=8 chunks=4", {"--json", "--trace", "trace.json"});
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("trace"), "trace.json");
  const json& busy = result.at("busy");
  EXPECT_NEAR(busy.at("both_us").get<double>() + busy.at("exposed_us").get<double>(),
              busy.at("collective_us"), 1e-6);
  EXPECT_LE(busy.at("total_us").get<double>(), 1.1 * result.at("measured_us").get<double>());
  std::ifstream in(*folder / "trace.json");
  const json trace = json::parse(in);
  int collectives = 0;
  for (const json& event : trace.at("traceEvents")) {
    collectives += event.value("cat", "") == "collective" ? 1 : 0;
  }
  EXPECT_EQ(collectives, 4 + 1);  // those of `sequential` beside them
  EXPECT_THAT(run_config(*folder, "sequential", {"--trace", "t.json"}).out,
              HasSubstr("GEMM busy "));
  EXPECT_EQ(run_config(*folder, "sequential", {"--trace", "f.db"}).status, 2);
  EXPECT_EQ(run_config(*folder, "sequential", {"--trace", "nowhere/t.json"}).status, 6);
}

TEST_F(Commands, run_of_a_config_that_is_not_valid_says_why) {
  const tool::Outcome outcome =
      run_config(*folder, "chunked ctas=8 chunks=4",
                 {"--json", "--sim-faults", "wrong=1", "--trace", "faulty.json"});
  EXPECT_EQ(outcome.status, 5);
  EXPECT_EQ(json::parse(outcome.out).at("verdict"), "wrong");
  EXPECT_TRUE(json::parse(outcome.out).at("speedup").is_null());
  EXPECT_THAT(outcome.err, HasSubstr("not valid but wrong"));
  EXPECT_EQ(run_config(*folder, "chunked ctas=5000").status, 5);
  EXPECT_EQ(run_config(*folder, "chunked ctas=5000", {"--trace", "none.json"}).status, 5);
}

TEST_F(Commands, evaluate_counts_every_candidate) {
  const json result = tool::json(*folder, "evaluate --db f.db");
  EXPECT_EQ(result.at("count").get<int>() + result.at("sequential").at("count").get<int>(),
            tuned->at("measured").get<int>());
  EXPECT_EQ(result.at("problems"), 2);
  EXPECT_LE(result.at("error_median"), result.at("error_p90"));
  EXPECT_LE(result.at("regret_shortlist_max"), result.at("regret_top1_max"));
}

TEST_F(Commands, evaluate_runs_picks_and_fastest_again) {
  const json result =
      tool::json(*folder, "evaluate --db f.db --again 3 --machine sim:rtx4090-pcie-x4");
  ASSERT_EQ(result.at("problems").size(), 2U);
  for (const json& problem : result.at("problems")) {
    const json& configs = problem.at("configs");
    ASSERT_GE(configs.size(), 3U);
    EXPECT_EQ(configs.at(0).at("time_over_sequential"), 1);
    EXPECT_LT(problem.at("first_choice").get<std::size_t>(), configs.size());
  }
  EXPECT_EQ(tool::run(*folder, "evaluate --db f.db --again 3 --machine sim:a100-nvlink-x8").status,
            2);
}

TEST_F(Commands, report_in_each_format) {
  EXPECT_THAT(tool::run(*folder, "report --db f.db").out, HasSubstr("| overlap |"));
  EXPECT_THAT(tool::run(*folder, "report --db f.db --format csv").out, HasSubstr("# winners\n"));
  const json report = tool::json(*folder, "report --db f.db");
  EXPECT_EQ(report.at("winners").size(), 2U);
  EXPECT_EQ(report.at("winners").at(0).at("overlap_fraction"),
            tuned->at("winners").at(0).at("overlap_fraction"));
  EXPECT_TRUE(report.at("comparison").is_null());
  const tool::Outcome compared =
      tool::run(*folder, "report --db f.db --format json --compare f.db --out r.json");
  EXPECT_EQ(compared.status, 0);
  EXPECT_EQ(compared.out, "");
  std::ifstream in(*folder / "r.json");
  EXPECT_EQ(json::parse(in).at("comparison").at("within_noise"), 2);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --out nowhere/r.md").status, 6);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --only probes").out.find("## Winners"),
            std::string::npos);
  // These probes were quick: no pair of GPUs was probed.
  EXPECT_THAT(tool::run(*folder, "report --db f.db --only peers").out,
              HasSubstr("## Peer matrix of sim:rtx4090-pcie-x4\n\nNone."));
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --json").status, 2);
}

TEST_F(Commands, an_anonymous_report_names_neither_host_nor_files) {
  std::array<char, 256> host{};
  ASSERT_EQ(gethostname(host.data(), host.size() - 1), 0);
  for (const std::string format : {"md", "csv", "json"}) {
    const std::string flags = "report --db f.db --compare f.db --format " + format;
    EXPECT_THAT(tool::run(*folder, flags).out, HasSubstr(host.data()));
    const std::string text = tool::run(*folder, flags + " --anonymous").out;
    EXPECT_THAT(text, Not(HasSubstr(host.data()))) << format;
    EXPECT_THAT(text, Not(HasSubstr("f.db"))) << format;
    EXPECT_THAT(text, Not(HasSubstr(folder->path().string()))) << format;
  }
}

TEST_F(Commands, report_writes_a_file_for_each_table) {
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --out tables/").status, 0);
  std::ifstream winners(*folder / "tables/winners.csv");
  std::string line;
  std::getline(winners, line);
  EXPECT_THAT(line, testing::StartsWith("platform,launch,op,m,n,k,"));
  // The folder is there now.
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --only means --out tables").status,
            0);
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format csv --out f.db/").status, 6);
}

TEST_F(Commands, report_as_a_page) {
  const tool::Outcome page = tool::run(*folder, "report --db f.db --format html");
  EXPECT_EQ(tool::run(*folder, "report --db f.db --format html --only winners").status, 2);
  if (page.status == 2) {
    EXPECT_THAT(page.err, HasSubstr("install nodejs"));
    GTEST_SKIP() << "this program was built without npm";
  }
  EXPECT_EQ(page.status, 0);
  EXPECT_THAT(page.out, HasSubstr("</html>"));
}

TEST_F(Commands, db_copies_are_equal) {
  EXPECT_EQ(tool::run(*folder, "db export --db f.db --out f.json").status, 0);
  const json original = tool::json(*folder, "db info --db f.db");
  json copy = tool::json(*folder, "db import --db copy.db f.json");
  json merged = tool::json(*folder, "db merge --db merged.db f.db copy.db");
  copy["database"] = merged["database"] = "f.db";
  EXPECT_EQ(copy, original);
  EXPECT_EQ(merged.at("winners"), original.at("winners"));
  EXPECT_EQ(merged.at("candidates"), original.at("candidates"));
  EXPECT_EQ(tool::run(*folder, "db check --db merged.db").status, 0);
}

TEST(Tune, what_the_problems_of_a_model_are_is_kept_and_shown) {
  const Folder folder;
  folder.write("small.json", R"({"model_type": "llama", "hidden_size": 1024,
      "intermediate_size": 4096, "num_attention_heads": 8, "num_hidden_layers": 24})");
  const std::string tune =
      "tune --machine sim:rtx4090-pcie-x4 --db f.db --quick-probe --top-k 1 --model small.json "
      "--tp 4 --tokens 512";
  // Per rank `o` is 1024 x 1024 / 4 and `down` 1024 x 4096 / 4.
  const auto product = [](const char* name) {
    return json::array({{{"model", "small"},
                         {"product", name},
                         {"parallelism", "tp"},
                         {"tokens", 512},
                         {"times_per_pass", 24}}});
  };
  const auto expect_products = [&](const json& document) {
    ASSERT_EQ(document.at("winners").size(), 2U);
    for (const json& winner : document.at("winners")) {
      EXPECT_EQ(winner.at("layer_gemms"),
                product(winner.at("problem").at("k") == 256 ? "o" : "down"));
    }
  };
  expect_products(tool::json(folder, tune));
  EXPECT_THAT(tool::run(folder, tune + " --resume").out, HasSubstr("| small down ×24 |"));
  EXPECT_THAT(tool::run(folder, "report --db f.db").out, HasSubstr("| small down ×24 |"));
  expect_products(tool::json(folder, "report --db f.db"));

  EXPECT_EQ(tool::run(folder, "db export --db f.db --out f.json").status, 0);
  EXPECT_EQ(tool::json(folder, "db import --db copy.db f.json").at("layer_gemms"), 2);
  EXPECT_EQ(tool::json(folder, "db merge --db merged.db f.db copy.db").at("layer_gemms"), 2);
  expect_products(tool::json(folder, "report --db merged.db"));
}

TEST(Tune, faults_cost_only_themselves) {
  const Folder folder;
  const json result =
      tool::json(folder,
                 "tune --machine sim:rtx4090-pcie-x4 --db f.db --explore 12 --sim-faults "
                 "hang=0.1,wrong=0.1,crash=0.1 --problem gemm_all_reduce:4k,4k,1k:bf16:4");
  EXPECT_GT(result.at("failed"), 0);
  EXPECT_EQ(result.at("winners").size(), 1U);
  const json failures = tool::json(folder, "report --db f.db").at("failures");
  EXPECT_EQ(failures.size(), result.at("failed").get<std::size_t>());
}

TEST(Tune, nothing_valid_is_exit_code_5) {
  const Folder folder;
  const tool::Outcome outcome =
      tool::run(folder,
                "tune --machine sim:rtx4090-pcie-x4 --db f.db --sim-faults wrong=1,sequential=1 "
                "--problem gemm_all_reduce:4k,4k,1k:bf16:4");
  EXPECT_EQ(outcome.status, 5) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST(Help, that_cannot_be_printed_is_exit_code_6) {
  const Folder folder;
  for (const char* command : {"--help", "--version", "tune --help"}) {
    EXPECT_EQ(tool::run(folder, command, 0).status, 6) << command;
  }
}

TEST(Tune, a_full_disk_is_exit_code_6) {
  const Folder folder;
  const tool::Outcome outcome =
      tool::run(folder, "probe --machine sim:rtx4090-pcie-x4 --db f.db", rlim_t{128 * 1024});
  EXPECT_EQ(outcome.status, 6) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("f.db"));
}

}  // namespace
}  // namespace overlaptune
