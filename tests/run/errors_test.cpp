// Errors stay with the call that they belong to, and short memory is told apart from other errors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/support.hpp"
#include "run/agreed.hpp"
#include "run/handles.hpp"

namespace overlaptune::run {
namespace {

using ::testing::HasSubstr;

/// The `Failure` of a step.
template <class Step>
Error failure_of(const Step& step) {
  const Expected<void> outcome = caught([&]() -> Expected<void> {
    step();
    return {};
  });
  EXPECT_FALSE(outcome);
  return outcome ? Error{} : outcome.error();
}

/// Ranks of which another one says `theirs`.
struct Ranks {
  double theirs = 0;
  double largest(double mine) { return std::max(mine, theirs); }
};

/// Without a driver every call fails, and so does the call that clears the error.
class LastErrorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (cudaGetLastError() != cudaSuccess) GTEST_SKIP() << "there is no CUDA driver";
  }
};

TEST_F(LastErrorTest, IsClearedByAFailedCheck) {
  const Error error = failure_of([] { OVT_CHECK(cudaSetDevice(12'345)); });
  EXPECT_THAT(error.message, HasSubstr("cudaSetDevice: "));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(CheckTest, TellsShortMemoryFromOtherErrors) {
  const auto kind = [](auto code) { return failure_of([&] { OVT_CHECK(code); }).kind; };
  EXPECT_EQ(kind(cudaErrorMemoryAllocation), ErrorKind::out_of_memory);
  EXPECT_EQ(kind(CUBLAS_STATUS_ALLOC_FAILED), ErrorKind::out_of_memory);
  EXPECT_EQ(kind(cudaErrorIllegalAddress), ErrorKind::machine_unavailable);
  EXPECT_EQ(kind(CUBLAS_STATUS_EXECUTION_FAILED), ErrorKind::machine_unavailable);
  EXPECT_EQ(kind(ncclSystemError), ErrorKind::machine_unavailable);
}

TEST_F(LastErrorTest, IsClearedByAFailedAllocation) {
  constexpr std::size_t kTooMuch = std::size_t{1} << 50;
  const Error error = failure_of([] { static_cast<void>(device_memory(kTooMuch)); });
  EXPECT_THAT(error.message, HasSubstr("cudaMalloc: "));
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST_F(LastErrorTest, IsNotTheStatusOfALaunch) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "needs a GPU";
  EXPECT_NE(cudaSetDevice(12'345), cudaSuccess);  // its error stays
  EXPECT_EQ(kernels::nothing(nullptr), cudaSuccess);
  EXPECT_NE(cudaGetLastError(), cudaSuccess);
  constexpr int kNoCtas = 0;
  EXPECT_NE(kernels::copy_by_stores(nullptr, nullptr, nullptr, 0, kNoCtas), cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}

TEST(LaunchTest, TellsItsError) {
  int devices = 0;
  const bool has_gpu = cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0;
  EXPECT_EQ(kernels::nothing(nullptr) == cudaSuccess, has_gpu);
}

TEST(AgreedTest, OwnErrorsAreKept) {
  Ranks ranks{.theirs = 2};
  const auto outcome = agreed(ranks, bad_input("mine"), "dance");
  ASSERT_FALSE(outcome);
  EXPECT_EQ(outcome.error().message, "mine");
  EXPECT_TRUE(agreed(*std::make_unique<Ranks>(), {}, "dance"));
}

TEST(AgreedTest, ErrorsOfOthersAreTold) {
  Ranks failed{.theirs = 1};
  const auto other = agreed(failed, {}, "make this plan");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(other.error().message, "another rank cannot make this plan; its error says why");
}

TEST(AgreedTest, ShortMemoryOfOneRankIsAMemoryErrorOnAll) {
  Ranks short_of_memory;
  const Error mine = failure_of([] { OVT_CHECK(cudaErrorMemoryAllocation); });
  const auto here = agreed(short_of_memory, tl::make_unexpected(mine), "make this plan");
  ASSERT_FALSE(here);
  EXPECT_EQ(here.error().kind, ErrorKind::out_of_memory);
  short_of_memory.theirs = 2;
  const auto there = agreed(short_of_memory, {}, "make this plan");
  ASSERT_FALSE(there);
  EXPECT_EQ(there.error().kind, ErrorKind::out_of_memory);
  EXPECT_THAT(there.error().message, HasSubstr("too little GPU memory to make this plan"));
}

}  // namespace
}  // namespace overlaptune::run
