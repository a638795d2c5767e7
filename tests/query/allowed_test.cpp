// Questions that allow some strategies only, against a look at every candidate of the database.

#include <cmath>
#include <optional>
#include <set>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/config/check.hpp"
#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

using Names = std::set<std::string>;
constexpr const char* kAllStrategies = "sequential,chunked,signaled,waiting,peer_store";

/// Every set of some of these strategies.
std::vector<Names> subsets() {
  std::vector<Names> all{{}};
  for (const auto& [strategy, name] : NamesOf<Strategy>::all) {
    for (std::size_t i = all.size(); i > 0; --i) {
      all.push_back(all[i - 1]);
      all.back().emplace(name);
    }
  }
  return {all.begin() + 1, all.end()};
}

std::string listed(const Names& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

/// Some configs of each strategy that can run the problem of a winner.
std::vector<Config> configs(samples::Generator& draw, const Winner& winner) {
  const auto& signaled = std::get<Signaled>(winner.candidate.config);
  std::vector<Config> list{Sequential{}, Sequential{.comm_ctas = 4}};
  for (int i = draw.small(0, 2); i > 0; --i) {
    list.emplace_back(Chunked{.comm_ctas = draw.small(1, 16), .chunks = draw.small(1, 8)});
  }
  for (int i = draw.small(0, 2); i > 0; --i) {
    Signaled other = signaled;
    other.comm_ctas = draw.small(1, 16);
    list.emplace_back(other);
  }
  for (int i = draw.small(0, 2); i > 0; --i) {
    const std::int64_t columns = (stored::kN + 191) / 192;  // of tiles
    const std::int64_t first = draw.between(1, columns - 1);
    list.emplace_back(PeerStore{
        .tile = {128, 192, 64, 4, 1}, .swizzle = 64, .wave_groups = {first, columns - first}});
  }
  return list;
}

/// A database with candidates of several strategies for each of some problems.
class AllowedTest : public testing::Test {
 protected:
  static constexpr int kProblems = 60;

  AllowedTest() {
    samples::Generator draw(7);
    Store store(folder_ / "a.db", Access::create);
    const auto run = store.begin_tuning_run(store.add_platform(stored::platform()), "test", {});
    for (int i = 10; i < 10 + kProblems; ++i) put_problem(draw, store, run, stored::winner(i));
    std::ostringstream text;
    export_json(store, text);
    exported_ = nlohmann::json::parse(text.str());
  }

  /// The speedups and the times do not tell the same order: clocks differ between candidates.
  static void put_problem(samples::Generator& draw, Store& store, TuningRunId run, Winner winner) {
    std::optional<Candidate> best;
    for (const Config& config : configs(draw, winner)) {
      const auto legal =
          check(winner.candidate.problem, config, capabilities_of(stored::platform()));
      EXPECT_TRUE(legal) << to_string(config) << ": " << legal.error().message;
      Candidate each = winner.candidate;
      each.config = config;
      each.measured->median = us(static_cast<double>(draw.between(1000, 2000)));
      each.origin = Origin::shortlist;
      const double gain = static_cast<double>(draw.between(900, 1400)) / 1000;
      each.speedup = Candidate::Speedup{gain, gain, gain};
      if (config == Config(Sequential{})) {
        each.origin = Origin::baseline;
        each.speedup.reset();
      } else if (draw.between(0, 3) == 0) {
        each.verdict = Verdict::wrong;
        each.speedup = Candidate::Speedup{9, 9, 9};
      }
      store.add_candidate(run, each);
      if (each.verdict != Verdict::valid) continue;
      const auto gain_of = [](const Candidate& of) { return of.speedup ? of.speedup->median : 1; };
      if (!best || gain_of(each) > gain_of(*best)) best = each;
    }
    winner.candidate = *best;
    store.put_winner(run, winner);
  }

  TemporaryFolder folder_;
  nlohmann::json exported_;
};

TEST_F(AllowedTest, EverySubsetIsAnsweredByTheFastestMeasuredOfIt) {
  const ovt::Database database({folder_ / "a.db"});
  int passed_over = 0;
  int unknown = 0;
  for (int i = 10; i < 10 + kProblems; ++i) {
    const ovt_answer winner = database.query(stored::problem(i + 1));
    ASSERT_EQ(winner.source, OVT_EXACT);
    for (const Names& allowed : subsets()) {
      // The fastest of the allowed strategies, by the export alone.
      double most = 0;
      double time = 0;
      std::string strategy;
      for (const auto& each : exported_["tuning_runs"][0]["candidates"]) {
        if (each["problem"]["m"] != i + 1 || each["verdict"] != "valid") continue;
        const std::string config = each["config"];
        const std::string name = config.substr(0, config.find(' '));
        if (!allowed.contains(name)) continue;
        const double gain = each["speedup"].is_null() ? 1 : each["speedup"]["median"].get<double>();
        if (gain <= most) continue;
        most = gain;
        time = each["measured"]["median_us"];
        strategy = name;
      }
      ovt_answer answer{};
      answer.size = sizeof answer;
      const ovt_problem problem = stored::problem(i + 1);
      const std::string names = listed(allowed);
      const ovt_question question = ovt::question(OVT_GRAPH, names.c_str());
      const ovt_status status = ovt_query_for(database.handle(), &problem, &question, &answer);
      if (strategy.empty()) {
        ++unknown;
        ASSERT_EQ(status, OVT_ERROR_NOT_FOUND);
        ASSERT_THAT(ovt_last_error(), AllOf(StartsWith("no answer of the allowed strategies ("),
                                            HasSubstr("the model has no prediction"),
                                            HasSubstr("allow more of them, or sequential")));
        continue;
      }
      ASSERT_EQ(status, OVT_OK) << ovt_last_error();
      ASSERT_EQ(answer.source, OVT_EXACT);
      ASSERT_EQ(answer.measured_us, time) << names;
      ASSERT_EQ(answer.strategy, strategy);
      if (allowed.contains(winner.strategy)) {
        ASSERT_STREQ(answer.reason, winner.reason);
      } else {
        ++passed_over;
        ASSERT_THAT(answer.reason, StartsWith("the fastest measured config of the allowed strat"));
      }
    }
  }
  EXPECT_GT(passed_over, 300);
  EXPECT_GT(unknown, 50);
}

TEST_F(AllowedTest, AListOfAllIsTheSameQuestionAsNone) {
  const ovt::Database database({folder_ / "a.db"});
  const ovt_answer plain = database.query(stored::problem(11));
  for (const char* names : {"", kAllStrategies}) {
    const ovt_answer answer = database.query(stored::problem(11), ovt::question(OVT_GRAPH, names));
    EXPECT_EQ(answer.source, OVT_EXACT);
    EXPECT_EQ(answer.measured_us, plain.measured_us);
    EXPECT_STREQ(answer.reason, plain.reason);
  }
}

TEST_F(AllowedTest, AnExclusiveWorldIsAnsweredFromItsOwnWinners) {
  Winner faster = stored::winner(10);  // of the problem with 11 rows
  faster.candidate.launch = Launch::exclusive_graph;
  faster.candidate.config = Config(Sequential{.comm_ctas = 3});
  faster.candidate.measured->median = us(321);
  const auto question = [](Launch launch, bool exclusive) {
    ovt_question asked = ovt::question(is_eager(launch) ? OVT_EAGER : OVT_GRAPH);
    asked.exclusive = exclusive ? 1 : 0;
    return asked;
  };
  const ovt::Database before({folder_ / "a.db"});
  const ovt_answer gated = before.query(stored::problem(11));
  const ovt_answer carried = before.query(stored::problem(11), question(Launch::graph, true));
  EXPECT_EQ(carried.source, OVT_PREDICTED);
  EXPECT_STREQ(carried.config, gated.config);
  EXPECT_EQ(carried.predicted_us, gated.measured_us);
  EXPECT_TRUE(std::isnan(carried.measured_us));
  EXPECT_EQ(carried.reason,
            std::string("the times are those behind a gate, nothing was measured without: ") +
                gated.reason);

  stored::put_winners(folder_ / "a.db", {faster});
  const ovt::Database database({folder_ / "a.db"});
  const ovt_answer own = database.query(stored::problem(11), question(Launch::graph, true));
  EXPECT_EQ(own.source, OVT_EXACT);
  EXPECT_EQ(own.measured_us, 321);
  EXPECT_STREQ(own.config, "sequential ctas=3 transport=ring");
  EXPECT_EQ(database.query(stored::problem(11)).measured_us, gated.measured_us);
  // Another launch of an exclusive world has no winner.
  EXPECT_NE(database.query(stored::problem(11), question(Launch::eager, true)).source, OVT_EXACT);
}

TEST_F(AllowedTest, TheFirstDatabaseThatHasAnAllowedConfigAnswers) {
  stored::put_winners(folder_ / "own.db", 30, 2);  // winners of `signaled`, without candidates
  const ovt::Database database({folder_ / "own.db", folder_ / "a.db"});
  const ovt_answer own = database.query(stored::problem(11));
  EXPECT_STREQ(own.strategy, "signaled");
  EXPECT_EQ(stored::wave_groups(own)[1], 1002);
  const auto question = ovt::question(OVT_GRAPH, "sequential");
  const ovt_answer other = database.query(stored::problem(11), question);
  EXPECT_EQ(other.source, OVT_EXACT);
  EXPECT_STREQ(other.strategy, "sequential");
  EXPECT_THAT(database.explain(stored::problem(11), question),
              AllOf(HasSubstr("allowed: sequential\n"), HasSubstr("answer: exact\n")));
}

TEST_F(AllowedTest, WhereTheModelCannotTellTimesAreThoseOfAllSms) {
  const ovt::Database database({folder_ / "a.db"});
  ovt_question question = ovt::question(OVT_GRAPH);
  question.free_sms = 8;
  const ovt_answer all = database.query(stored::problem(11));
  const ovt_answer fewer = database.query(stored::problem(11), question);
  EXPECT_EQ(fewer.source, OVT_PREDICTED);
  EXPECT_STREQ(fewer.config, all.config);
  EXPECT_EQ(fewer.predicted_us, all.measured_us);
  EXPECT_TRUE(std::isnan(fewer.measured_us));
  EXPECT_THAT(fewer.reason, StartsWith("the times are those with all 132 SMs, because the model"));
  question.free_sms = 131;  // not enough for a config with CTAs of its own
  question.strategies = "signaled";
  EXPECT_THROW((void)database.query(stored::problem(11), question), ovt::Error);
}

TEST_F(AllowedTest, AnUnknownPlatformHasOnlyTheBaseline) {
  Platform other = stored::platform();
  other.gpu_model = "another GPU";
  const ovt_platform described = stored::described(other);
  const ovt::Database database({folder_ / "a.db"}, &described);
  const auto with = ovt::question(OVT_GRAPH, "chunked,sequential");
  EXPECT_EQ(database.query(stored::problem(11), with).source, OVT_BASELINE);
  try {
    (void)database.query(stored::problem(11), ovt::question(OVT_GRAPH, "chunked"));
    FAIL() << "answered";
  } catch (const ovt::Error& error) {
    EXPECT_EQ(error.status(), OVT_ERROR_NOT_FOUND);
    EXPECT_THAT(error.what(), HasSubstr("gpu_model: another GPU here"));
  }
}

TEST_F(AllowedTest, WrongFieldsAreRefusedByName) {
  const ovt::Database database({folder_ / "a.db"});
  const ovt_problem problem = stored::problem(11);
  const auto refused = [&](auto spoil) {
    ovt_question question = ovt::question(OVT_GRAPH);
    spoil(question);
    ovt_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(ovt_query_for(database.handle(), &problem, &question, &answer), OVT_ERROR_ARGUMENT);
    EXPECT_EQ(answer.reason[0], '\0');
    return std::string(ovt_last_error());
  };
  for (const auto& [names, shown] : {std::pair{"copy_engine", "copy_engine"},
                                     {"signaled,,waiting", ""},
                                     {"signaled, waiting", " waiting"},
                                     {"signaled\n", "signaled\\x0a"},
                                     {",", ""}}) {
    EXPECT_EQ(refused([names = names](auto& question) { question.strategies = names; }),
              fmt::format("ovt_question.strategies: strategy '{}': expected one of sequential, "
                          "chunked, signaled, waiting, peer_store",
                          shown));
  }
  EXPECT_EQ(refused([](auto& question) { question.exclusive = 2; }),
            "ovt_question.exclusive = 2: expected 0 or 1");
  EXPECT_EQ(refused([](auto& question) { question.free_sms = -1; }),
            "ovt_question.free_sms = -1: expected 0 or more");
  EXPECT_EQ(refused([](auto& question) { question.free_sms = 132; }),
            "ovt_question.free_sms = 132: expected fewer than the 132 SMs of the GPU");
  EXPECT_EQ(refused([](auto& question) { question.reserved = 1; }),
            "ovt_question.reserved: expected 0");
  EXPECT_THAT(refused([](auto& question) { question.launch = 2; }), HasSubstr("launch = 2"));
  EXPECT_THAT(refused([](auto& question) { question.size = 8; }),
              HasSubstr("ovt_question.size = 8"));
  ovt_answer answer{};
  answer.size = sizeof answer;
  EXPECT_EQ(ovt_query_for(database.handle(), &problem, nullptr, &answer), OVT_ERROR_ARGUMENT);
  EXPECT_STREQ(ovt_last_error(), "ovt_question: NULL");
}

}  // namespace
}  // namespace overlaptune
