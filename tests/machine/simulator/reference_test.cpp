// The simulated H200 against the reference measurements.

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "machine/catalogue.hpp"
#include "tests/machine/simulator/csv.hpp"

namespace overlaptune {
namespace {

std::unique_ptr<Machine> h200() {
  return value_or_throw(open_machine("sim:h200-rings-x8", {.seed = 7}));
}

double median(Machine& machine, const Probe& probe) {
  return value_or_throw(machine.measure(probe)).time.median.count();
}

Op op_of(const std::string& collective) {
  if (collective == "all_reduce") return Op::gemm_all_reduce;
  return collective == "all_gather" ? Op::all_gather_gemm : Op::gemm_reduce_scatter;
}

TEST(Reference, every_gemm_row_within_ten_percent) {
  const auto machine = h200();
  const auto rows = test::read_csv("h200x8_gemm.csv");
  ASSERT_EQ(rows.size(), 20U);
  for (const test::Row& row : rows) {
    const Problem problem{.op = op_of(row.at("collective")),
                          .m = std::stoll(row.at("m")),
                          .n = std::stoll(row.at("n")),
                          .k = std::stoll(row.at("k")),
                          .ranks = 8};
    const Config sequential;
    const auto result = value_or_throw(machine->run(problem, {&sequential, 1}, {}));
    const std::vector<Microseconds> slowest = slowest_rank(result.front());
    const std::vector<std::pair<std::string, double>> simulated{
        {"gemm_us", median(*machine, GemmProbe{.m = problem.m, .n = problem.n, .k = problem.k})},
        {"collective_us", median(*machine, CollectiveProbe{.collective = collective_of(problem.op),
                                                           .bytes = collective_bytes(problem),
                                                           .ranks = 8})},
        {"sequential_us", summarize(slowest).median.count()}};
    std::string line =
        fmt::format("{:11} {:14} m={:5}", row.at("shape"), row.at("collective"), problem.m);
    for (const auto& [column, time] : simulated) {
      const double measured = std::stod(row.at(column));
      line += fmt::format("  {} {:7.1f} simulated {:7.1f} ({:+5.1f} %)", column, measured, time,
                          100 * (time / measured - 1));
      EXPECT_NEAR(time / measured, 1, 0.1) << column << " of " << to_string(problem);
    }
    fmt::print("{}\n", line);
  }
}

// The profile has the curves of 8 ranks only: both the scaling to 4 and the limit by CTAs are
// checked.
TEST(Reference, collectives_of_four_ranks_against_ctas) {
  const auto machine = h200();
  double sum = 0;
  int count = 0;
  int far = 0;
  for (const test::Row& row : test::read_csv("h200x4_nccl_ctas.csv")) {
    if (row.at("cga_cluster_size") != "default") continue;
    const std::string& ctas = row.at("ctas");
    const double time =
        median(*machine, CollectiveProbe{.collective = *parse_name<Collective>(row.at("op")),
                                         .bytes = {std::stoll(row.at("bytes"))},
                                         .ranks = 4,
                                         .comm_ctas = ctas == "default" ? 0 : std::stoi(ctas)});
    const double error = std::abs(std::log(time / std::stod(row.at("time_us"))));
    sum += error;
    ++count;
    if (error > 0.25) ++far;
  }
  ASSERT_EQ(count, 168);
  EXPECT_LT(sum / count, 0.1);
  EXPECT_LE(far, count / 20);
}

// Clusters of one CTA and as many SMs left free as CTAs: both streams then truly overlap. The
// longer side of the table alone is what the GEMM or the all-reduce took in all.
TEST(Reference, concurrent_slowdown_lies_in_the_measured_range) {
  const auto machine = h200();
  for (const test::Row& row : test::read_csv("h200x4_concurrency.csv")) {
    const int ctas = std::stoi(row.at("comm_ctas"));
    if (row.at("cga_cluster_size") != "0" || ctas < 16) continue;
    if (std::stoi(row.at("sms_left_free_by_gemm")) != ctas) continue;
    const double gemm_total = std::stod(row.at("gemm_us")) * std::stod(row.at("gemms"));
    const double reduce_total =
        std::stod(row.at("all_reduce_64mib_us")) * std::stod(row.at("all_reduces"));
    const double measured = std::stod(row.at("together_us")) / std::max(gemm_total, reduce_total);
    const GemmProbe gemm{.m = 8192, .n = 8192, .k = 7168, .sms = 132 - ctas};
    const CollectiveProbe reduce{
        .collective = Collective::all_reduce, .bytes = {64 << 20}, .ranks = 4, .comm_ctas = ctas};
    const Measurement both =
        value_or_throw(machine->measure(ConcurrentProbe{.gemm = gemm, .collective = reduce}));
    const double slowdown = both.time.median.count() / median(*machine, gemm);
    fmt::print("{} CTAs: the longer side takes {:.3f} times as long, simulated GEMM {:.3f}\n", ctas,
               measured, slowdown);
    EXPECT_NEAR(slowdown, measured, 0.06);
    EXPECT_GT(both.collective_time->median.count(), 1.02 * median(*machine, reduce));
  }
}

// Published figures: NVIDIA data sheets give the peaks, nccl-tests runs the bus bandwidths.
TEST(Reference, published_profiles_are_realistic) {
  const auto a100 = value_or_throw(open_machine("sim:a100-nvlink-x8", {}));
  const auto rtx = value_or_throw(open_machine("sim:rtx4090-pcie-x4", {}));
  const GemmProbe square{.m = 8192, .n = 8192, .k = 8192};
  const double flops = 2.0 * 8192 * 8192 * 8192;
  const double a100_tflops = flops / median(*a100, square) * 1e-6;
  const double rtx_tflops = flops / median(*rtx, square) * 1e-6;
  EXPECT_GT(a100_tflops, 220);
  EXPECT_LT(a100_tflops, 300);
  EXPECT_GT(rtx_tflops, 125);
  EXPECT_LT(rtx_tflops, 165);
  const auto bus_gb_per_s = [](Machine& machine, int ranks) {
    const double bytes = 1 << 28;
    const double time = median(
        machine,
        CollectiveProbe{.collective = Collective::all_reduce, .bytes = {1 << 28}, .ranks = ranks});
    return 2.0 * (ranks - 1) / ranks * bytes / time * 1e-3;
  };
  EXPECT_NEAR(bus_gb_per_s(*a100, 8), 230, 15);
  EXPECT_GT(bus_gb_per_s(*rtx, 4), 10);
  EXPECT_LT(bus_gb_per_s(*rtx, 4), 13);
}

}  // namespace
}  // namespace overlaptune
