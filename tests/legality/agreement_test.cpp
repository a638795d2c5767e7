// Every part of the program takes and refuses the same configs: only `check` decides.

#include <filesystem>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/abi/values.hpp"
#include "core/config/check.hpp"
#include "core/config/work.hpp"
#include "db/rules.hpp"
#include "db/store.hpp"
#include "fitted.hpp"
#include "model/search.hpp"
#include "query/snapshot.hpp"
#include "tests/legality/cases.hpp"
#include "tuner/explore.hpp"

namespace overlaptune {
namespace {

using legality::Case;

constexpr const char* kProfile = "h200-nvlink-x8";

const FittedMachine& fitted() {
  static const FittedMachine kFitted = fit_simulated(kProfile, 4);
  return kFitted;
}

std::string name_of(const Case& each) {
  return to_string(each.problem) + " " + to_string(each.config);
}

Winner winner_of(const Case& each) {
  Winner winner;
  winner.candidate.problem = each.problem;
  winner.candidate.config = each.config;
  winner.candidate.predicted = us(90);
  winner.candidate.measured = Summary{us(100), us(99), us(101), 9};
  winner.sequential = us(120);
  return winner;
}

/// An empty database that is removed with this object.
class TemporaryStore {
 public:
  explicit TemporaryStore(const std::string& name)
      : file_(std::filesystem::temp_directory_path() /
              ("overlaptune-legality-" + name + "-" + std::to_string(::getpid()) + ".db")) {
    std::filesystem::remove(file_);
  }
  ~TemporaryStore() {
    for (const char* suffix : {"", "-wal", "-shm"})
      std::filesystem::remove(file_.string() + suffix);
  }
  [[nodiscard]] const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path file_;
};

TEST(Legality, the_cases_have_both_kinds_of_each_level) {
  int legal = 0;
  int legal_for_problem = 0;
  int legal_here = 0;
  const auto cases = legality::all_cases();
  for (const Case& each : cases) {
    const bool alone = check(each.config).has_value();
    const bool with_problem = check(each.problem, each.config).has_value();
    const bool here =
        check(each.problem, each.config, fitted().machine->capabilities()).has_value();
    EXPECT_TRUE(alone || !with_problem) << name_of(each);
    EXPECT_TRUE(with_problem || !here) << name_of(each);
    legal += alone ? 1 : 0;
    legal_for_problem += with_problem ? 1 : 0;
    legal_here += here ? 1 : 0;
  }
  EXPECT_GT(legal_here, 100);
  EXPECT_GT(legal_for_problem, legal_here);
  EXPECT_GT(legal, legal_for_problem);
  EXPECT_GT(static_cast<int>(cases.size()), legal);
}

TEST(Legality, the_parser_reads_what_is_legal) {
  for (const Case& each : legality::all_cases()) {
    const auto read = parse_config(to_string(each.config));
    ASSERT_EQ(read.has_value(), check(each.config).has_value()) << name_of(each);
    if (read) {
      ASSERT_EQ(*read, each.config);
    }
  }
}

TEST(Legality, the_rules_of_the_database_are_the_same) {
  for (const Case& each : legality::all_cases()) {
    ASSERT_EQ(!db::complaint(each.config), check(each.config).has_value()) << name_of(each);
    ASSERT_EQ(!db::complaint(winner_of(each)), check(each.problem, each.config).has_value())
        << name_of(each);
  }
}

TEST(Legality, the_c_interface_takes_what_is_legal) {
  for (const Case& each : legality::all_cases()) {
    bool taken = true;
    try {
      ASSERT_EQ(c::config_of(to_string(each.config).c_str()), each.config);
    } catch (const c::Refusal&) {
      taken = false;
    }
    ASSERT_EQ(taken, check(each.config).has_value()) << name_of(each);
  }
}

TEST(Legality, the_model_predicts_what_is_legal_and_was_probed) {
  const Model& model = fitted().model;
  const Capabilities capabilities = capabilities_of(fitted().machine->platform());
  int predicted = 0;
  for (const Case& each : legality::all_cases()) {
    const auto prediction = model.predict(each.problem, each.config, Launch::graph);
    const auto legal = check(each.problem, each.config, capabilities);
    if (prediction) {
      ASSERT_TRUE(legal) << name_of(each);
      ++predicted;
    } else if (legal) {
      // Never probed.
      ASSERT_NE(prediction.error().message.find("is stored for this platform"), std::string::npos)
          << name_of(each) << ": " << prediction.error().message;
    } else {
      ASSERT_EQ(prediction.error().message, legal.error().message) << name_of(each);
    }
  }
  EXPECT_GT(predicted, 50);
}

TEST(Legality, the_simulator_runs_what_is_legal_and_has_a_curve) {
  Machine& machine = *fitted().machine;
  int valid = 0;
  for (const Case& each : legality::all_cases()) {
    const auto results = machine.run(each.problem, {&each.config, 1}, {.repetitions = 1});
    ASSERT_TRUE(results) << name_of(each);
    const RunResult& result = results->front();
    const auto legal = check(each.problem, each.config, machine.capabilities());
    if (legal) {
      const bool no_curve = result.reason.find("over it") != std::string::npos;
      ASSERT_TRUE(result.verdict == Verdict::valid || no_curve) << name_of(each) << result.reason;
      valid += result.verdict == Verdict::valid ? 1 : 0;
    } else {
      ASSERT_EQ(result.verdict, Verdict::unsupported) << name_of(each);
      ASSERT_EQ(result.reason, legal.error().message);
    }
  }
  EXPECT_GT(valid, 50);
}

TEST(Legality, what_is_searched_and_drawn_is_legal) {
  const Capabilities& capabilities = fitted().machine->capabilities();
  const ExploreSpace space{.platform = fitted().machine->platform(),
                           .strategies = fitted().machine->strategies(),
                           .settings = {{Collective::all_reduce, {{8, Transport::ring}}},
                                        {Collective::reduce_scatter, {{8, Transport::ring}}},
                                        {Collective::all_gather, {{8, Transport::ring}}},
                                        {Collective::all_to_all, {{8, Transport::ring}}}}};
  for (const auto& [op, name] : NamesOf<Op>::all) {
    const Problem problem = legality::problem_of(op);
    const auto scored = search(fitted().model, problem, Launch::graph, {.best = 200});
    ASSERT_TRUE(scored);
    for (const Scored& each : *scored) {
      EXPECT_TRUE(check(problem, each.config, capabilities)) << to_string(each.config);
    }
    const auto drawn = explore(space, problem, 200, 1);
    EXPECT_FALSE(drawn.empty()) << name;
    for (const Config& config : drawn) {
      EXPECT_TRUE(check(problem, config, capabilities)) << to_string(config);
    }
  }
}

TEST(Legality, the_store_keeps_and_a_query_answers_with_winners_that_are_legal) {
  const Platform& platform = fitted().machine->platform();
  const Capabilities capabilities = capabilities_of(platform);
  const TemporaryStore place("query");
  std::vector<Case> stored;
  {
    Store store(place.file(), Access::create);
    const auto run = store.begin_tuning_run(store.add_platform(platform), "test", {});
    // Each problem has one winner: m tells the cases apart, and a config of the case must fit it.
    for (const Case& each : legality::all_cases()) {
      bool kept = true;
      try {
        store.put_winner(run, winner_of(each));
      } catch (const Failure&) {
        kept = false;
      }
      ASSERT_EQ(kept, check(each.problem, each.config).has_value()) << name_of(each);
      if (!kept) continue;
      // The query comes at once, because the next case of this op takes its place.
      if (stored.size() % 16 == 0) {
        const AnswerSnapshot snapshot({place.file()}, {.described = platform});
        const bool exact = snapshot.answer(each.problem, Launch::graph).source == Source::exact;
        ASSERT_EQ(exact, check(each.problem, each.config, capabilities).has_value())
            << name_of(each);
      }
      stored.push_back(each);
    }
  }
  EXPECT_GT(stored.size(), 200U);
}

TEST(Legality, signaled_before_its_gemm_is_refused_with_a_reason) {
  const Case each{
      legality::problem_of(Op::all_gather_gemm),
      Signaled{.tile = {128, 128, 64, 4, 1}, .swizzle = 1, .comm_ctas = 16, .wave_groups = {64}}};
  const auto legal = check(each.problem, each.config);
  ASSERT_FALSE(legal);
  EXPECT_NE(legal.error().message.find("signaled: cannot run all_gather_gemm"), std::string::npos)
      << legal.error().message;
}

}  // namespace
}  // namespace overlaptune
