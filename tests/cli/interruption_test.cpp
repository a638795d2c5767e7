// A run that is stopped, by a signal or by force, goes on where it was.

#include <chrono>
#include <filesystem>
#include <iterator>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "tests/cli/tool.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using tool::Folder;

const std::string kTune =
    "tune --machine sim:rtx4090-pcie-x4 --db f.db --seed 5 --top-k 4 --explore 60 --resume --json "
    "--problem gemm_all_reduce:4k,4k,1k:bf16:4 --problem gemm_reduce_scatter:4k,4k,1k:bf16:4 "
    "--problem all_gather_gemm:4k,1k,4k:bf16:4";

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

/// Rows that took time to get.
struct Kept {
  std::int64_t measurements = 0;
  std::int64_t candidates = 0;
};

Kept kept(const Folder& folder) {
  if (!std::filesystem::exists(folder / "f.db")) return {};
  try {
    const DatabaseInfo info = Store(folder / "f.db", Access::read).info();
    return {info.measurements, info.candidates};
  } catch (const Failure&) {
    return {};  // killed before the schema was written
  }
}

struct Whole {
  json result{};
  Kept rows{};
  milliseconds time{};
};

Whole undisturbed() {
  const Folder folder;
  const auto start = std::chrono::steady_clock::now();
  const tool::Outcome outcome = tool::run(folder, kTune);
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  return {
      .result = json::parse(outcome.out),
      .rows = kept(folder),
      .time = std::chrono::duration_cast<milliseconds>(std::chrono::steady_clock::now() - start)};
}

/// Runs to the end and checks that the result is that of the whole run, with nothing measured
/// twice.
void expect_completed(const Folder& folder, const Whole& whole) {
  const Kept before = kept(folder);
  const tool::Outcome outcome = tool::run(folder, kTune);
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result.at("winners"), whole.result.at("winners"));
  EXPECT_EQ(result.at("resumed"), before.candidates);
  EXPECT_EQ(result.at("measured").get<std::int64_t>() + before.candidates, whole.rows.candidates);
  const Kept after = kept(folder);
  EXPECT_EQ(after.candidates, whole.rows.candidates);
  EXPECT_EQ(after.measurements, whole.rows.measurements);
  EXPECT_TRUE(Store(folder / "f.db", Access::read).check().empty());
}

TEST(Interruption, killed_at_20_moments_it_ends_with_the_same_winners) {
  const Whole whole = undisturbed();
  const Folder folder;
  std::mt19937 random(1);
  int killed = 0;
  // Short enough that the run is not over before the last kill.
  std::uniform_int_distribution<int> moment(1, static_cast<int>(whole.time.count() / 10) + 1);
  for (int i = 0; i < 20; ++i) {
    const Kept before = kept(folder);
    tool::Process process(folder, words(kTune));
    tool::pause(milliseconds(moment(random)));
    process.signal(SIGKILL);
    killed += process.wait().status == -SIGKILL ? 1 : 0;
    const Kept after = kept(folder);
    EXPECT_GE(after.measurements, before.measurements);
    EXPECT_GE(after.candidates, before.candidates);
  }
  EXPECT_GE(killed, 10);
  expect_completed(folder, whole);
}

TEST(Interruption, signals_stop_cleanly) {
  const Whole whole = undisturbed();
  std::signal(SIGHUP, SIG_DFL);  // `nohup` has it ignored here and in the program
  for (const auto& [number, code] :
       {std::pair(SIGINT, 130), std::pair(SIGTERM, 143), std::pair(SIGHUP, 129)}) {
    const Folder folder;
    tool::Process process(folder, words(kTune));
    // Stops the run among its candidates; the time to get there differs from machine to machine.
    while (process.is_running() && kept(folder).candidates < 5) {
      tool::pause(milliseconds(5));
    }
    process.signal(number);
    const tool::Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, code) << outcome.err;
    const json stopped = json::parse(outcome.out);
    EXPECT_EQ(stopped.at("stopped"), true);
    EXPECT_EQ(stopped.at("measured"), kept(folder).candidates);
    EXPECT_LT(kept(folder).candidates, whole.rows.candidates);
    if (number == SIGINT) expect_completed(folder, whole);
  }
}

/// A shell without job control starts background jobs with SIGINT ignored (POSIX, "Asynchronous
/// Lists"): Ctrl-C is meant for the program in front.
TEST(Interruption, an_ignored_signal_stays_ignored) {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    const Folder folder;
    const auto before = std::signal(number, SIG_IGN);  // the program inherits it
    tool::Process process(folder, words(kTune));
    std::signal(number, before);
    while (process.is_running() && kept(folder).candidates < 5) tool::pause(milliseconds(5));
    EXPECT_TRUE(process.is_running());
    process.signal(number);
    const tool::Outcome outcome = process.wait();
    EXPECT_EQ(outcome.status, 0) << number << outcome.err;
    EXPECT_EQ(json::parse(outcome.out).at("stopped"), false) << number;
  }
}

TEST(Interruption, a_spent_budget_is_no_failure) {
  const Folder folder;
  const tool::Outcome outcome = tool::run(folder, kTune + " --budget 0.001s");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(json::parse(outcome.out).at("stopped"), true);
}

}  // namespace
}  // namespace overlaptune
