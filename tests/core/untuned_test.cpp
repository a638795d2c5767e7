#include "core/config/untuned.hpp"

#include <algorithm>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "core/config/strategies.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> ways() {
  std::istringstream list(all_ways());
  std::vector<std::string> found;
  for (std::string way; std::getline(list, way, ',');) found.push_back(way);
  return found;
}

/// Problems of many shapes, and of all elements.
std::vector<Problem> problems(Op op) {
  std::vector<Problem> list;
  for (const auto& [elements, name] : NamesOf<Elements>::all) {
    for (const int ranks : {2, 4, 100}) {
      for (const auto& [rows, n] : {std::pair<std::int64_t, std::int64_t>{4, 16},
                                    {1, 8},
                                    {1000, 264},
                                    {4096, 28672},
                                    {30000, 512}}) {
        const Problem problem{op, rows * ranks, n, 1024, elements, ranks};
        if (validated(problem)) list.push_back(problem);
      }
    }
  }
  return list;
}

TEST(UntunedTest, TheWaysAreTheStrategiesWithTheirTransports) {
  EXPECT_EQ(all_ways(),
            "sequential/ring,sequential/symmetric,sequential/copy_engine,sequential/peer_access,"
            "chunked/ring,chunked/symmetric,"
            "signaled/ring,signaled/symmetric,signaled/copy_engine,signaled/symmetric_then_ring,"
            "signaled/peer_access,waiting/copy_engine,waiting/peer_access,peer_store");
}

TEST(UntunedTest, EachWayRunsEveryShapeOfItsOpsAndNoOther) {
  for (const OpTraits& row : kOps) {
    for (const Problem& problem : problems(row.op)) {
      for (const std::string& way : ways()) {
        const auto strategy = value_or_throw(parse_name<Strategy>(way.substr(0, way.find('/'))));
        const auto config = untuned_config(problem, way);
        if (config) {
          ASSERT_TRUE(check(problem, *config, {})) << to_string(*config);
          ASSERT_TRUE(check(problem, *config, {.limits = gpu_limits(90)})) << to_string(*config);
          ASSERT_EQ(strategy_of(*config), strategy);
          const std::size_t slash = way.find('/');
          const std::string transport = slash == way.npos ? "" : way.substr(slash + 1);
          ASSERT_THAT(to_string(*config) + " ", HasSubstr(transport + " "));
          continue;
        }
        // The only reasons are the op of the strategy, and what a transport carries.
        const bool has_op = traits_of(strategy).ops.contains(row.op);
        ASSERT_THAT(
            config.error().message,
            HasSubstr(has_op ? "does not carry" : fmt::format("cannot run {}", to_string(row.op))))
            << way << " of " << to_string(problem);
      }
    }
  }
}

TEST(UntunedTest, WithoutATransportItIsTheUsualOneAndThereIsSomethingToOverlap) {
  const auto line = [](Op op, std::string_view way) {
    const Problem problem{.op = op, .m = 8192, .n = 8192, .k = 3584, .ranks = 8};
    return to_string(value_or_throw(untuned_config(problem, way)));
  };
  EXPECT_EQ(line(Op::gemm_all_reduce, "sequential"), "sequential ctas=0 transport=ring");
  EXPECT_EQ(line(Op::gemm_all_reduce, "chunked"), "chunked ctas=16 transport=ring chunks=4");
  for (const auto& [op, way, begin] :
       {std::tuple{Op::gemm_reduce_scatter, "signaled", " ctas=16 transport=peer_access groups="},
        std::tuple{Op::gemm_reduce_scatter, "peer_store", " swizzle=8 groups="},
        std::tuple{Op::all_gather_gemm, "waiting", " transport=copy_engine groups="}}) {
    const std::string made = line(op, way);
    EXPECT_THAT(made, HasSubstr(begin));
    EXPECT_GT(std::ranges::count(made, ','), 0) << made;
  }
}

TEST(UntunedTest, UnknownWaysAreRefusedByName) {
  const Problem problem{.op = Op::gemm_all_reduce, .m = 64, .n = 64, .k = 64, .ranks = 2};
  const auto said = [&](std::string_view way) {
    return untuned_config(problem, way).error().message;
  };
  EXPECT_THAT(said("wating"), HasSubstr("strategy 'wating': expected one of sequential, chunked"));
  EXPECT_THAT(
      said("waiting/"),
      HasSubstr("waiting: no transport '': expected one of waiting/copy_engine, waiting/peer"));
  EXPECT_THAT(said("peer_store/ring"),
              HasSubstr("peer_store: no transport 'ring': expected one of peer_store"));
}

}  // namespace
}  // namespace overlaptune
