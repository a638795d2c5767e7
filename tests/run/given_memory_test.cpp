// Addresses that a caller gives for the memory of ranks, as CUDA describes them.

#include "run/memory/given_memory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

using testing::HasSubstr;

cudaPointerAttributes memory(cudaMemoryType type, int device = 0) {
  cudaPointerAttributes attributes{};
  attributes.type = type;
  attributes.device = device;
  return attributes;
}

TEST(GivenMemoryTest, IsMemoryOfAGpuAndThisRanksOwnIsOnItsGpu) {
  EXPECT_EQ(objection_to(memory(cudaMemoryTypeDevice, 3), 3), "");
  EXPECT_EQ(objection_to(memory(cudaMemoryTypeDevice, 3), std::nullopt), "");
  EXPECT_EQ(objection_to(memory(cudaMemoryTypeDevice, 2), 3),
            "it is memory of GPU 2: expected that of this rank's own, GPU 3");
}

TEST(GivenMemoryTest, HostMemoryIsRefused) {
  for (const auto own_gpu : {std::optional<int>(), std::optional(0)}) {
    EXPECT_THAT(objection_to(memory(cudaMemoryTypeHost), own_gpu), HasSubstr("host or managed"));
    EXPECT_THAT(objection_to(memory(cudaMemoryTypeManaged), own_gpu), HasSubstr("host or managed"));
    EXPECT_THAT(objection_to(memory(cudaMemoryTypeUnregistered), own_gpu),
                HasSubstr("CUDA does not know it"));
  }
}

TEST(GivenMemoryTest, AnAddressThatIsNoGpusIsRefused) {
  alignas(4096) static std::byte host[8192];
  const WorldOptions options{.peers = {host}, .peer_bytes = sizeof host};
  try {
    check_given(options, 0, 0);
    FAIL() << "expected a failure";
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::bad_input);
    EXPECT_THAT(failure.what(), HasSubstr("ovt_world_options.peers[0], byte 0 of 8192: "));
  }
}

}  // namespace
}  // namespace overlaptune::run
