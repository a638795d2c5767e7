#include "core/config/work.hpp"

#include <numeric>

#include <gtest/gtest.h>

#include "config_cases.hpp"
#include "enumerated_tiles.hpp"

namespace overlaptune {
namespace {

TEST(Work, is_made_of_what_is_legal_and_says_the_same_where_it_is_not) {
  const Capabilities machine{.ranks = 4, .transports = {Transport::ring, Transport::peer_access}};
  int made = 0;
  int refused = 0;
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      for (const Capabilities& capabilities : {Capabilities{}, machine}) {
        const auto work = Work::make(problem, config, capabilities);
        const auto legal = check(problem, config, capabilities);
        ASSERT_EQ(work.has_value(), legal.has_value()) << to_string(config);
        if (!work) {
          ASSERT_EQ(work.error().message, legal.error().message);
          ++refused;
          continue;
        }
        ASSERT_EQ(work->problem(), problem);
        ASSERT_EQ(work->config(), config);
        ASSERT_EQ(work->strategy(), strategy_of(config));
        ++made;
      }
    }
  }
  EXPECT_GT(made, 1000);
  EXPECT_GT(refused, 1000);
}

TEST(Work, of_a_generated_gemm_has_its_tiles_cuts_and_kernel) {
  int seen = 0;
  for (const Problem& problem : cases::problems()) {
    for (const Config& config : cases::around(problem)) {
      const auto* const signaled = std::get_if<Signaled>(&config);
      const auto work = Work::make(problem, config);
      if (signaled == nullptr || !work) continue;
      const TiledWork& tiled = work->tiled();
      const auto tiles = enumerated_tiles(tiled.order);
      ASSERT_EQ(tiled.cuts.size(), signaled->wave_groups.size());
      std::size_t end = 0;
      std::int64_t bytes = 0;
      int regions = 0;
      for (std::size_t group = 0; group < tiled.cuts.size(); ++group) {
        const std::size_t begin = end;
        end += static_cast<std::size_t>(signaled->wave_groups[group]);
        for (std::size_t i = begin; i < end; ++i) bytes += 2 * tiles[i].rows * tiles[i].columns;
        regions += enumerated_regions(tiles, begin, end);
        ASSERT_EQ(tiled.cuts[group].tiles, static_cast<std::int64_t>(end));
        ASSERT_EQ(tiled.cuts[group].bytes.count, bytes);
        ASSERT_EQ(tiled.cuts[group].contiguous, opens_a_swizzle_group(tiles, end));
      }
      ASSERT_EQ(bytes, 2 * problem.m * problem.n);  // the whole of C
      const auto kernel = work->kernel();
      ASSERT_TRUE(kernel);
      EXPECT_EQ(kernel->tile, signaled->tile);
      EXPECT_EQ(kernel->elements, problem.elements);
      EXPECT_EQ(kernel->regions, regions);
      EXPECT_EQ(&work->config_as<Signaled>(), std::get_if<Signaled>(&work->config()));
      EXPECT_THROW((void)work->chunked(), std::bad_variant_access);
      EXPECT_THROW((void)work->config_as<Chunked>(), std::bad_variant_access);
      ++seen;
    }
  }
  EXPECT_GT(seen, 500);
}

TEST(Work, of_the_library_has_the_rows_of_each_part_and_no_kernel) {
  int seen = 0;
  for (const Problem& problem : cases::problems()) {
    const int blocks = problem.op == Op::gemm_all_reduce ? 1 : problem.ranks;
    for (const Config& config : cases::around(problem)) {
      const auto* const chunked = std::get_if<Chunked>(&config);
      const auto work = Work::make(problem, config);
      if (!tile_of(config).is_library() || !work) continue;
      const auto& rows = work->chunked().rows;
      EXPECT_EQ(rows.size(), static_cast<std::size_t>(chunked == nullptr ? 1 : chunked->chunks));
      EXPECT_EQ(std::accumulate(rows.begin(), rows.end(), std::int64_t{0}) * blocks, problem.m);
      EXPECT_FALSE(work->kernel());
      EXPECT_THROW((void)work->tiled(), std::bad_variant_access);
      ++seen;
    }
  }
  EXPECT_GT(seen, 100);
}

}  // namespace
}  // namespace overlaptune
