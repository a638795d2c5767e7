// Predicted answers, from a simulated machine that was probed and tuned.

#include <algorithm>
#include <cmath>
#include <string>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/recipe.hpp"
#include "machine/catalogue.hpp"
#include "query/answer.hpp"
#include "stored.hpp"
#include "tests/temporary_folder.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

constexpr Problem kTuned{Op::gemm_all_reduce, 2048, 4096, 2048, Elements::bf16, 8};
constexpr const char* kName = "h200-nvlink-x8";

ovt_problem asked(const Problem& problem) {
  return ovt::problem(static_cast<ovt_op>(problem.op), problem.m, problem.n, problem.k,
                      static_cast<ovt_dtype>(problem.elements), problem.ranks);
}

class PredictedTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const auto machine = value_or_throw(open_machine(std::string("sim:") + kName, {.seed = 1}));
    Store store(file(), Access::create);
    TuneOptions options{.top_k = 2, .probes = ProbeDepth::quick};
    const auto report = tune(*machine, store, std::vector{kTuned}, options,
                             [](std::size_t, std::size_t, std::string_view) { return true; });
    ASSERT_TRUE(report) << report.error().message;
    winner_ = report->winners.at(0);
  }
  static void TearDownTestSuite() { delete folder_; }

  [[nodiscard]] static std::filesystem::path file() { return *folder_ / "a.db"; }

  /// A model that the test makes from the same measurements and candidates.
  [[nodiscard]] static LearnedModel learned() {
    const Store store(file(), Access::read);
    const auto platform = value_or_throw(store.platform(""));
    return value_or_throw(learned_model(platform.platform, store.measurements(platform.id),
                                        store.valid_candidates(platform.id)));
  }

  const ovt_platform platform_ = ovt::stored_platform(kName);
  const ovt::Database database_{{file()}, &platform_};
  inline static TemporaryFolder* folder_ = nullptr;
  inline static Winner winner_{};
};

TEST_F(PredictedTest, WhatWasTunedIsExact) {
  const ovt_answer answer = database_.query(asked(kTuned));
  EXPECT_EQ(answer.source, OVT_EXACT);
  EXPECT_EQ(answer.measured_us, winner_.candidate.measured->median.count());
  EXPECT_EQ(answer.baseline_us, winner_.sequential.count());
  EXPECT_EQ(answer.config, to_string(winner_.candidate.config));
}

/// The recipe has the winner at its rows, and elsewhere configs that the model predicts to be
/// nearly as fast as its choice for these rows alone.
TEST_F(PredictedTest, RecipesAreNearTheAnswers) {
  Problem most = kTuned;
  most.m = 8192;
  const Recipe recipe = value_or_throw(parse_recipe(database_.recipe(asked(most))));
  EXPECT_EQ(recipe.weight, weight_of(kTuned));
  EXPECT_EQ(recipe.most_rows(), 8192);
  EXPECT_EQ(value_or_throw(config_for(recipe, kTuned.m)), winner_.candidate.config);
  const LearnedModel model = learned();
  double loss = 0;
  const std::vector<std::int64_t> rows{1, 100, 777, 1536, 3001, 4096, 6000, 8192};
  for (const std::int64_t m : rows) {
    const Problem problem = problem_of(recipe.weight, m);
    const ovt_answer answer = database_.query(asked(problem));
    const auto corrections = model.around(problem, Launch::graph);
    const auto config = value_or_throw(config_for(recipe, m));
    const auto time = value_or_throw(model.score(corrections, config)).time();
    loss += (time.count() / answer.predicted_us - 1) / static_cast<double>(rows.size());
  }
  EXPECT_LT(loss, 0.03);
}

TEST_F(PredictedTest, RecipesKeepTheTerms) {
  Problem most = kTuned;
  const std::string text =
      database_.recipe(asked(most), ovt::question(OVT_GRAPH, "sequential,chunked"));
  for (const RecipeRange& range : value_or_throw(parse_recipe(text)).ranges) {
    EXPECT_TRUE(tile_of(range.config).is_library()) << config_text(range);
  }
  most.ranks = 4;  // never probed
  const std::string unknown = database_.recipe(asked(most));
  EXPECT_THAT(unknown, HasSubstr("\nfrom=1 to=2048 sequential ctas=0 transport=ring"));
  char few[16];
  std::size_t length = 0;
  const ovt_problem problem = asked(kTuned);
  EXPECT_EQ(ovt_query_recipe(database_.handle(), &problem, nullptr, few, sizeof few, &length),
            OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_last_error(), HasSubstr("capacity = 16: expected"));
}

TEST_F(PredictedTest, OtherSizesAreWhatTheLearnedModelChooses) {
  const LearnedModel model = learned();
  for (const Problem problem :
       {Problem{Op::gemm_all_reduce, 1536, 4096, 2048, Elements::bf16, 8},
        Problem{Op::gemm_all_reduce, 2048, 8192, 2048, Elements::bf16, 8},
        Problem{Op::gemm_reduce_scatter, 8192, 8192, 3584, Elements::bf16, 8},
        Problem{Op::all_gather_gemm, 4096, 1024, 8192, Elements::bf16, 8}}) {
    const Ranking ranking =
        value_or_throw(model.rank(problem, Launch::graph, {.space = Space::subset, .best = 8}));
    const LearnedScore& best = ranking.choice();
    EXPECT_GT(ranking.corrections.rows(), 0U);
    const ovt_answer answer = database_.query(asked(problem));
    EXPECT_EQ(answer.source, OVT_PREDICTED);
    const Config config = value_or_throw(parse_config(answer.config));
    const Strategy strategy = strategy_of(config);
    EXPECT_EQ(answer.strategy, to_string(strategy));
    if (config == best.config) {
      EXPECT_EQ(answer.predicted_us, best.time().count());
    } else {
      EXPECT_FALSE(model.has_kernels_of(problem, best.config));
      EXPECT_TRUE(model.has_kernels_of(problem, config) || strategy == kBaseline);
      EXPECT_LE(answer.predicted_us, 1.02 * best.time().count());
    }
    EXPECT_TRUE(std::isnan(answer.measured_us));
    EXPECT_GE(answer.baseline_us, answer.predicted_us);
    EXPECT_THAT(answer.reason, HasSubstr("no winner is stored for this problem and launch"));
    const char* const says = strategy == kBaseline ? "faster than sequential" : "predicts";
    EXPECT_THAT(answer.reason, HasSubstr(says));
  }
}

TEST_F(PredictedTest, KernelsThatRanArePreferredWithinTwoPercent) {
  const LearnedModel model = learned();
  int preferred = 0;
  for (const std::int64_t m : {1024, 1536, 2560, 3072, 4096, 8192}) {
    for (const std::int64_t k : {1024, 1536, 2048, 3584}) {
      const Problem problem{Op::gemm_all_reduce, m, 4096, k, Elements::bf16, 8};
      const Ranking ranking =
          value_or_throw(model.rank(problem, Launch::graph,
                                    {.space = Space::subset,
                                     .best = 8,
                                     .strategies = model.measured_strategies(problem.op)}));
      const ovt_answer answer = database_.query(asked(problem));
      if (answer.source == OVT_EXACT || std::string(answer.strategy) == to_string(kBaseline))
        continue;
      const LearnedScore& first = ranking.scores.front();
      const LearnedScore* ran = nullptr;
      for (const LearnedScore& each : ranking.scores) {
        if (ran == nullptr && model.has_kernels_of(problem, each.config)) ran = &each;
      }
      const bool near = ran != nullptr && ran->time() <= 1.02 * first.time();
      EXPECT_EQ(answer.config, to_string(near ? ran->config : first.config)) << to_string(problem);
      if (near && ran != &first) {
        ++preferred;
        EXPECT_THAT(answer.reason, HasSubstr("within 2 % of the fastest"));
      }
    }
  }
  EXPECT_GT(preferred, 0);
}

/// The answer for a problem that was not tuned, where that is predicted to be the fastest.
TEST_F(PredictedTest, TilesPushWhereSomeDid) {
  Expected<LearnedModel> model = learned();
  const Problem problem{Op::all_gather_gemm, 1024, 1280, 8192, Elements::bf16, 8};
  const auto learn = [&](bool pushing) {
    const auto best = value_or_throw(
        search(model->analytic(), problem, Launch::graph,
               {.strategies = {strategy_of<Waiting>()},
                .accepts = [&](const Config& config) { return tiles_push(config) == pushing; }}));
    model->learn({.problem = problem,
                  .config = best.front().config,
                  .measured = Summary{best.front().time, best.front().time, best.front().time, 9}});
  };
  const auto pushes = [&](std::int64_t m) {
    Problem other = problem;
    other.m = m;
    const Unmeasured known{.platform = model->analytic().platform(),
                           .model = [&]() -> const Expected<LearnedModel>& { return model; }};
    const Answer answer =
        value_or_throw(answer_unmeasured(known, other, {.launch = Launch::graph}));
    EXPECT_EQ(strategy_of(answer.config), strategy_of<Waiting>());
    return tiles_push(answer.config);
  };
  learn(false);
  EXPECT_FALSE(pushes(2048));
  learn(true);
  EXPECT_TRUE(pushes(2048));
}

/// The strategies of a set of bits, and their names as a question has them.
std::pair<std::vector<Strategy>, std::string> strategies(unsigned mask) {
  std::vector<Strategy> list;
  std::string names;
  for (const auto& [strategy, name] : NamesOf<Strategy>::all) {
    if ((mask >> static_cast<unsigned>(strategy) & 1) == 0) continue;
    list.push_back(strategy);
    names += (names.empty() ? "" : ",") + std::string(name);
  }
  return {list, names};
}

TEST_F(PredictedTest, OnlyWhatIsAllowedAndWasMeasuredIsPredicted) {
  const LearnedModel model = learned();
  const Problem problem{Op::gemm_all_reduce, 1536, 4096, 2048, Elements::bf16, 8};
  const auto measured = model.measured_strategies(problem.op);
  int answered = 0;
  for (unsigned mask = 1; mask < (1U << kStrategies.size()) - 1; ++mask) {
    auto [allowed, names] = strategies(mask);
    std::erase_if(allowed, [&](Strategy each) { return !std::ranges::count(measured, each); });
    const ovt_question question = ovt::question(OVT_GRAPH, names.c_str());
    if (allowed.empty()) {
      EXPECT_THROW((void)database_.query(asked(problem), question), ovt::Error) << mask;
      EXPECT_THAT(ovt_last_error(), HasSubstr("was measured for gemm_all_reduce on this platform"));
      continue;
    }
    ++answered;
    const ovt_answer answer = database_.query(asked(problem), question);
    EXPECT_EQ(answer.source, OVT_PREDICTED);
    EXPECT_THAT(answer.reason, HasSubstr(" of "));
    // No allowed config of the whole ranking is faster, unless the gain is not sure.
    const Ranking all = value_or_throw(model.rank(
        problem, Launch::graph, {.space = Space::subset, .best = 8, .strategies = measured}));
    const auto fastest = std::ranges::find_if(all.scores, [&](const LearnedScore& score) {
      return std::ranges::count(allowed, strategy_of(score.config)) > 0;
    });
    ASSERT_NE(fastest, all.scores.end());
    if ((mask & 1) == 0 || answer.strategy != to_string(strategy_of<Sequential>())) {
      EXPECT_EQ(answer.config, to_string(fastest->config)) << names;
      EXPECT_EQ(answer.predicted_us, fastest->time().count()) << mask;
    }
  }
  EXPECT_GT(answered, 3);
}

TEST_F(PredictedTest, WithFreeSmsTimesAreThoseOfTheOthers) {
  const auto with = [&](const Problem& problem, int free_sms) {
    ovt_question question = ovt::question(OVT_GRAPH);
    question.free_sms = free_sms;
    return database_.query(asked(problem), question);
  };
  double before = 0;
  for (const int free_sms : {1, 8, 32, 64, 100}) {
    const ovt_answer answer = with(kTuned, free_sms);
    EXPECT_EQ(answer.source, OVT_PREDICTED);
    EXPECT_TRUE(std::isnan(answer.measured_us));
    EXPECT_THAT(answer.reason, HasSubstr("nothing was measured with " + std::to_string(free_sms)));
    EXPECT_THAT(answer.reason, HasSubstr(" on " + std::to_string(132 - free_sms) + " SMs"));
    EXPECT_GE(answer.baseline_us, before);
    before = answer.baseline_us;
  }
  // The other 32 of 132 SMs multiply no faster than the data sheet says: 989 TFLOP/s on all.
  const double flops = 2.0 * kTuned.m * kTuned.n * kTuned.k;
  const double least_us = flops / (989e6 * 32 / 132);
  EXPECT_GT(with(kTuned, 100).predicted_us, least_us);
  EXPECT_LT(winner_.candidate.measured->median.count(), least_us);
  const Problem other{Op::gemm_all_reduce, 1536, 4096, 2048, Elements::bf16, 8};
  EXPECT_EQ(with(other, 0).predicted_us, database_.query(asked(other)).predicted_us);
  EXPECT_THAT(with(other, 8).reason, HasSubstr("no winner is stored"));
  EXPECT_GT(with(other, 100).baseline_us, with(other, 0).baseline_us);
  EXPECT_THROW((void)with(kTuned, 132), ovt::Error);
}

TEST_F(PredictedTest, AnotherLaunchIsPredicted) {
  EXPECT_EQ(database_.query(asked(kTuned), OVT_EAGER).source, OVT_PREDICTED);
}

TEST_F(PredictedTest, RankCountsThatWereNotProbedAreTheBaseline) {
  for (const int ranks : {2, 4}) {
    Problem other = kTuned;
    other.ranks = ranks;
    const ovt_answer answer = database_.query(asked(other));
    EXPECT_EQ(answer.source, OVT_BASELINE) << ranks;
    EXPECT_STREQ(answer.strategy, "sequential");
    EXPECT_THAT(answer.reason, HasSubstr("ranks"));
  }
}

TEST_F(PredictedTest, MoreRanksOrMemoryThanThePlatformHasAreTheBaseline) {
  const ovt_answer ranks =
      database_.query(asked({Op::gemm_all_reduce, 2048, 4096, 2048, Elements::bf16, 16}));
  EXPECT_EQ(ranks.source, OVT_BASELINE);
  EXPECT_THAT(ranks.reason, HasSubstr("ranks = 16: expected at most the 8 GPUs"));
  const ovt_answer memory =
      database_.query(asked({Op::gemm_all_reduce, 1 << 20, 1 << 20, 2048, Elements::bf16, 8}));
  EXPECT_EQ(memory.source, OVT_BASELINE);
  EXPECT_THAT(memory.reason, HasSubstr("MB of a GPU"));
}

TEST_F(PredictedTest, AnotherTransportOrGpuIsTheBaselineAndNamed) {
  const Store store(file(), Access::read);
  Platform other = store.platforms().front().platform;
  other.link = "host_memory";
  other.gpu_model = "another GPU";
  const ovt_platform described = stored::described(other);
  const ovt_answer answer = ovt::Database({file()}, &described).query(asked(kTuned));
  EXPECT_EQ(answer.source, OVT_BASELINE);
  EXPECT_THAT(answer.reason, HasSubstr("gpu_model: another GPU here"));
  EXPECT_THAT(answer.reason, HasSubstr("transport: host_memory here"));
}

TEST_F(PredictedTest, ThreadsThatAskTheSameGetTheSame) {
  std::vector<ovt_answer> answers(8);
  std::vector<std::thread> threads;
  for (auto& answer : answers) {
    threads.emplace_back([&] {
      for (int m = 1; m <= 20; ++m) {
        answer =
            database_.query(asked({Op::gemm_all_reduce, 64 * m, 4096, 1024, Elements::bf16, 8}));
        ovt_question question = ovt::question(OVT_GRAPH, "sequential,chunked");
        question.free_sms = m % 3;
        (void)database_.query(asked(kTuned), question);
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (const ovt_answer& answer : answers) {
    EXPECT_EQ(answer.source, OVT_PREDICTED);
    EXPECT_EQ(answer.predicted_us, answers[0].predicted_us);
  }
}

TEST_F(PredictedTest, MeasurementsOfSeveralDatabasesMakeOneModel) {
  const TemporaryFolder folder;
  {
    Store own(folder / "own.db", Access::create);
    const Store store(file(), Access::read);
    own.add_platform(store.platforms().front().platform);
  }
  const ovt::Database layered({folder / "own.db", file()}, &platform_);
  EXPECT_EQ(layered.query(asked(kTuned)).source, OVT_EXACT);
  const Problem other{Op::gemm_all_reduce, 1536, 4096, 2048, Elements::bf16, 8};
  EXPECT_EQ(layered.query(asked(other)).predicted_us, database_.query(asked(other)).predicted_us);
}

}  // namespace
}  // namespace overlaptune
