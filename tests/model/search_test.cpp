// The search and the predictions, on measurements of a simulated machine.

#include "model/search.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "fitted.hpp"
#include "held_out.hpp"
#include "model/clock_slowdown.hpp"
#include "model/parts.hpp"
#include "tuner/explore.hpp"

namespace overlaptune {
namespace {

class SearchTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-rings-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }
  static const Model& model() { return fitted_->model; }
  inline static std::unique_ptr<FittedMachine> fitted_;
};

TEST_F(SearchTest, predicts_what_it_promises_in_ascending_order) {
  for (const Problem& problem : held_out_problems(12, 8, 3)) {
    const auto best = search(model(), problem, Launch::graph, {.best = 20});
    ASSERT_TRUE(best);
    Microseconds last{};
    for (const Scored& scored : *best) {
      const auto prediction = model().predict(problem, scored.config, Launch::graph);
      ASSERT_TRUE(prediction) << to_string(scored.config) << ": " << prediction.error().message;
      EXPECT_NEAR(prediction->time / scored.time, 1, 1e-9) << to_string(scored.config);
      EXPECT_GE(scored.time, last);
      last = scored.time;
    }
  }
}

/// Each strategy by itself: most are not among the first of all.
TEST_F(SearchTest, each_strategy_predicts_what_it_promises) {
  int compared = 0;
  for (const Strategy strategy : {strategy_of<Chunked>(), strategy_of<Signaled>()}) {
    for (const Problem& problem : held_out_problems(6, 8, 13)) {
      if (!traits_of(strategy).ops.contains(problem.op)) continue;
      const auto best =
          search(model(), problem, Launch::graph, {.best = 10, .strategies = {strategy}});
      ASSERT_TRUE(best);
      for (const Scored& scored : *best) {
        if (strategy_of(scored.config) != strategy) continue;
        ++compared;
        const auto prediction = model().predict(problem, scored.config, Launch::graph);
        ASSERT_TRUE(prediction) << to_string(scored.config);
        EXPECT_NEAR(prediction->time / scored.time, 1, 1e-9) << to_string(scored.config);
      }
    }
  }
  EXPECT_GT(compared, 40);
}

/// Four equal chunks: four times the collective of a quarter, and four times the library's GEMM of
/// a quarter of the rows, at the clock that the GPU keeps beside it.
TEST_F(SearchTest, the_parts_of_four_chunks_add_up) {
  const Problem problem{Op::gemm_all_reduce, 8192, 4096, 3584, Elements::bf16, 8};
  const Config config = Chunked{.comm_ctas = 16, .chunks = 4};
  const Prediction prediction = value_or_throw(model().predict(problem, config, Launch::graph));
  const Model::Parts& parts = model().parts();
  const ClassGemms& gemms = *value_or_throw(parts.gemms_of(Elements::bf16));
  const CollectiveKey key{Collective::all_reduce, 8, 16, Transport::ring};
  const double quarter = 2048.0 * 4096 * 2;  // bytes
  const double collective = 4 * (*value_or_throw(parts.collectives.curve(key)))(quarter);
  EXPECT_NEAR(prediction.collective_alone.count(), collective, 1e-9 * collective);

  const double gemm = 4 * gemms.library.time(2048, 4096, 3584, 132 - 16);
  const Slowdown slowdown = gemms.contention(key, quarter, 3584, GemmFamily::library);
  const double clock = clock_slowdown_beside(
      parts.clock, problem, background_of(parts, gemms, problem), {gemm}, collective, slowdown);
  EXPECT_NEAR(prediction.gemm_alone.count(), gemm * clock, 1e-9 * gemm);
  EXPECT_EQ(prediction.timeline.groups.size(), 4U);
}

TEST_F(SearchTest, a_gemm_pays_its_launch_once_or_for_each_tile) {
  const GemmModel& gemms = *value_or_throw(model().parts().gemms_of(Elements::bf16))->generated;
  const GemmProbe probe{.m = 4096,
                        .n = 8192,
                        .k = 3584,
                        .elements = Elements::bf16,
                        .tile = {128, 256, 64, 4, 1},
                        .swizzle = 8};
  const double launch = gemms.constants().per_launch;
  const double persistent = gemms.tile_time(probe, 132, true);
  const double alone = gemms.tile_time(probe, 132, false);
  ASSERT_GT(launch, 0);
  EXPECT_NEAR(alone - persistent, launch, 1e-9);
  // 32 x 32 tiles.
  const double spread = gemms.constants().spread;
  EXPECT_NEAR(gemms.whole(probe, 132, true), launch + produced(persistent, 1024, 132, spread),
              1e-9);
  EXPECT_NEAR(gemms.whole(probe, 132, false), produced(alone, 1024, 132, spread), 1e-9);
}

/// The space of the search, as docs/model.md gives it; configs drawn at random may lie outside.
bool in_space(const Config& config, const Problem& problem) {
  if (const auto* chunked = std::get_if<Chunked>(&config)) return chunked->chunks <= 32;
  const int swizzle = std::get<Signaled>(config).swizzle;
  const bool known_swizzle =
      swizzle == 1 || swizzle == 2 || swizzle == 4 || swizzle == 8 || swizzle == 16;
  return known_swizzle && (swizzle == 1 || swizzle * row_blocks(problem) <= 32);
}

TEST_F(SearchTest, nothing_drawn_at_random_is_predicted_to_be_faster) {
  const std::vector<CommSetting> kSettings{{2}, {4}, {6}, {8}, {12}, {16}, {24}, {32}};
  const ExploreSpace space{.platform = fitted_->machine->platform(),
                           .strategies = {strategy_of<Chunked>(), strategy_of<Signaled>()},
                           .settings = {{Collective::all_reduce, kSettings},
                                        {Collective::reduce_scatter, kSettings},
                                        {Collective::all_gather, kSettings},
                                        {Collective::all_to_all, kSettings}}};
  int compared = 0;
  for (const Problem& problem : held_out_problems(16, 8, 5)) {
    const auto best = search(model(), problem, Launch::graph, {});
    ASSERT_TRUE(best);
    for (const Config& config : explore(space, problem, 400, 9)) {
      if (!in_space(config, problem)) continue;
      const auto prediction = model().predict(problem, config, Launch::graph);
      ASSERT_TRUE(prediction) << prediction.error().message;
      EXPECT_GE(prediction->time, best->front().time * (1 - 1e-9))
          << to_string(problem) << " " << to_string(config) << " against "
          << to_string(best->front().config);
      ++compared;
    }
  }
  EXPECT_GT(compared, 2000);
}

TEST_F(SearchTest, the_subset_is_part_of_the_space) {
  for (const Problem& problem : held_out_problems(12, 8, 7)) {
    const auto full = search(model(), problem, Launch::graph, {});
    const auto subset = search(model(), problem, Launch::graph, {.space = Space::subset});
    EXPECT_LE(full->front().time, subset->front().time * (1 + 1e-12));
  }
}

TEST_F(SearchTest, the_subset_loses_little) {
  std::vector<Problem> problems = held_out_problems(40, 8, 11);
  for (const auto& [op, name] : NamesOf<Op>::all) {
    for (const std::int64_t m : {65'536, 1 << 20}) {
      problems.push_back({op, m, 8192, 3584, Elements::bf16, 8});
    }
  }
  double sum = 0;
  for (const Problem& problem : problems) {
    const auto full = search(model(), problem, Launch::graph, {});
    const auto subset = search(model(), problem, Launch::graph, {.space = Space::subset});
    const double loss = subset->front().time / full->front().time - 1;
    EXPECT_LE(loss, problem.m > 40'000 ? 0.045 : 0.1) << to_string(problem);
    sum += loss;
  }
  EXPECT_LE(sum / static_cast<double>(problems.size()), 0.01);
}

TEST_F(SearchTest, wanted_strategies_are_the_only_ones_beside_sequential) {
  const Problem problem{Op::gemm_reduce_scatter, 16384, 8192, 3584, Elements::bf16, 8};
  const auto best =
      search(model(), problem, Launch::graph, {.best = 50, .strategies = {strategy_of<Chunked>()}});
  for (const Scored& scored : *best) EXPECT_NE(strategy_of(scored.config), strategy_of<Signaled>());
  EXPECT_EQ(strategy_of(best->front().config), strategy_of<Chunked>());
}

/// The rows and columns of a tile, or the number of chunks.
std::pair<int, int> shape(const Config& config) {
  if (const auto* chunked = std::get_if<Chunked>(&config)) return {chunked->chunks, 0};
  const auto* signaled = std::get_if<Signaled>(&config);
  return signaled == nullptr ? std::pair{1, 0}
                             : std::pair{signaled->tile.block_m, signaled->tile.block_n};
}

TEST_F(SearchTest, a_shortlist_starts_with_the_best_and_differs) {
  const Problem problem{Op::gemm_all_reduce, 8192, 8192, 3584, Elements::bf16, 8};
  const auto best = search(model(), problem, Launch::graph, {.best = 200});
  const auto few = shortlist(*best, 5);
  ASSERT_EQ(few.size(), 5U);
  EXPECT_EQ(few.front().config, best->front().config);
  for (std::size_t i = 1; i < few.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      const Config& a = few[i].config;
      const Config& b = few[j].config;
      EXPECT_TRUE(strategy_of(a) != strategy_of(b) || comm_ctas(a) != comm_ctas(b) ||
                  shape(a) != shape(b));
    }
  }
  EXPECT_EQ(shortlist(*best, 1000).size(), best->size());
}

TEST_F(SearchTest, the_first_of_many_waves_is_cut_at_any_wave) {
  // Some 400 waves: no group that is moved by one wave is faster, and a longer list begins the
  // same.
  const Problem problem{Op::gemm_all_reduce, 32768, 8192, 512, Elements::bf16, 8};
  const SearchOptions one{.strategies = {strategy_of<Signaled>()}};
  const Scored first = value_or_throw(search(model(), problem, Launch::graph, one)).front();
  ASSERT_EQ(strategy_of(first.config), strategy_of<Signaled>());
  const auto& config = std::get<Signaled>(first.config);
  const SearchOptions many{.best = 20, .strategies = {strategy_of<Signaled>()}};
  EXPECT_EQ(value_or_throw(search(model(), problem, Launch::graph, many)).front().time, first.time);
  const TileOrder order = tile_order(problem, config.tile, config.swizzle);
  const std::int64_t column = order.column_tiles(0);
  const std::int64_t wave = std::max(column, (132 - config.comm_ctas) / column * column);
  for (std::size_t i = 0; i + 1 < config.wave_groups.size(); ++i) {
    for (const std::int64_t moved : {-wave, wave}) {
      Signaled other = config;
      other.wave_groups[i] += moved;
      other.wave_groups[i + 1] -= moved;
      const auto prediction = model().predict(problem, other, Launch::graph);
      if (!prediction) continue;
      EXPECT_GE(prediction->time.count(), first.time.count() * 0.9995);
    }
  }
}

/// Long problems have thousands of waves, and the search looks at some of their cuts only.
TEST_F(SearchTest, a_long_problem_loses_little_by_cuts_that_are_left_out) {
  const auto best = [&](const Problem& problem, Space space) {
    const SearchOptions options{.space = space, .strategies = {strategy_of<Signaled>()}};
    return value_or_throw(search(model(), problem, Launch::graph, options)).front().time;
  };
  for (const Problem& problem :
       {Problem{Op::gemm_all_reduce, 24'576, 8192, 512, Elements::bf16, 8},
        Problem{Op::gemm_all_reduce, 40'000, 2048, 1024, Elements::bf16, 8},
        Problem{Op::gemm_reduce_scatter, 262'144, 8192, 1024, Elements::bf16, 8},
        Problem{Op::gemm_reduce_scatter, 100'008, 5120, 3584, Elements::bf16, 8},
        Problem{Op::gemm_all_to_all, 131'072, 8192, 1024, Elements::bf16, 8},
        Problem{Op::gemm_all_to_all, 524'288, 1024, 4096, Elements::bf16, 8}}) {
    EXPECT_LE(best(problem, Space::full), best(problem, Space::every_cut) * 1.001)
        << to_string(problem);
  }
}

TEST_F(SearchTest, no_problem_is_too_long) {
  for (const auto& [op, name] : NamesOf<Op>::all) {
    for (const std::int64_t m :
         {std::int64_t{1} << 20, std::int64_t{1} << 24, kLargestSize / 8 * 8}) {
      for (const std::int64_t n : {std::int64_t{8192}, kLargestSize / 8 * 8}) {
        const Problem problem{op, m, n, 4096, Elements::bf16, 8};
        for (const Space space : {Space::full, Space::subset}) {
          const auto best = search(model(), problem, Launch::graph, {.space = space, .best = 3});
          ASSERT_TRUE(best) << to_string(problem);
          for (const Scored& scored : *best) {
            const auto prediction = model().predict(problem, scored.config, Launch::graph);
            ASSERT_TRUE(prediction) << to_string(problem) << ": " << prediction.error().message;
            EXPECT_TRUE(std::isfinite(scored.time.count()));
            EXPECT_NEAR(prediction->time / scored.time, 1, 1e-9) << to_string(scored.config);
          }
        }
        EXPECT_FALSE(explore(ExploreSpace{.platform = fitted_->machine->platform(),
                                          .strategies = {strategy_of<Signaled>()},
                                          .settings = {{collective_of(op), {{8}, {16}}}}},
                             problem, 3, 9)
                         .empty() &&
                     op != Op::all_gather_gemm && op != Op::all_to_all_gemm)
            << to_string(problem);
      }
    }
  }
}

TEST_F(SearchTest, a_stopped_search_ends_with_what_it_has) {
  const Problem problem{Op::gemm_all_reduce, 65536, 8192, 1024, Elements::bf16, 8};
  int asked = 0;
  const auto stopped =
      search(model(), problem, Launch::graph, {.stop = [&] { return ++asked > 9; }});
  ASSERT_TRUE(stopped);
  EXPECT_FALSE(stopped->empty());
  EXPECT_LT(asked, 100);
}

TEST_F(SearchTest, probes_that_were_not_made_are_predicted) {
  const std::vector<Probe> probes{GemmProbe{.m = 3000, .n = 5120, .k = 4000},
                                  GemmProbe{.m = 700, .n = 10240, .k = 2048, .sms = 116},
                                  CollectiveProbe{Collective::all_reduce, {3'000'000}, 8, 16},
                                  CollectiveProbe{Collective::all_gather, {90'000'000}, 8, 0}};
  for (const Probe& probe : probes) {
    const auto predicted = model().predict(probe);
    ASSERT_TRUE(predicted) << to_string(probe);
    const auto measured = fitted_->machine->measure(probe);
    ASSERT_TRUE(measured) << to_string(probe);
    EXPECT_NEAR(*predicted / measured->time.median, 1, 0.12) << to_string(probe);
  }
  EXPECT_FALSE(model().predict(Probe(CopyProbe{{4096}, 0})));
  EXPECT_FALSE(model().predict(Probe(CollectiveProbe{Collective::all_reduce, {4096}, 3, 16})));
}

TEST_F(SearchTest, bad_configs_are_refused_by_name) {
  const Problem problem{Op::gemm_all_reduce, 1024, 1024, 1024, Elements::bf16, 8};
  auto message = [&](Config config, Problem p) {
    const auto prediction = model().predict(p, config, Launch::graph);
    return prediction ? std::string() : prediction.error().message;
  };
  EXPECT_NE(message(Chunked{.comm_ctas = 8, .chunks = 2000}, problem).find("chunks = 2000"),
            std::string::npos);
  Signaled odd{
      .tile = {100, 100, 64, 4, 1}, .swizzle = 1, .comm_ctas = 8, .wave_groups = {11 * 11}};
  EXPECT_NE(message(odd, problem).find("100x100x64"), std::string::npos);
  Signaled all_sms{
      .tile = {128, 128, 64, 4, 1}, .swizzle = 1, .comm_ctas = 132, .wave_groups = {64}};
  EXPECT_NE(message(all_sms, problem).find("ctas = 132"), std::string::npos);
  EXPECT_NE(message(Sequential{.comm_ctas = 5}, problem).find("5 CTAs"), std::string::npos);
  Problem four = problem;
  four.ranks = 4;
  EXPECT_NE(message({}, four).find("4 ranks"), std::string::npos);
  Problem many = problem;
  many.ranks = 16;
  EXPECT_NE(message({}, many).find("ranks = 16"), std::string::npos);
  EXPECT_EQ(search(model(), many, Launch::graph, {}).error().message, message({}, many));
  Problem gather = problem;
  gather.op = Op::all_gather_gemm;
  all_sms.comm_ctas = 8;
  EXPECT_NE(message(all_sms, gather).find("all_gather_gemm"), std::string::npos);
}

/// The model of some of the measurements.
template <class Keep>
Model fitted_to(const FittedMachine& fitted, const Keep& keep) {
  std::vector<Measurement> list;
  for (const Measurement& measurement : fitted.measurements) {
    if (keep(measurement.probe)) list.push_back(measurement);
  }
  return value_or_throw(Model::fit(fitted.machine->platform(), list));
}

/// Tensor cores multiply bf16 and fp16 at one rate, so probes with one also tell about the other.
TEST_F(SearchTest, dtypes_of_one_rate_class_are_fitted_together) {
  std::vector<Measurement> mixed = fitted_->measurements;
  for (Measurement& measurement : mixed) {
    const auto change = [](GemmProbe& gemm) {
      if ((gemm.m + gemm.n + gemm.k) / 64 % 2 == 0) gemm.elements = Elements::fp16;
    };
    if (auto* gemm = std::get_if<GemmProbe>(&measurement.probe)) change(*gemm);
    if (auto* both = std::get_if<ConcurrentProbe>(&measurement.probe)) change(both->gemm);
    if (auto* turns = std::get_if<SustainedProbe>(&measurement.probe)) change(turns->gemm);
  }
  const Model pooled = value_or_throw(Model::fit(fitted_->machine->platform(), mixed));
  Problem problem{Op::gemm_reduce_scatter, 8192, 8192, 3584, Elements::bf16, 8};
  const auto of_bf16 = value_or_throw(search(model(), problem, Launch::graph, {})).front();
  problem.elements = Elements::fp16;
  const auto of_fp16 = value_or_throw(search(pooled, problem, Launch::graph, {})).front();
  EXPECT_EQ(of_bf16.config, of_fp16.config);
  EXPECT_EQ(of_bf16.time, of_fp16.time);
}

TEST_F(SearchTest, sms_are_handed_over_where_that_was_probed_only) {
  const Problem problem{Op::gemm_all_reduce, 8192, 8192, 3584, Elements::bf16, 8};
  const Config config = Signaled{.tile = {128, 256, 64, 4, 1},
                                 .swizzle = 4,
                                 .comm_ctas = kHandedOver,
                                 .wave_groups = {1024, 512, 512}};
  const auto predicted = model().predict(problem, config, Launch::graph);
  ASSERT_TRUE(predicted) << predicted.error().message;
  const auto run = fitted_->machine->run(problem, std::vector{config}, {});
  ASSERT_TRUE(run);
  const double measured = summarize(slowest_rank(run->front())).median.count();
  EXPECT_NEAR(predicted->time.count() / measured, 1, 0.05);

  const Model unknowing = fitted_to(*fitted_, [](const Probe& probe) {
    const auto* pair = std::get_if<ConcurrentProbe>(&probe);
    return pair == nullptr || pair->collective.comm_ctas > 0;
  });
  const auto refused = unknowing.predict(problem, config, Launch::graph);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("comm_ctas = 0"), std::string::npos);
  const auto is_handed_over = [](const Scored& scored) {
    const auto* signaled = std::get_if<Signaled>(&scored.config);
    return signaled != nullptr && signaled->comm_ctas == kHandedOver;
  };
  const SearchOptions many{.best = 5000};
  const auto all = search(model(), problem, Launch::graph, many);
  EXPECT_TRUE(std::any_of(all->begin(), all->end(), is_handed_over));
  const auto known = search(unknowing, problem, Launch::graph, many);
  EXPECT_FALSE(std::any_of(known->begin(), known->end(), is_handed_over));
}

TEST_F(SearchTest, a_kernel_waits_where_it_is_much_quicker) {
  const Problem problem{Op::gemm_all_reduce, 8192, 8192, 3584, Elements::bf16, 8};
  const auto best_wait = [&](double factor) {
    std::vector<Measurement> list = fitted_->measurements;
    for (Measurement& measurement : list) {
      if (measurement.probe == Probe(LaunchProbe{LaunchCost::kernel_trigger})) {
        measurement.time.median *= factor;
      }
    }
    const auto model = Model::fit(fitted_->machine->platform(), list);
    const auto best =
        search(*model, problem, Launch::graph, {.strategies = {strategy_of<Signaled>()}});
    return std::get<Signaled>(best->front().config).wait;
  };
  EXPECT_EQ(best_wait(0.5), Wait::kernel);
  EXPECT_EQ(best_wait(1), Wait::driver);
  EXPECT_EQ(best_wait(2), Wait::driver);

  const Model unknowing = fitted_to(*fitted_, [](const Probe& probe) {
    return probe != Probe(LaunchProbe{LaunchCost::kernel_trigger});
  });
  auto config = std::get<Signaled>(
      search(model(), problem, Launch::graph, {.strategies = {strategy_of<Signaled>()}})
          ->front()
          .config);
  ASSERT_TRUE(unknowing.predict(problem, config, Launch::graph));
  config.wait = Wait::kernel;
  ASSERT_TRUE(model().predict(problem, config, Launch::graph));
  const auto refused = unknowing.predict(problem, config, Launch::graph);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("kernel_trigger"), std::string::npos);
}

/// With 1024 tiles, groups that do not end with a swizzle group are copied into place; the last of
/// three is copied after the GEMM, on all SMs.
TEST_F(SearchTest, copies_beside_the_gemm_take_what_few_sms_take) {
  const Problem problem{Op::gemm_reduce_scatter, 8192, 8192, 3584, Elements::bf16, 8};
  const LaunchProbe by_few{LaunchCost::reorder_on_few_sms_per_mb};
  double of_a_megabyte = 0;
  const auto predicted = [&](double factor, const std::vector<std::int64_t>& groups) {
    std::vector<Measurement> list;
    for (Measurement measurement : fitted_->measurements) {
      if (measurement.probe == Probe(by_few)) {
        of_a_megabyte = measurement.time.median.count();
        if (factor == 0) continue;  // not probed
        measurement.time.median *= factor;
      }
      list.push_back(measurement);
    }
    const Signaled config{
        .tile = {128, 256, 64, 4, 1}, .swizzle = 4, .comm_ctas = kFewSms, .wave_groups = groups};
    const Model model = value_or_throw(Model::fit(fitted_->machine->platform(), list));
    return value_or_throw(model.predict(problem, config, Launch::graph)).collective_alone.count();
  };
  const std::vector<std::int64_t> staged{512, 1024, 512};
  const std::vector<std::int64_t> in_place{1024, 1024};
  EXPECT_DOUBLE_EQ(predicted(10, in_place), predicted(1, in_place));
  const double more = predicted(11, staged) - predicted(1, staged);
  // A rank receives an eighth; the GEMM takes longer than the collective, or nearly so.
  const double all = 10 * of_a_megabyte * (8192.0 * 8192 * 2 / 1e6) / 8 * 3 / 4;
  EXPECT_LE(more, all * 1.001);
  EXPECT_GT(more, all / 2);
  EXPECT_LT(predicted(0, staged), predicted(1, staged));
}

TEST_F(SearchTest, a_missing_probe_is_named) {
  auto without = [&](auto keep) {
    std::vector<Measurement> list;
    for (const Measurement& m : fitted_->measurements) {
      if (keep(m.probe)) list.push_back(m);
    }
    const auto model = Model::fit(fitted_->machine->platform(), list);
    return model ? std::string() : model.error().message;
  };
  EXPECT_NE(without([](const Probe& p) {
              return !std::holds_alternative<LaunchProbe>(p);
            }).find("graph_replay"),
            std::string::npos);
  EXPECT_NE(without([](const Probe& p) {
              return !std::holds_alternative<CollectiveProbe>(p);
            }).find("collective"),
            std::string::npos);
  EXPECT_NE(without([](const Probe& p) {
              return !std::holds_alternative<GemmProbe>(p);
            }).find("library's GEMM"),
            std::string::npos);
  // Without generated kernels the library GEMM remains, for a machine that cannot run them yet.
  EXPECT_EQ(without([](const Probe& p) {
              const auto* gemm = std::get_if<GemmProbe>(&p);
              return gemm == nullptr || gemm->tile.is_library();
            }),
            "");
}

}  // namespace
}  // namespace overlaptune
