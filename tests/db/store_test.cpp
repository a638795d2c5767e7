#include "db/store.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "db/impl.hpp"
#include "processes.hpp"
#include "samples.hpp"
#include "tests/core/config_cases.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Generator;

class StoreTest : public testing::Test {
 protected:
  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "a b?#%41.db";  // nothing that a URI may misread
  Store store_{file_, Access::create};
  Generator draw_{1};
};

TEST_F(StoreTest, EveryMeasurementComesBackUnchangedFromAnotherHandle) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_probe_run(platform, draw_.provenance());
  std::map<std::string, Measurement> added;
  for (int i = 0; i < 300; ++i) {
    const auto measurement = draw_.measurement();
    added[to_string(measurement.probe)] = measurement;
    store_.add_measurement(run, measurement);
  }
  const Store reader(file_, Access::read);
  const auto found = reader.measurements(platform);
  ASSERT_EQ(found.size(), added.size());
  for (const auto& measurement : found) {
    EXPECT_EQ(measurement, added.at(to_string(measurement.probe))) << to_string(measurement.probe);
  }
}

TEST_F(StoreTest, EveryCandidateComesBackUnchangedInTheOrderItWasAdded) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  std::vector<Candidate> added;
  for (int i = 0; i < 300; ++i) {
    added.push_back(draw_.candidate());
    store_.add_candidate(run, added.back());
  }
  const Store reader(file_, Access::read);
  const auto found = reader.all_candidates();
  ASSERT_EQ(found.size(), added.size());
  for (std::size_t i = 0; i < added.size(); ++i) {
    EXPECT_EQ(found[i].candidate, added[i]) << i;
    EXPECT_EQ(found[i].run, run);
    EXPECT_EQ(found[i].platform, platform);
  }
}

TEST_F(StoreTest, CandidatesOfOneProblemAndLaunchOnly) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  const auto other_run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  auto wanted = draw_.candidate();
  wanted.launch = Launch::graph;
  wanted.config = samples::numbered_config(1);
  auto eager = wanted;
  eager.launch = Launch::eager;
  auto other_problem = wanted;
  other_problem.problem.n += 16;
  auto other_config = wanted;
  other_config.config = samples::numbered_config(7);
  for (const auto& candidate : {wanted, eager, other_problem, other_config}) {
    store_.add_candidate(run, candidate);
  }
  store_.add_candidate(other_run, wanted);
  EXPECT_EQ(store_.candidates(run, wanted.problem, Launch::graph),
            (std::vector{wanted, other_config}));
  EXPECT_TRUE(store_.candidates(run, draw_.problem(), Launch::graph).empty());
}

TEST_F(StoreTest, ALaterResultReplacesAnEarlierOneInTheSameRun) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto probing = store_.begin_probe_run(platform, draw_.provenance());
  auto measurement = draw_.measurement();
  store_.add_measurement(probing, measurement);
  measurement.time = draw_.summary();
  store_.add_measurement(probing, measurement);
  EXPECT_EQ(store_.measurements(platform), std::vector{measurement});

  const auto tuning = store_.begin_tuning_run(platform, "request", draw_.provenance());
  auto candidate = draw_.candidate();
  store_.add_candidate(tuning, candidate);
  candidate.verdict = Verdict::rank_died;
  candidate.measured = std::nullopt;
  store_.add_candidate(tuning, candidate);
  EXPECT_EQ(store_.candidates(tuning, candidate.problem, candidate.launch), std::vector{candidate});
}

/// The clock was ahead during the first run.
TEST_F(StoreTest, TheLastRunTellsTheMeasurementOfAProbeWhateverTheClocksSay) {
  const auto platform = store_.add_platform(draw_.platform());
  auto provenance = draw_.provenance();
  provenance.started_at = "2026-02-02T00:00:00.000Z";
  const auto older = store_.begin_probe_run(platform, provenance);
  provenance.started_at = "2026-01-01T00:00:00.000Z";
  const auto newer = store_.begin_probe_run(platform, provenance);
  Measurement measurement{.probe = LaunchProbe{LaunchCost::eager_first}, .time = draw_.summary()};
  auto old_measurement = measurement;
  old_measurement.time = draw_.summary();
  store_.add_measurement(newer, measurement);
  store_.add_measurement(older, old_measurement);
  Measurement only_old{.probe = LaunchProbe{LaunchCost::graph_replay}, .time = draw_.summary()};
  store_.add_measurement(older, only_old);
  auto found = store_.measurements(platform);
  EXPECT_EQ(found.size(), 2U);
  EXPECT_NE(std::find(found.begin(), found.end(), measurement), found.end());
  EXPECT_NE(std::find(found.begin(), found.end(), only_old), found.end());
}

TEST_F(StoreTest, WhatTheProblemsAreInTheirModelsComesBackFromAnotherHandle) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto other = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  std::vector<LayerGemm> added;
  for (int i = 0; i < 100; ++i) added.push_back(draw_.layer_gemm());
  // Two products may be one problem, in one model or in two.
  added.push_back(added.back());
  added.back().model += "-instruct";
  added.push_back(added.back());
  added.back().product = added.back().product == Product::o ? Product::down : Product::o;
  store_.add_layer_gemms(run, added);
  store_.add_layer_gemms(run, {});
  const Store reader(file_, Access::read);
  EXPECT_EQ(reader.layer_gemms(platform), added);
  EXPECT_EQ(reader.info().layer_gemms, 102);
  EXPECT_TRUE(reader.layer_gemms(other).empty());
  EXPECT_TRUE(reader.check().empty());
}

TEST_F(StoreTest, TheLastRunTellsHowOftenAPassRunsAProductWhateverTheClocksSay) {
  const auto platform = store_.add_platform(draw_.platform());
  auto provenance = draw_.provenance();
  provenance.started_at = "2026-02-02T00:00:00.000Z";
  const auto older = store_.begin_tuning_run(platform, "first", provenance);
  provenance.started_at = "2026-01-01T00:00:00.000Z";
  const auto newer = store_.begin_tuning_run(platform, "last", provenance);
  EXPECT_EQ(store_.last_tuning_run(platform)->request, "last");  // --resume goes on with it
  LayerGemm gemm = draw_.layer_gemm();
  const LayerGemm only_old = draw_.layer_gemm();
  gemm.times_per_pass = 32;
  store_.add_layer_gemms(newer, std::vector{gemm});
  gemm.times_per_pass = 40;
  store_.add_layer_gemms(older, std::vector{gemm, only_old});
  gemm.times_per_pass = 80;
  store_.add_layer_gemms(newer, std::vector{gemm});  // takes the place of the first
  EXPECT_EQ(store_.layer_gemms(platform), (std::vector{gemm, only_old}));
}

TEST_F(StoreTest, AProductThatBreaksARuleIsRefusedWithAllThatCameWithIt) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  const LayerGemm sound = draw_.layer_gemm();
  const auto refused = [&](auto change, TuningRunId where) {
    LayerGemm wrong = sound;
    change(wrong);
    return samples::failure(ErrorKind::bad_input, [&] {
      store_.add_layer_gemms(where, std::vector{sound, wrong});
    });
  };
  const auto said = [&](auto change, const char* words) {
    const std::string message = refused(change, run);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  said([](LayerGemm& gemm) { gemm.model.clear(); }, "model is empty");
  said([](LayerGemm& gemm) { gemm.tokens = 0; }, "tokens is 0; expected 1 to");
  said([](LayerGemm& gemm) { gemm.times_per_pass = -1; }, "times_per_pass is -1; expected 1 to");
  said([](LayerGemm& gemm) { gemm.problem.n = 12; }, "n = 12");
  refused([](LayerGemm&) {}, run + 1);
  EXPECT_EQ(store_.info().layer_gemms, 0);
  EXPECT_EQ(store_.info().problems, 0);
}

TEST_F(StoreTest, WhatThePhasesOfSecondRunsFoundComesBackFromAnotherHandle) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  std::vector<PhaseResult> added;
  for (int i = 0; i < 100; ++i) added.push_back(draw_.phase_result());
  store_.add_phase_results(run, added);
  added[3].sequential = us(12.5);
  store_.add_phase_results(run, std::span(added).subspan(3, 1));  // takes the place of the first
  const Store reader(file_, Access::read);
  EXPECT_EQ(reader.phase_results(run), added);
  EXPECT_EQ(reader.info().phase_results, 100);
  EXPECT_TRUE(reader.phase_results(run + 1).empty());
  EXPECT_TRUE(reader.check().empty());
}

TEST_F(StoreTest, AResultOfAPhaseThatBreaksARuleIsRefusedWithAllThatCameWithIt) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  PhaseResult sound = draw_.phase_result();
  sound.verdict = Verdict::valid;
  sound.measured = Summary{us(2), us(1), us(3), 9};
  sound.sequential = us(2);
  sound.speedup = {1, 0.9, 1.1};
  const auto said = [&](auto change, const char* words) {
    PhaseResult wrong = sound;
    change(wrong);
    const std::string message = samples::failure(ErrorKind::bad_input, [&] {
      store_.add_phase_results(run, std::vector{sound, wrong});
    });
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  said([](PhaseResult& result) { result.measured.reset(); }, "speedup: expected none");
  said([](PhaseResult& result) { result.verdict = Verdict::timeout; }, "speedup: expected none");
  said(
      [](PhaseResult& result) {
        result.speedup = {1, 1.1, 1.2};
      },
      "speedup median is 1; expected low to high, which are 1.1 and 1.2");
  said([](PhaseResult& result) { result.speedup = {1, 1, NAN}; }, "speedup high is nan");
  said([](PhaseResult& result) { result.sequential = us(-1); }, "sequential (us) is -1");
  said(
      [](PhaseResult& result) {
        result.measured = Summary{us(1), us(2), us(3), 9};
      },
      "measured median (us) is 1; expected p10 to p90, which are 2 and 3");
  said([](PhaseResult& result) { result.problem.n = 12; }, "n = 12");
  said([](PhaseResult& result) { result.conditions.power_w = -1; }, "power_w is -1");
  EXPECT_EQ(store_.info().phase_results, 0);
}

TEST_F(StoreTest, AnEqualPlatformIsStoredOnce) {
  const auto platform = draw_.platform();
  const auto id = store_.add_platform(platform);
  EXPECT_EQ(store_.add_platform(platform), id);
  auto other = platform;
  other.driver_version += "1";
  EXPECT_NE(store_.add_platform(other), id);
  ASSERT_EQ(store_.platforms().size(), 2U);
  EXPECT_EQ(store_.platforms().front().platform, platform);
}

TEST_F(StoreTest, APlatformIsFoundByNameOrFingerprintAndElseTheKnownOnesAreNamed) {
  const auto none = store_.platform("");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::bad_input);
  const auto first = draw_.platform();
  store_.add_platform(first);
  EXPECT_EQ(store_.platform("")->platform, first);
  auto second = first;
  second.name = "another";
  store_.add_platform(second);
  EXPECT_EQ(store_.platform("another")->platform, second);
  EXPECT_EQ(store_.platform(fingerprint(first))->platform, first);
  const auto several = store_.platform("");
  ASSERT_FALSE(several);
  EXPECT_NE(several.error().message.find(first.name), std::string::npos);
  EXPECT_NE(several.error().message.find("another"), std::string::npos);
  EXPECT_FALSE(store_.platform("nowhere"));
  auto twin = second;
  twin.driver_version += "1";
  store_.add_platform(twin);
  const auto twins = store_.platform("another");
  ASSERT_FALSE(twins);
  EXPECT_NE(twins.error().message.find(fingerprint(twin)), std::string::npos);
  EXPECT_NE(twins.error().message.find(twin.driver_version), std::string::npos);
}

TEST_F(StoreTest, TheLastTuningRunKeepsItsRequestAndProvenance) {
  const auto platform = store_.add_platform(draw_.platform());
  EXPECT_FALSE(store_.last_tuning_run(platform));
  auto provenance = draw_.provenance();
  store_.begin_tuning_run(platform, "first", provenance);
  provenance.seed = std::numeric_limits<std::uint64_t>::max();
  const auto id = store_.begin_tuning_run(platform, "second", provenance);
  auto last = store_.last_tuning_run(platform);
  ASSERT_TRUE(last);
  EXPECT_EQ(last->id, id);
  EXPECT_EQ(last->request, "second");
  EXPECT_EQ(last->provenance.seed, provenance.seed);
  EXPECT_EQ(last->provenance.command_line, provenance.command_line);
  EXPECT_FALSE(last->finished);
  store_.finish_tuning_run(id);
  EXPECT_TRUE(store_.last_tuning_run(platform)->finished);
  provenance.started_at.clear();
  store_.begin_tuning_run(platform, "third", provenance);
  EXPECT_EQ(store_.last_tuning_run(platform)->provenance.started_at.size(), 24U);
}

TEST_F(StoreTest, AWinnerIsFoundUnderItsWholeKeyOnly) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  auto winner = draw_.winner();
  winner.candidate.launch = Launch::graph;
  const Problem problem = winner.candidate.problem;
  store_.put_winner(run, winner);
  const auto found = store_.winner(platform, problem, Launch::graph);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->winner, winner);
  EXPECT_EQ(found->platform, platform);
  EXPECT_EQ(found->run, run);
  EXPECT_EQ(found->validated_at.size(), 24U);
  EXPECT_FALSE(store_.winner(platform, problem, Launch::eager));
  EXPECT_FALSE(store_.winner(platform + 1, problem, Launch::graph));
  for (const auto& change : std::vector<std::function<void(Problem&)>>{
           [](Problem& p) { p.m += 4 * p.ranks; }, [](Problem& p) { p.n += 16; },
           [](Problem& p) { p.k += 16; }, [](Problem& p) { p.m *= ++p.ranks; }}) {
    Problem other = problem;
    change(other);
    EXPECT_FALSE(store_.winner(platform, other, Launch::graph)) << to_string(other);
  }
}

TEST_F(StoreTest, WinnersAreThoseOfOnePlatform) {
  std::map<PlatformId, std::size_t> counts;
  for (const std::size_t count : {3U, 0U, 60U, 5U}) {
    const auto platform = store_.add_platform(draw_.platform());
    const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
    counts[platform] = count;
    for (std::size_t i = 0; i < count; ++i) store_.put_winner(run, draw_.winner());
  }
  for (const auto& [platform, count] : counts) {
    std::size_t found = 0;
    store_.each_winner(platform, [&, platform = platform](const StoredWinner& each) {
      ++found;
      const Candidate& candidate = each.winner.candidate;
      const auto stored = store_.winner(platform, candidate.problem, candidate.launch);
      ASSERT_TRUE(stored) << to_string(candidate.problem);
      EXPECT_EQ(each.winner, stored->winner);
      EXPECT_EQ(each.validated_at, stored->validated_at);
    });
    EXPECT_EQ(found, count) << platform;
  }
}

TEST_F(StoreTest, ANewWinnerReplacesTheOldOneAtOnceForEveryHandle) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  auto winner = draw_.winner();
  winner.candidate.problem = {Op::gemm_all_reduce, 4096, 4096, 1024, Elements::bf16, 8};
  const auto& [problem, launch] = std::pair(winner.candidate.problem, winner.candidate.launch);
  const Store reader(file_, Access::read);
  EXPECT_FALSE(reader.winner(platform, problem, launch));
  for (int i = 1; i <= 50; ++i) {
    winner.sequential = us(i);
    winner.candidate.config = samples::numbered_config(i);
    store_.put_winner(run, winner);
    ASSERT_TRUE(reader.winner(platform, problem, launch)) << i;
    EXPECT_EQ(reader.winner(platform, problem, launch)->winner, winner) << i;
    EXPECT_EQ(store_.winner(platform, problem, launch)->winner, winner) << i;
  }
  EXPECT_EQ(reader.winners().size(), 1U);
}

TEST_F(StoreTest, WhatIsNotANumberIsRefusedAndNothingIsWritten) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto probing = store_.begin_probe_run(platform, draw_.provenance());
  const auto tuning = store_.begin_tuning_run(platform, "request", draw_.provenance());
  for (const double wrong :
       {std::numeric_limits<double>::quiet_NaN(), -1.0, std::numeric_limits<double>::infinity()}) {
    auto measurement = draw_.measurement();
    measurement.time.p90 = us(wrong);
    auto candidate = draw_.candidate();
    candidate.predicted = us(wrong);
    auto winner = draw_.winner();
    winner.gemm_alone = us(wrong);
    for (const auto& add :
         std::vector<std::function<void()>>{[&] { store_.add_measurement(probing, measurement); },
                                            [&] { store_.add_candidate(tuning, candidate); },
                                            [&] { store_.put_winner(tuning, winner); }}) {
      try {
        add();
        FAIL() << "took " << wrong;
      } catch (const Failure& failure) {
        EXPECT_EQ(failure.kind(), ErrorKind::bad_input);
        EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos);
        EXPECT_NE(std::string(failure.what()).find("(us) is"), std::string::npos) << failure.what();
      }
    }
  }
  const auto info = store_.info();
  EXPECT_EQ(info.measurements, 0);
  EXPECT_EQ(info.candidates, 0);
  EXPECT_EQ(info.winners, 0);
}

/// The message with which a call fails; empty where it does not.
std::string refusal(const std::function<void()>& add) {
  try {
    add();
    return "";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::bad_input) << failure.what();
    EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos) << failure.what();
    return failure.what();
  }
}

TEST_F(StoreTest, ACandidateHasALegalConfig) {
  Store memory(std::make_unique<Store::Impl>(db::open_memory()));
  const auto run =
      memory.begin_tuning_run(memory.add_platform(draw_.platform()), "request", draw_.provenance());
  Candidate candidate = draw_.candidate();
  std::vector<Candidate> taken;
  for (const auto& [config, is_legal] : cases::alone()) {
    candidate.config = config;
    ASSERT_EQ(refusal([&] { memory.add_candidate(run, candidate); }).empty(), is_legal)
        << to_string(config);
    if (is_legal && std::find(taken.begin(), taken.end(), candidate) == taken.end()) {
      taken.push_back(candidate);
    }
  }
  EXPECT_EQ(memory.candidates(run, candidate.problem, candidate.launch), taken);
}

TEST_F(StoreTest, AWinnerIsLegalForItsProblem) {
  Store memory(std::make_unique<Store::Impl>(db::open_memory()));
  const auto platform = memory.add_platform(draw_.platform());
  const auto run = memory.begin_tuning_run(platform, "request", draw_.provenance());
  Winner winner = draw_.winner();
  int taken = 0;
  int refused = 0;
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      winner.candidate.problem = problem;
      winner.candidate.config = config;
      const auto legal = check(problem, config);
      const std::string said = refusal([&] { memory.put_winner(run, winner); });
      ASSERT_EQ(said.empty(), legal.has_value()) << to_string(config) << ": " << said;
      if (!legal) {
        EXPECT_NE(said.find(legal.error().message), std::string::npos) << said;
        ++refused;
        continue;
      }
      ASSERT_EQ(memory.winner(platform, problem, winner.candidate.launch)->winner, winner);
      ++taken;
    }
  }
  EXPECT_GT(taken, 1000);
  EXPECT_GT(refused, 1000);
}

TEST_F(StoreTest, AnInvalidCandidateCannotWin) {
  const auto run =
      store_.begin_tuning_run(store_.add_platform(draw_.platform()), "request", draw_.provenance());
  auto winner = draw_.winner();
  winner.candidate.verdict = Verdict::wrong;
  EXPECT_THROW(store_.put_winner(run, winner), Failure);
  winner.candidate.verdict = Verdict::valid;
  winner.candidate.measured = std::nullopt;
  EXPECT_THROW(store_.put_winner(run, winner), Failure);
  EXPECT_EQ(store_.info().winners, 0);
}

TEST_F(StoreTest, AnOverlapFractionIsFrom0To1OrAbsent) {
  const auto platform = store_.add_platform(draw_.platform());
  const auto run = store_.begin_tuning_run(platform, "request", draw_.provenance());
  auto winner = draw_.winner();
  const Candidate& candidate = winner.candidate;
  for (const std::optional<double> sound : {std::optional(0.0), {}, {1.0}, {0.1}}) {
    winner.overlap_fraction = sound;
    store_.put_winner(run, winner);
    EXPECT_EQ(Store(file_, Access::read)
                  .winner(platform, candidate.problem, candidate.launch)
                  ->winner.overlap_fraction,
              sound);
  }
  for (const double wrong : {-0.01, 1.01, std::numeric_limits<double>::quiet_NaN()}) {
    winner.overlap_fraction = wrong;
    EXPECT_THROW(store_.put_winner(run, winner), Failure) << wrong;
  }
  EXPECT_EQ(store_.winners().front().winner.overlap_fraction, 0.1);
}

TEST_F(StoreTest, ResultsOfARunThatDoesNotExistAreRefused) {
  for (const auto& add : std::vector<std::function<void()>>{
           [&] { store_.add_measurement(7, draw_.measurement()); },
           [&] { store_.add_candidate(7, draw_.candidate()); },
           [&] { store_.put_winner(7, draw_.winner()); },
           [&] { store_.begin_tuning_run(7, "request", draw_.provenance()); }}) {
    try {
      add();
      FAIL() << "took it";
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::bad_input) << failure.what();
    }
  }
  EXPECT_TRUE(store_.check().empty());
}

TEST_F(StoreTest, InfoCountsWhatIsThere) {
  samples::fill(store_, 5, 20);
  const auto info = store_.info();
  EXPECT_EQ(info.platforms, 2);
  EXPECT_EQ(info.probe_runs, 2);
  EXPECT_EQ(info.tuning_runs, 2);
  EXPECT_EQ(info.winners, 10);
  EXPECT_EQ(static_cast<std::size_t>(info.candidates), store_.all_candidates().size());
  EXPECT_GE(info.candidates, 40);
  EXPECT_TRUE(store_.check().empty()) << store_.check().front();
}

TEST_F(StoreTest, AReaderCannotWrite) {
  Store reader(file_, Access::read);
  try {
    reader.add_platform(draw_.platform());
    FAIL() << "a reader wrote";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::cannot_write);
  }
}

TEST_F(StoreTest, TwoDatabasesAreOpenAtOnce) {
  Store other(folder_ / "other.db", Access::create);
  const auto mine = draw_.platform();
  const auto theirs = draw_.platform();
  store_.add_platform(mine);
  other.add_platform(theirs);
  EXPECT_EQ(store_.platforms().front().platform, mine);
  EXPECT_EQ(other.platforms().front().platform, theirs);
}

}  // namespace
}  // namespace overlaptune
