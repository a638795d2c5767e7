// Recipes: shares, the configs that they give, and their text.

#include "core/config/recipe.hpp"

#include <numeric>

#include <gmock/gmock.h>

#include "core/config/check.hpp"
#include "core/config/untuned.hpp"

namespace overlaptune {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::string_view kText =
    "recipe=1 op=gemm_all_reduce n=8192 k=3584 dtype=bf16 ranks=8 launch=graph sms=132\n"
    "from=1 to=64 sequential ctas=0 transport=ring\n"
    "from=65 to=4095 signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=16 transport=ring "
    "shares=0.75,0.25\n"
    "from=4096 to=4096 signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=16 "
    "transport=ring groups=768,256\n"
    "from=4097 to=16384 chunked ctas=16 transport=ring chunks=4";

Recipe recipe() {
  return value_or_throw(parse_recipe(kText));
}

std::string replaced(std::string_view from, std::string_view to) {
  std::string text(kText);
  text.replace(text.find(from), from.size(), to);
  return text;
}

std::string error_of_text(std::string_view from, std::string_view to) {
  const auto parsed = parse_recipe(replaced(from, to));
  return parsed ? "none" : parsed.error().message;
}

TEST(Shares, their_ends_are_rounded_and_they_add_up) {
  EXPECT_THAT(shares_of(std::vector<std::int64_t>{928, 96}), ElementsAre(9063, 937));  // 0.90625
  EXPECT_THAT(shares_of(std::vector<std::int64_t>{1, 1, 1}), ElementsAre(3333, 3334, 3333));
  EXPECT_THAT(shares_of(std::vector<std::int64_t>{1, 999'999}), ElementsAre(kWholeShare));
}

TEST(Shares, text) {
  const std::vector<Share> shares{9063, 500, 437, 10'000, 12'500, 1};
  EXPECT_EQ(shares_text(shares), "0.9063,0.05,0.0437,1,1.25,0.0001");
  EXPECT_EQ(value_or_throw(parse_shares("0.9063,0.05,0.0437,1,1.25,0.0001")), shares);
  for (const char* wrong : {"", "0", "0.0", ".5", "0.50", "01", "1.", "0.5,", ",0.5", "0.12345",
                            "-0.5", "0.5 ,0.5", "1e0", "99999999999", "5000"}) {
    EXPECT_FALSE(parse_shares(wrong)) << wrong;
  }
}

TEST(Shares, groups_end_at_the_nearest_whole_wave) {
  // One row block of 16 panels, 32 columns, 512 tiles; peer access cuts after every wave of 100
  // tiles, at its last whole column of 8 tiles: 96, 200, 296 (of 300), 400, 496, 512.
  const Problem problem{Op::gemm_all_reduce, 2048, 8192, 3584, Elements::bf16, 8};
  const TileOrder order = tile_order(problem, {128, 256, 64, 4, 1}, 8);
  const WaveCuts cuts(order, 100, Transport::peer_access);
  // 0.5 of 512 is 256: 296 is 40 away, 200 is 56.
  EXPECT_THAT(nearest_groups(cuts, 512, std::vector<Share>{5000, 5000}), ElementsAre(296, 216));
  // 0.1 of 512 is 51.2; the first cut is the nearest. Then both ends are at the same one.
  EXPECT_THAT(nearest_groups(cuts, 512, std::vector<Share>{1000, 1000, 8000}),
              ElementsAre(96, 416));
  EXPECT_THAT(nearest_groups(cuts, 512, std::vector<Share>{9990, 10}), ElementsAre(512));
}

TEST(RecipeText, is_canonical) {
  EXPECT_EQ(to_string(recipe()), kText);
  EXPECT_EQ(recipe().most_rows(), 16384);
}

TEST(RecipeText, errors_name_the_line) {
  EXPECT_THAT(error_of_text("recipe=1", "recipe=2"), HasSubstr("recipe: line 1"));
  EXPECT_THAT(error_of_text("n=8192", "n=8191"), HasSubstr("n = 8191"));
  EXPECT_THAT(error_of_text("from=65", "from=66"), HasSubstr("expected from=65"));
  EXPECT_THAT(error_of_text("to=64 ", "to=064 "), HasSubstr("line 2"));
  EXPECT_THAT(error_of_text("ctas=0 transport=ring", "transport=ring ctas=0"), HasSubstr("line 2"));
  EXPECT_THAT(error_of_text("0.75,0.25", "0.75,0.2"), HasSubstr("a sum of 0.95: expected 1"));
  EXPECT_THAT(error_of_text("to=4096 ", "to=4097 "), HasSubstr("expected shares"));
  EXPECT_THAT(error_of_text("groups=768,256", "groups=768,255"), HasSubstr("4096 rows"));
  EXPECT_THAT(error_of_text("sms=132", "sms=0"), HasSubstr("sms = 0"));
  EXPECT_FALSE(parse_recipe(""));
  EXPECT_FALSE(parse_recipe(std::string(kText) + "\n"));
  EXPECT_FALSE(parse_recipe(kText.substr(0, kText.find('\n'))));
}

TEST(RecipeConfig, of_each_range) {
  const Recipe all = recipe();
  EXPECT_EQ(to_string(value_or_throw(config_for(all, 64))), "sequential ctas=0 transport=ring");
  // 2048 rows are two swizzle groups of 8 panels, 512 tiles. Waves have 132 - 16 = 116 tiles. The
  // ring cuts at whole swizzle groups and in the last one at columns: 256, 344 (of 348), 464, 512.
  EXPECT_THAT(wave_groups_of(value_or_throw(config_for(all, 2048))), ElementsAre(344, 168));
  EXPECT_THAT(wave_groups_of(value_or_throw(config_for(all, 4096))), ElementsAre(768, 256));
  EXPECT_EQ(to_string(value_or_throw(config_for(all, 16384))),
            "chunked ctas=16 transport=ring chunks=4");
  for (const std::int64_t rows : {-1, 0, 16385}) EXPECT_FALSE(config_for(all, rows)) << rows;
}

TEST(RecipeConfig, chunks_are_at_most_the_rows_of_a_block) {
  Recipe all = recipe();
  all.weight.op = Op::gemm_reduce_scatter;
  all.ranges = {{.from = 1, .to = 100, .config = Chunked{.comm_ctas = 4, .chunks = 4}}};
  EXPECT_EQ(std::get<Chunked>(value_or_throw(config_for(all, 8))).chunks, 1);
  EXPECT_EQ(std::get<Chunked>(value_or_throw(config_for(all, 16))).chunks, 2);
  EXPECT_EQ(std::get<Chunked>(value_or_throw(config_for(all, 96))).chunks, 4);
  const auto odd = config_for(all, 12);
  ASSERT_FALSE(odd);
  EXPECT_THAT(odd.error().message, HasSubstr("multiple of ranks = 8"));
}

TEST(RecipeConfig, shares_of_waiting_are_those_of_each_other_row_block) {
  const Problem problem{Op::all_gather_gemm, 4096, 8192, 8192, Elements::bf16, 4};
  // A row block of 1024 rows: 8 panels in 4 swizzle groups of 2, 32 columns, 256 tiles.
  const Waiting config{
      .tile = {128, 256, 64, 4, 1}, .swizzle = 2, .wave_groups = {256, 64, 192, 256, 128, 128}};
  const RecipeRange range = scalable(problem, config);
  EXPECT_THAT(range.shares, ElementsAre(2500, 7500, 10'000, 5000, 5000));
  EXPECT_EQ(scaled(range, problem, 132), Config(config));
  // Two panels: one swizzle group, which is not cut.
  Problem few = problem;
  few.m = 1024;
  EXPECT_THAT(wave_groups_of(scaled(range, few, 132)), ElementsAre(64, 64, 64, 64));
  EXPECT_TRUE(check(few, scaled(range, few, 132)));
}

/// Every strategy with each transport, scaled from 4096 rows to others.
TEST(RecipeConfig, is_legal_for_any_rows) {
  for (const OpTraits& op : kOps) {
    for (const int ranks : {2, 3, 8}) {
      const Problem tuned{op.op, 4080, 6144, 2048, Elements::bf16, ranks};
      std::string ways = all_ways() + ",";
      for (std::size_t end = ways.find(','); end != ways.npos; end = ways.find(',')) {
        const auto config = untuned_config(tuned, ways.substr(0, end));
        ways.erase(0, end + 1);
        if (!config) continue;
        const RecipeRange range = scalable(tuned, *config);
        const std::int64_t unit = row_unit(weight_of(tuned));
        for (std::int64_t rows = unit; rows < 20'000; rows += rows / 7 / unit * unit + unit) {
          Problem problem = tuned;
          problem.m = rows;
          for (const int sms : {1, 78, 132, 1000}) {
            const auto legal = check(problem, scaled(range, problem, sms));
            ASSERT_TRUE(legal) << to_string(problem) << ' ' << to_string(*config) << ": "
                               << legal.error().message;
          }
        }
      }
    }
  }
}

/// Rows that travel with scales of their own come four a rank at a time.
TEST(RecipeConfig, rows_with_scales_of_their_own_are_a_multiple_of_four_a_rank) {
  const Recipe all =
      value_or_throw(parse_recipe("recipe=1 op=all_gather_gemm n=1280 k=8192 dtype=e4m3_rows_bf16 "
                                  "ranks=4 launch=graph sms=132\n"
                                  "from=1 to=8192 sequential ctas=0 transport=ring"));
  EXPECT_TRUE(config_for(all, 16));
  const auto refused = config_for(all, 20);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("a multiple of 4 * ranks = 16"));
  for (const std::int64_t rows : trial_rows(all, 8192)) EXPECT_EQ(rows % 16, 0) << rows;
}

TEST(RecipeTrials, cover_each_range) {
  EXPECT_THAT(trial_rows(recipe(), 16384),
              ElementsAre(1, 4, 16, 64, 65, 260, 1040, 4095, 4096, 4097, 16384));
  EXPECT_THAT(trial_rows(recipe(), 3000), ElementsAre(1, 4, 16, 64, 65, 260, 1040, 3000));
}

TEST(RecipeKernels, each_once_with_room_for_all_groups) {
  Recipe all = recipe();
  ASSERT_EQ(kernels_of(all, 16384).size(), 1U);
  EXPECT_EQ(kernels_of(all, 16384).front().regions, kUsualRegions);
  EXPECT_TRUE(kernels_of(all, 64).empty());
  // Ten groups may have more regions than usual.
  all.ranges[1].shares.assign(10, kWholeShare / 10);
  EXPECT_EQ(kernels_of(all, 16384).size(), 2U);
}

}  // namespace
}  // namespace overlaptune
