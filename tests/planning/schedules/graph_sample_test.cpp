// Samples of graphs that repeat, by hand.

#include "planning/schedules/graph_sample.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Layers of a product and a sum of its result, and a chain of products. The way back has a product
/// for each layer, from the last one on, which waits for the sum of its layer.
TaskGraph there_and_back(int layers) {
  TaskGraph graph;
  for (int layer = 0; layer < layers; ++layer) {
    const int base = 2 * layer;
    graph.tasks.push_back(
        {.name = "product " + std::to_string(layer), .kind = "product", .us = 1.0 + layer});
    if (layer > 0) graph.tasks.back().after = {base - 2};
    graph.tasks.push_back({.name = "sum " + std::to_string(layer),
                           .kind = "sum",
                           .resource = Resource::links,
                           .us = 10.0 + layer,
                           .after = {base}});
    graph.fusions.push_back({.compute = base, .links = base + 1, .kind = "fused", .us = 12});
  }
  for (int layer = layers - 1; layer >= 0; --layer) {
    const auto last = static_cast<int>(graph.tasks.size()) - 1;
    graph.tasks.push_back({.name = "back " + std::to_string(layer), .kind = "back", .us = 3});
    graph.tasks.back().after = {2 * layer + 1};
    if (layer < layers - 1) graph.tasks.back().after.push_back(last);
  }
  return graph;
}

TEST(GraphSample, the_ends_of_each_kind_are_those_of_the_same_layers) {
  const auto sample = sample_of(there_and_back(6), 2);
  ASSERT_TRUE(sample);
  std::vector<std::string> names;
  for (const Task& task : sample->tasks) names.push_back(task.name);
  EXPECT_THAT(names, ElementsAre("product 0", "sum 0", "product 5", "sum 5", "back 5", "back 0"));
  // Product 5 waits for product 0 over four others; back 0 for back 5 and for sums on the way: of
  // those only sum 0 is here, and sum 5 by back 5.
  EXPECT_THAT(sample->tasks[0].after, IsEmpty());
  EXPECT_THAT(sample->tasks[1].after, ElementsAre(0));
  EXPECT_THAT(sample->tasks[2].after, ElementsAre(0));
  EXPECT_THAT(sample->tasks[3].after, ElementsAre(2));
  EXPECT_THAT(sample->tasks[4].after, ElementsAre(3));
  // Sums 1 to 4 are left out, and wait for products that wait for product 0.
  EXPECT_THAT(sample->tasks[5].after, ElementsAre(0, 1, 4));
  ASSERT_EQ(sample->fusions.size(), 2U);
  EXPECT_EQ(sample->fusions[0].compute, 0);
  EXPECT_EQ(sample->fusions[0].links, 1);
  EXPECT_EQ(sample->fusions[1].compute, 2);
  EXPECT_EQ(sample->fusions[1].links, 3);
  EXPECT_TRUE(check(*sample));
}

TEST(GraphSample, where_little_repeats_there_is_none) {
  EXPECT_FALSE(sample_of(there_and_back(3), 2));  // 6 of 9
  EXPECT_TRUE(sample_of(there_and_back(4), 2));   // 6 of 12
  TaskGraph each = there_and_back(6);
  for (Task& task : each.tasks) task.kind = task.name;
  EXPECT_FALSE(sample_of(each, 2));
}

}  // namespace
}  // namespace overlaptune
