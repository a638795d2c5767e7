// The built program over fake workers, whose ranks NCCL takes for those of two hosts.

#include <cstdlib>

#include <gtest/gtest.h>

#include "tests/machine/controller/launch/job.hpp"

namespace overlaptune::cuda {
namespace {

constexpr int kRanks = 4;

/// Two nodes of two GPUs, as scripts/emulate-nodes starts them.
Environment rank_of_two_nodes(int rank, int port) {
  const int node = rank / 2;
  Environment environment = torchrun_rank(rank, kRanks, port);
  environment["LOCAL_RANK"] = std::to_string(rank % 2);
  environment["LOCAL_WORLD_SIZE"] = "2";
  environment["CUDA_VISIBLE_DEVICES"] = node == 0 ? "0,1" : "2,3";
  environment["NCCL_HOSTID"] = "node-" + std::to_string(node);
  environment["NCCL_NET"] = "Socket";
  return environment;
}

tool::Outcome probed_on(bool two_nodes, const std::string& file) {
  const int port = free_port();
  Job job(kRanks, [&](int rank) {
    return two_nodes ? rank_of_two_nodes(rank, port) : torchrun_rank(rank, kRanks, port);
  });
  return job.run("probe --machine cuda --quick --json --db " + file).front();
}

TEST(NodesOfAJob, are_a_platform_of_their_own) {
  const tool::Folder folder;
  const std::string file = (folder / "f.db").string();
  const tool::Outcome two = probed_on(true, file);
  ASSERT_EQ(two.status, 0) << two.err;
  const auto document = nlohmann::json::parse(two.out);
  EXPECT_EQ(document.at("platform"), "fake-100-nvlink-2x2-socket");
  EXPECT_GT(document.at("measured"), 0);
  EXPECT_TRUE(document.at("peers").empty());
  EXPECT_NE(two.err.find("2 nodes x 2 GPUs, NVSwitch, joined by network Socket: left out, as they "
                         "need the memory of peers: waiting, peer_store, symmetric, copy_engine, "
                         "peer_access"),
            std::string::npos)
      << two.err;
  for (const auto& row : document.at("bandwidths")) EXPECT_EQ(row.at("transport"), "ring");

  // Four GPUs of one host know nothing of it.
  const tool::Outcome one = probed_on(false, file);
  ASSERT_EQ(one.status, 0) << one.err;
  const auto of_one = nlohmann::json::parse(one.out);
  EXPECT_EQ(of_one.at("platform"), "fake-100-nvlink-x4");
  EXPECT_EQ(of_one.at("known"), 0);
  EXPECT_NE(of_one.at("fingerprint"), document.at("fingerprint"));
  EXPECT_EQ(one.err.find("nodes"), std::string::npos) << one.err;
}

TEST(NodesOfAJob, are_named_where_a_problem_has_too_many_ranks) {
  const int port = free_port();
  Job job(kRanks, [&](int rank) { return rank_of_two_nodes(rank, port); });
  const auto outcomes =
      job.run("tune --machine cuda --db f.db --problem gemm_all_reduce:1024,1024,1024:bf16:8");
  EXPECT_EQ(outcomes[0].status, 2);
  EXPECT_NE(outcomes[0].err.find("the 4 GPUs of cuda:fake-100-nvlink-2x2-socket"),
            std::string::npos)
      << outcomes[0].err;
}

}  // namespace
}  // namespace overlaptune::cuda
