// A GEMM with its collective beside the two alone: times of two clocks are not mixed.

#include <cstdlib>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "db/store.hpp"
#include "fitted.hpp"
#include "model/parts.hpp"
#include "planning/schedules/platform_costs.hpp"
#include "query/answer.hpp"
#include "query/measured_platform.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

constexpr Problem kTimed{Op::gemm_reduce_scatter, 4096, 8192, 2048, Elements::bf16, 8};
constexpr GemmSize kSize{kTimed.m, kTimed.n, kTimed.k};

/// A simulated machine that knows no collective but NCCL's ring, and a winner whose times a test
/// chooses.
class StepClockTest : public testing::Test {
 protected:
  StepClockTest() {
    FittedMachine fitted = fit_simulated("h200-nvlink-x8", 8);
    platform_ = fitted.machine->platform();
    for (Measurement& each : fitted.measurements) {
      const auto* alone = std::get_if<CollectiveProbe>(&each.probe);
      if (std::holds_alternative<ConcurrentProbe>(each.probe)) continue;
      if (alone != nullptr &&
          (alone->transport != Transport::ring || alone->comm_ctas != kNcclsChoice)) {
        continue;
      }
      measurements_.push_back(std::move(each));
    }
    model_ =
        std::make_unique<LearnedModel>(value_or_throw(learned_model(platform_, measurements_, {})));
    costs_ = std::make_unique<PlatformCosts>(
        StepGrounds{platform_, measurements_, *model_, [this](const Problem&) { return winner_; }},
        ModelConfig{.hidden = 8192}, KnownRates{});
    const StepCosts costs = costs_->costs({});
    gemm_ = value_or_throw(costs.gemm(kSize, kTimed.elements)).us;
    const double bytes = 2.0 * 4096 * 8192;
    collective_ = value_or_throw(costs.tensor_parallel(Collective::reduce_scatter, bytes, 8)).us;
  }

  /// The time of the winner in a step, where it and `sequential` took so long in their rounds,
  /// without the replay of a graph and with the gap before a kernel.
  double in_a_step(double winner, double sequential) {
    const LaunchModel& launch = model_->analytic().parts().launch;
    const double other = launch.replay - launch.kernel_gap;
    winner_ = {.source = Source::exact,
               .config = Chunked{.chunks = 2},
               .measured = us(winner + other),
               .baseline = us(sequential + other)};
    return costs_->costs({}).fused(kTimed).value().us;
  }

  Platform platform_{};
  std::vector<Measurement> measurements_{};
  std::unique_ptr<LearnedModel> model_{};
  Answer winner_{};
  std::unique_ptr<PlatformCosts> costs_{};
  double gemm_ = 0;
  double collective_ = 0;
};

TEST_F(StepClockTest, a_clock_that_the_rounds_share_does_not_count) {
  // The winner hides three quarters of its collective, at any clock of its rounds.
  const double hidden = 0.75 * collective_;
  for (const double slower : {0.85, 1.0, 1.3}) {
    const double sequential = slower * (gemm_ + collective_);
    const double winner = slower * (gemm_ + collective_ - hidden);
    EXPECT_NEAR(in_a_step(winner, sequential), gemm_ + collective_ - hidden, 1e-6 * gemm_);
  }
}

TEST_F(StepClockTest, rounds_that_say_more_is_hidden_than_there_is_hide_all) {
  const double both = gemm_ + collective_;
  EXPECT_DOUBLE_EQ(in_a_step(gemm_ - 0.1 * collective_, both), gemm_);
}

TEST_F(StepClockTest, beside_fused_operations_a_gemm_has_the_clock_of_these) {
  const auto gemm = [&](const StepClocks& clocks) {
    return value_or_throw(costs_->costs(clocks).gemm(kSize, kTimed.elements));
  };
  const Cost cost = gemm({.apart = 1.1, .overlapped = 1.3});
  EXPECT_DOUBLE_EQ(cost.us, gemm({.apart = 1.1, .overlapped = 1.1}).us);
  EXPECT_DOUBLE_EQ(cost.us * cost.beside_fused, gemm({.apart = 1.3, .overlapped = 1.3}).us);
  EXPECT_EQ(gemm({.apart = 1.1, .overlapped = 1.1}).beside_fused, 1);
  EXPECT_EQ(gemm({.apart = 1.3, .overlapped = 1.1}).beside_fused, 1) << "never faster";
  EXPECT_DOUBLE_EQ(costs_->costs({.apart = 1, .overlapped = 1.25}).attention_beside_fused, 1.25);
}

TEST_F(StepClockTest, attention_has_the_rate_of_16_bits_whatever_the_products_have) {
  const auto rate = [&](const ModelConfig& config) {
    return PlatformCosts({platform_, measurements_, *model_}, config, {})
        .costs({})
        .attention_flops_per_us;
  };
  const ModelConfig eight{.hidden = 8192, .elements = Elements::e4m3_rows_bf16};
  EXPECT_EQ(rate(eight), rate({.hidden = 8192}));
}

TEST_F(StepClockTest, quantising_must_be_known_where_there_is_any) {
  for (const LayerWork work :
       {LayerWork::norm, LayerWork::rope, LayerWork::activation, LayerWork::attention}) {
    measurements_.push_back({.probe = LayerProbe{work, 1000}, .time = {us(1), us(1), us(1), 5}});
  }
  const ModelConfig eight{.hidden = 8192, .elements = Elements::e4m3_rows_bf16};
  const auto known = [&](const ModelConfig& config, const KnownRates& rates = {}) {
    return PlatformCosts({platform_, measurements_, *model_}, config, rates).are_known();
  };
  EXPECT_TRUE(known({.hidden = 8192}));
  EXPECT_FALSE(known(eight));
  EXPECT_TRUE(known(eight, {.memory_gb_per_s = 4000}));
  measurements_.push_back(
      {.probe = LayerProbe{LayerWork::quantise, 1000}, .time = {us(1), us(1), us(1), 5}});
  EXPECT_TRUE(known(eight));
}

/// Imports an exported database.
std::string imported(const TemporaryFolder& folder, const std::string& name) {
  const std::string json = (folder / (name + ".json")).string();
  const std::string command = fmt::format("{} -c '{}/tests/data/heldout/{}.json.gz' > '{}'",
                                          OVERLAPTUNE_GUNZIP, OVERLAPTUNE_SOURCE_DIR, name, json);
  if (std::system(command.c_str()) != 0) throw std::runtime_error(command);
  std::string file = (folder / (name + ".db")).string();
  Store store(file, Access::create);
  std::ifstream in(json);
  value_or_throw(import_json(store, in));
  return file;
}

class HeldOutSteps : public testing::TestWithParam<const char*> {};

TEST_P(HeldOutSteps, no_operation_gains_more_than_its_communication) {
  if (std::string_view(OVERLAPTUNE_GUNZIP).find("NOTFOUND") != std::string_view::npos) {
    GTEST_SKIP() << "no gunzip";
  }
  const TemporaryFolder folder;
  const std::string file = imported(folder, GetParam());
  const auto measured = MeasuredPlatform::of_database(file, "");
  const StepGrounds grounds = measured.step_grounds();
  int asked = 0;
  int at_the_bound = 0;
  for (const StoredWinner& stored : Store(file, Access::read).winners()) {
    const Candidate& winner = stored.winner.candidate;
    if (winner.launch != Launch::graph) continue;
    const Problem& problem = winner.problem;
    const PlatformCosts platform(grounds, {.hidden = problem.k, .elements = problem.elements}, {});
    // About the factor of the layers of docs/step.md.
    const StepCosts costs = platform.costs({.apart = 1.4, .overlapped = 1.4});
    const auto fused = costs.fused(problem);
    if (!fused) continue;
    const double gemm =
        value_or_throw(costs.gemm({problem.m, problem.n, problem.k}, problem.elements)).us;
    const auto bytes = static_cast<double>(collective_bytes(problem).count);
    const double links =
        value_or_throw(costs.tensor_parallel(collective_of(problem.op), bytes, problem.ranks)).us;
    EXPECT_LE(gemm + links - fused->us, links * (1 + 1e-9)) << to_string(problem);
    EXPECT_GE(fused->us, gemm * (1 - 1e-9)) << to_string(problem);
    ++asked;
    if (fused->us <= gemm) ++at_the_bound;
  }
  EXPECT_GE(asked, 40);
  // Times of two clocks brought more than a third there, and those of probes nearly a quarter.
  EXPECT_LE(5 * at_the_bound, asked);
}

INSTANTIATE_TEST_SUITE_P(, HeldOutSteps, testing::Values("h100x2_heldout", "h200x4_heldout"),
                         [](const auto& each) { return std::string(each.param); });

}  // namespace
}  // namespace overlaptune
