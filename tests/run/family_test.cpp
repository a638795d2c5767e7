// Recipes through the C interface of plans, and the memory of families: the parts without a GPU.

#include "run/family.hpp"

#include <array>
#include <set>

#include <gmock/gmock.h>

#include "core/config/config_fields.hpp"
#include "core/config/recipe.hpp"
#include "tests/run/asked.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

constexpr std::int64_t kMi = 1 << 20;

std::string recipe_of(ovt_op op, const std::string& config, std::int64_t most_rows) {
  const ovt_problem problem = asked_problem(op);
  std::array<char, OVT_CONFIG_SIZE> text{};
  std::size_t length = 0;
  EXPECT_EQ(ovt_recipe_of(&problem, config.c_str(), most_rows, text.data(), text.size(), &length),
            OVT_OK)
      << ovt_run_last_error();
  EXPECT_EQ(length, std::string(text.data()).size());
  return text.data();
}

std::string config_of(const std::string& recipe, std::int64_t rows) {
  std::array<char, OVT_CONFIG_SIZE> text{};
  const ovt_status status = ovt_recipe_config(recipe.c_str(), rows, text.data(), text.size());
  return status == OVT_OK ? text.data() : ovt_run_last_error();
}

ovt_sizes sizes_of(const std::string& recipe, std::int64_t rows) {
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  EXPECT_EQ(ovt_recipe_sizes(recipe.c_str(), rows, &sizes), OVT_OK) << ovt_run_last_error();
  return sizes;
}

TEST(RecipeTest, of_a_single_config_is_scaled_to_all_rows) {
  const std::string recipe = recipe_of(OVT_GEMM_ALL_REDUCE, signaled_config("ring"), 8192);
  EXPECT_THAT(recipe, HasSubstr("\nfrom=1 to=8192 signaled"));
  EXPECT_THAT(recipe, HasSubstr("shares=0.25,0.75"));
  EXPECT_EQ(config_of(recipe, 4096), signaled_config("ring"));
  // Half of the rows: 128 tiles, in swizzle groups of 16.
  EXPECT_EQ(config_of(recipe, 2048), signaled_config("ring", "32,96"));
  EXPECT_THAT(config_of(recipe, 8193), HasSubstr("rows = 8193: expected 1 to 8192"));
}

TEST(RecipeTest, texts_that_do_not_fit_are_refused) {
  const ovt_problem problem = asked_problem(OVT_GEMM_ALL_REDUCE);
  std::array<char, 64> text{};
  std::size_t length = 0;
  EXPECT_EQ(ovt_recipe_of(&problem, "sequential", 4096, nullptr, 0, &length), OVT_OK);
  EXPECT_GT(length, text.size());
  EXPECT_EQ(ovt_recipe_of(&problem, "sequential", 4096, text.data(), text.size(), nullptr),
            OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_run_last_error(), HasSubstr("capacity = 64: expected"));
  EXPECT_EQ(ovt_recipe_of(&problem, "sequential", 0, nullptr, 0, &length), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_recipe_config("recipe=2", 1, text.data(), text.size()), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_run_last_error(), HasSubstr("recipe: line 1"));
}

// With 4096 rows, as in sizes_test.cpp, A is 4 MiB, B 1 and C 8.
TEST(RecipeSizesTest, are_those_of_the_most_rows) {
  const std::string recipe = recipe_of(OVT_GEMM_ALL_REDUCE, signaled_config("peer_access"), 8192);
  const ovt_sizes sizes = sizes_of(recipe, 4096);
  EXPECT_EQ(sizes.a_bytes, 4 * kMi);
  EXPECT_EQ(sizes.b_bytes, 1 * kMi);
  EXPECT_EQ(sizes.c_bytes, 8 * kMi);
  EXPECT_EQ(sizes.shared_bytes, 8 * kMi);
  EXPECT_EQ(sizes.temporary_bytes, 5 * kMi);
  EXPECT_EQ(sizes_of(recipe, 8192).shared_bytes, 16 * kMi);
  ovt_sizes none{};
  none.size = sizeof none;
  EXPECT_EQ(ovt_recipe_sizes(recipe.c_str(), 8193, &none), OVT_ERROR_ARGUMENT);
}

TEST(RecipeSizesTest, are_enough_for_every_number_of_rows) {
  const std::string tiles = kAskedTiles;
  for (const ovt_op op : {OVT_GEMM_ALL_REDUCE, OVT_GEMM_REDUCE_SCATTER}) {
    for (const std::string& config : {"peer_store" + tiles + " groups=64,64,128",
                                      signaled_config("symmetric"), library_config("chunked")}) {
      const Recipe recipe = value_or_throw(parse_recipe(recipe_of(op, config, 4096)));
      const auto most = value_or_throw(run::family_sizes(recipe, 4096));
      const std::int64_t unit = row_unit(recipe.weight);
      for (std::int64_t rows = unit; rows <= 4096; rows += unit) {
        const auto takes = run::deployed_sizes(value_or_throw(run::work_for(recipe, rows)));
        ASSERT_LE(takes.shared(), most.shared_bytes) << config << ' ' << rows;
      }
    }
  }
}

TEST(FamilyTrialsTest, are_few_where_nothing_depends_on_the_rows) {
  const auto trials = [](const std::string& config) {
    const std::string text = recipe_of(OVT_GEMM_ALL_REDUCE, config, 4096);
    Recipe recipe = value_or_throw(parse_recipe(text));
    RecipeRange more = recipe.ranges.front();
    more.from = 4097;
    more.to = 8192;
    with_field<config_field::Swizzle>(more.config, [](int& swizzle) { swizzle = 1; });
    recipe.ranges.push_back(more);
    return run::family_trials(recipe, 6000);
  };
  using testing::ElementsAre;
  EXPECT_THAT(trials(signaled_config("peer_access")), ElementsAre(6000));
  EXPECT_THAT(trials(signaled_config("ring")),
              ElementsAre(1, 4, 16, 64, 256, 1024, 4096, 4097, 6000));
  EXPECT_EQ(trials(library_config("chunked")).size(), 9U);
}

/// A family compiles only what `kernels_of` says; every number of rows must be among it.
TEST(RecipeKernelsTest, are_those_of_every_number_of_rows) {
  for (const auto& [op, config] :
       {std::pair(OVT_GEMM_REDUCE_SCATTER, signaled_config("peer_access", "64,64,32,32,32,16,16")),
        std::pair(OVT_ALL_GATHER_GEMM,
                  std::string("waiting") + kAskedTiles + " groups=64,16,48,64,32,32")}) {
    const Recipe recipe = value_or_throw(parse_recipe(recipe_of(op, config, 8192)));
    std::set<TiledKernel> made;
    for (const TiledKernel& kernel : kernels_of(recipe, 8192)) {
      made.insert(value_or_throw(kernels::with_room(kernel)));
    }
    for (std::int64_t rows = 4; rows <= 8192; rows += 4) {
      const auto kernel = value_or_throw(run::work_for(recipe, rows)).kernel();
      ASSERT_TRUE(made.contains(value_or_throw(kernels::with_room(*kernel)))) << rows;
    }
  }
}

TEST(FamilyArgumentsTest, NullsAreRefusedByName) {
  ovt_family* family = nullptr;
  ovt_buffers buffers{};
  buffers.size = sizeof buffers;
  std::array<char, 16> text{};
  const auto refused = [](ovt_status status, const char* words) {
    EXPECT_EQ(status, OVT_ERROR_ARGUMENT) << words;
    EXPECT_THAT(ovt_run_last_error(), HasSubstr(words));
  };
  refused(ovt_recipe_config(nullptr, 1, text.data(), text.size()), "recipe: NULL");
  refused(ovt_recipe_config("", 1, nullptr, 0), "config: NULL");
  refused(ovt_recipe_sizes("", 1, nullptr), "ovt_sizes: NULL");
  refused(ovt_family_create(nullptr, "", 1, &family), "world: NULL");
  refused(ovt_family_run(nullptr, 1, text.data(), text.data(), text.data(), nullptr),
          "family: NULL");
  refused(ovt_family_buffers(nullptr, 1, &buffers), "family: NULL");
  ovt_family_destroy(nullptr);
}

}  // namespace
}  // namespace overlaptune
