#include "planning/whatif/gradients.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planning/whatif/algorithms.hpp"
#include "planning/whatif/cluster_file.hpp"

namespace overlaptune::cluster {
namespace {

using ::testing::HasSubstr;

ModelConfig model(const std::string& name) {
  return value_or_throw(
      read_model_config(std::string(OVERLAPTUNE_SOURCE_DIR) + "/examples/models/" + name));
}

/// By hand for Llama 3 8B: 8.03e9 weights x 2 bytes; 6 x 8.03e9 / (989e12 x 0.5) = 97.4 ns a token
/// in all, two thirds of it backward.
TEST(Gradients, the_batch_that_hides_them) {
  const Cluster cluster = value_or_throw(find_cluster("hgx-h100"));
  const auto step =
      value_or_throw(synchronisation(model("llama-3-8b.json"), cluster, {.utilisation = 0.5}));
  EXPECT_NEAR(step.gradient_bytes, 16.06e9, 0.01e9);
  EXPECT_NEAR(step.us_per_token, 97.4, 0.2);
  EXPECT_NEAR(hiding_tokens(step, 60'000), 60'000 / (97.4 * 2 / 3), 5);
}

/// Mixtral 8x7B: 46.7e9 weights have gradients, of which a token meets 12.9e9.
TEST(Gradients, a_token_meets_its_own_experts_only) {
  const Cluster cluster = value_or_throw(find_cluster("hgx-h100"));
  const auto step =
      value_or_throw(synchronisation(model("mixtral-8x7b.json"), cluster, {.utilisation = 0.5}));
  EXPECT_NEAR(step.gradient_bytes, 2 * 46.7e9, 0.1e9);
  EXPECT_NEAR(step.us_per_token, 6 * 12.88e9 / (989e6 * 0.5), 0.5);
}

TEST(Gradients, replicas_of_a_whole_node_have_a_card_each) {
  const Cluster cluster = value_or_throw(find_cluster("hgx-h100"));
  const Cluster across = value_or_throw(across_replicas(cluster, 8));
  const auto slices = value_or_throw(slices_of(across, 16));
  ASSERT_EQ(slices.size(), 1U);
  EXPECT_NEAR(gpu_rate(slices[0], 1e9), 50e3 * 0.92, 100);
  const Cluster of_halves = value_or_throw(across_replicas(cluster, 4));
  const auto halves = value_or_throw(slices_of(of_halves, 32));
  ASSERT_EQ(halves.size(), 2U);
  EXPECT_NEAR(gpu_rate(halves[1], 1e9), 50e3 * 0.92, 100);
}

/// The one all-reduce of a step that is to be hidden, by the parts that the tests above know.
TEST(Gradients, their_all_reduce_is_that_of_the_replicas) {
  const Cluster cluster = value_or_throw(find_cluster("hgx-h100"));
  const ModelConfig config = model("llama-3-8b.json");
  const auto step = hidden_all_reduce(config, cluster, {}, {.tensor_parallel = 8}, 16);
  EXPECT_EQ(step.all_reduce.question.gpus, 16);
  EXPECT_NEAR(step.all_reduce.question.bytes, 16.06e9 / 8, 0.01e9);
  // 16 cards of 50 GB/s, 92 % of it: no ring is faster than 2 * 15/16 of the bytes at that rate.
  EXPECT_GT(step.all_reduce.estimate.us, 2 * 15.0 / 16 * 16.06e9 / 8 / (50e3 * 0.92) * 0.9);
  EXPECT_GT(step.tokens * step.synchronisation.us_per_token * 2 / 3,
            step.all_reduce.estimate.us * 0.999);
  EXPECT_THROW((void)hidden_all_reduce(config, cluster, {}, {.tensor_parallel = 8}, 1 << 20),
               Failure);
}

/// The bytes of a question are a whole number of 64 bits.
TEST(Gradients, more_weights_than_can_be_are_refused) {
  const Cluster cluster = value_or_throw(find_cluster("hgx-h100"));
  ModelConfig config = model("llama-3-8b.json");
  config.hidden = config.vocabulary = config.intermediate = kLargestSize;
  const auto step = synchronisation(config, cluster, {});
  ASSERT_FALSE(step);
  EXPECT_THAT(step.error().message, HasSubstr("bytes of gradients: expected"));
}

TEST(Gradients, parallel_sizes_that_do_not_fit) {
  const auto error = [](const char* name, int tensor_parallel) {
    const auto across = across_replicas(value_or_throw(find_cluster(name)), tensor_parallel);
    return across ? "none" : across.error().message;
  };
  EXPECT_THAT(error("hgx-h100", 3), HasSubstr("--tensor-parallel 3: expected a divisor of the 8"));
  EXPECT_THAT(error("hgx-h100", 16), HasSubstr("--tensor-parallel 16"));
  EXPECT_THAT(error("tpu-v4", 2), HasSubstr("is a torus"));
}

}  // namespace
}  // namespace overlaptune::cluster
