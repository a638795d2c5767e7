#include "model/clock_model.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

constexpr double kFullMhz = 1980;
constexpr double kHottest = 1.5;  // time of a GEMM by itself, as a multiple of that at full clock
constexpr GemmProbe kGemm{.m = 8192, .n = 8192, .k = 2048};
constexpr double kGemmTime = 1000;  // at full clock

Measurement at_clock(const Probe& probe, double time, double mhz) {
  Measurement measurement{.probe = probe};
  measurement.time.median = us(time);
  measurement.conditions.sm_clock_mhz = mhz;
  return measurement;
}

/// A GEMM in turn with a collective that runs at full clock. It is slowed by half of the share of
/// the round that it would have alone.
struct Round {
  double collective = 0;
  double slowdown = 1;
  [[nodiscard]] double time() const { return kGemmTime * slowdown + collective; }
  [[nodiscard]] double mean_mhz() const { return kFullMhz * (kGemmTime + collective) / time(); }
};

Round round_with(double collective) {
  Round round{.collective = collective};
  for (int step = 0; step < 50; ++step) {
    round.slowdown = 1 + (kHottest - 1) * std::min(1.0, kGemmTime * kHottest / round.time());
  }
  return round;
}

TEST(ClockModel, what_the_gemm_of_a_sustained_round_gets_is_not_the_mean_clock) {
  std::vector<Measurement> measurements;
  for (int i = 1; i <= 12; ++i) {
    GemmProbe gemm = kGemm;
    gemm.m = 1024 * i;
    const double time = kGemmTime * kHottest * i / 8;
    measurements.push_back(at_clock(gemm, time, kFullMhz / kHottest));
  }
  std::vector<Round> rounds;
  for (const double collective : {300, 800, 2000, 5000}) {
    const CollectiveProbe probe{.bytes = {static_cast<std::int64_t>(collective) << 16}, .ranks = 8};
    const Round round = round_with(collective);
    measurements.push_back(at_clock(probe, collective, kFullMhz));
    measurements.push_back(at_clock(SustainedProbe{.gemm = kGemm, .collective = probe},
                                    round.time(), round.mean_mhz()));
    rounds.push_back(round);
  }
  ClockModel model = ClockModel::of(measurements);
  model.fit(measurements, [](const GemmProbe& gemm) {
    return kGemmTime * static_cast<double>(gemm.m) / static_cast<double>(kGemm.m);
  });
  for (const Round& round : rounds) {
    const Load load{.work = 8192.0 * 8192 * 2048,
                    .bytes = product_bytes(kGemm.m, kGemm.n, kGemm.k, Elements::bf16),
                    .gemm = kGemmTime * round.slowdown,
                    .collective = round.collective,
                    .round = round.time()};
    EXPECT_NEAR(model.slowdown(load), round.slowdown, 0.05) << round.collective << " us beside";
  }
  // A GEMM that takes longer for another reason is cooler.
  Load stretched{.work = 8192.0 * 8192 * 2048,
                 .bytes = product_bytes(kGemm.m, kGemm.n, kGemm.k, Elements::bf16),
                 .gemm = kGemmTime * kHottest,
                 .round = kGemmTime * kHottest};
  const double hot = model.slowdown(stretched);
  EXPECT_NEAR(hot, kHottest, 0.05);
  stretched.stretch = 2;
  EXPECT_LE(model.slowdown(stretched), hot);
}

/// A GEMM by itself at the power limit, on a share of the SMs. Unlike in the model, power goes with
/// the clock to the power of 2.4.
struct Settled {
  Tile tile{};
  double share = 1;

  [[nodiscard]] double slowdown() const {
    constexpr double kElement = 20;  // energy of a loaded element, in multiply-adds
    const double energy = 1 + kElement * extra_loads(tile);
    return std::pow(2.6 * energy * share, 1 / 2.4);
  }
  [[nodiscard]] double time() const { return kGemmTime / share * slowdown(); }
  [[nodiscard]] Load load() const {
    const double work = 8192.0 * 8192 * 2048;
    return {.work = work,
            .loads = work * extra_loads(tile),
            .bytes = product_bytes(kGemm.m, kGemm.n, kGemm.k, Elements::bf16),
            .gemm = time(),
            .round = time()};
  }
};

TEST(ClockModel, tiles_that_load_more_are_slowed_more_and_fewer_sms_less) {
  std::vector<Measurement> measurements;
  for (int i = 1; i <= 12; ++i) {
    GemmProbe gemm = kGemm;
    gemm.m = 1024 * i;
    measurements.push_back(
        at_clock(gemm, Settled{}.time() * i / 8, kFullMhz / Settled{}.slowdown()));
  }
  constexpr double kShare = 0.88;
  const CollectiveProbe least{.bytes = {4096}, .ranks = 8};
  const double collective = 20;
  measurements.push_back(at_clock(least, collective, kFullMhz));
  for (const Tile& tile : {Tile{128, 256, 64, 4, 2}, Tile{128, 128, 64, 6, 1}}) {
    for (const double share : {1.0, kShare}) {
      const Settled settled{tile, share};
      const double cycles = kGemmTime / share + collective;
      const double round = settled.time() + collective;
      GemmProbe gemm = kGemm;
      gemm.tile = tile;
      gemm.sms = share < 1 ? 116 : 0;
      measurements.push_back(at_clock(SustainedProbe{.gemm = gemm, .collective = least}, round,
                                      kFullMhz * cycles / round));
    }
  }
  ClockModel model = ClockModel::of(measurements);
  int asked = 0;
  model.fit(measurements, [&](const GemmProbe&) {
    ++asked;
    return kGemmTime;
  });
  EXPECT_EQ(asked, 0) << "the model's time of a generated GEMM is not exact";
  for (const Tile& tile : {Tile{}, Tile{128, 256, 64, 4, 1}, Tile{128, 128, 64, 4, 1}}) {
    for (const double share : {1.0, kShare}) {
      const Settled settled{tile, share};
      EXPECT_NEAR(model.slowdown(settled.load()) / settled.slowdown(), 1, 0.015)
          << to_string(tile) << " on " << share << " of the SMs";
    }
  }
}

TEST(PeakRates, are_those_of_a_rate_class) {
  PeakRates rates;
  EXPECT_TRUE(std::isinf(rates(Elements::bf16)));
  rates.add(Elements::fp16, 3);
  rates.add(Elements::bf16, 2);
  EXPECT_EQ(rates(Elements::bf16), 3);
  EXPECT_EQ(rates(Elements::fp16), 3);
}

TEST(ClockModel, without_clocks_nothing_is_slowed) {
  const std::vector<Measurement> measurements{{.probe = kGemm, .time = {.median = us(10)}}};
  ClockModel model = ClockModel::of(measurements);
  model.fit(measurements, [](const GemmProbe&) { return 10.0; });
  EXPECT_EQ(model.slowdown({.work = 1e9, .bytes = 1e6, .gemm = 10, .round = 10}), 1);
  EXPECT_EQ(model.recorded({}), 1);
}

}  // namespace
}  // namespace overlaptune
