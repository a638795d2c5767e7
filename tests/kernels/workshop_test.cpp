// Kernels with and without NVRTC: from a cache that was filled ahead, and may be read-only.

#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernels/compile/compile_all.hpp"
#include "kernels/compile/tiled_source.hpp"
#include "kernels/hopper_gemm.hpp"
#include "tests/kernels/sources.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune::kernels {
namespace {

using testing::HasSubstr;

CompileJob job(int number) {
  return {.source = small_kernel(number), .architecture = "sm_90a"};
}

class WorkshopTest : public testing::Test {
 protected:
  /// A cubin that no compiler has made.
  static Cubin made_up() { return {.bytes = "code", .properties = {.registers = 7}}; }
  [[nodiscard]] CubinCacheOptions options() const { return {.folder = temporary.path()}; }
  [[nodiscard]] Workshop without_nvrtc() const { return {Compiler::load({}), options()}; }

  TemporaryFolder temporary;
};

TEST_F(WorkshopTest, WithoutNvrtcAKernelThatWasCompiledAheadIsTaken) {
  const CubinCache cache(options());
  cache.store(key_of_any_nvrtc(job(1).source, job(1).architecture), made_up());
  using std::filesystem::perms;
  std::filesystem::permissions(temporary.path(), perms::owner_read | perms::owner_exec);
  const auto found = without_nvrtc().kernel(job(1));
  std::filesystem::permissions(temporary.path(), perms::owner_all);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, made_up());
}

TEST_F(WorkshopTest, WithoutNvrtcAnyOtherKernelIsRefusedWithWhatToDo) {
  CubinCache(options()).store(key_of_any_nvrtc(job(1).source, "sm_80"), made_up());
  const auto refused = without_nvrtc().kernel(job(1));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::machine_unavailable);
  for (const std::string& words :
       {std::string("kernel small<1> for sm_90a: not in the cache '"), temporary.path().string(),
        std::string("overlaptune kernels --db FILE --out FOLDER"), std::string("NVRTC")}) {
    EXPECT_THAT(refused.error().message, HasSubstr(words));
  }
}

using WorkshopWithNvrtc = WithNvrtc;

TEST_F(WorkshopWithNvrtc, AKernelThatWasCompiledAheadIsNotCompiledAgain) {
  const TemporaryFolder temporary;
  const CubinCacheOptions options{.folder = temporary.path()};
  const CubinCache cache(options);
  const Cubin ahead{.bytes = "code"};
  cache.store(key_of_any_nvrtc(job(1).source, job(1).architecture), ahead);
  const Workshop workshop(*compiler, options);
  EXPECT_EQ(*workshop.kernel(job(1)), ahead);
  EXPECT_THAT(workshop.kernel(job(2))->bytes, HasSubstr(".text._Z5smallILi2EEvPi"));
  EXPECT_EQ(cache.contents().entries, 2U);
}

TEST(TiledSource, IsTheBestKernelOfTheGpu) {
  const TiledKernel kernel{.tile = {128, 128, 64, 4, 1}, .elements = Elements::bf16, .regions = 3};
  EXPECT_EQ(job_of(kernel, 90)->source.name, "hopper_gemm");
  EXPECT_EQ(job_of(kernel, 90)->architecture, "sm_90a");
  EXPECT_EQ(job_of(kernel, 100)->source.name, "ampere_gemm");
  EXPECT_EQ(job_of(kernel, 103)->architecture, "sm_100");
}

TEST(TiledSource, HasRoomForMoreRegionsThanAreAskedFor) {
  const TiledKernel few{.tile = {128, 128, 64, 4, 1}, .elements = Elements::bf16, .regions = 1};
  TiledKernel more = few;
  more.regions = kUsualRegions;
  EXPECT_EQ(job_of(few, 90)->source, job_of(more, 90)->source);
  more.regions = kUsualRegions + 1;
  EXPECT_NE(job_of(few, 90)->source, job_of(more, 90)->source);
  more.regions = kMostRegions + 1;
  EXPECT_FALSE(job_of(more, 90));
}

TEST(TiledSource, TakingWorkFromAQueueNeedsHopper) {
  const TiledKernel stores{
      .tile = {128, 128, 64, 4, 1}, .elements = Elements::bf16, .regions = 2, .ranks = 4};
  const TiledKernel waits{
      .tile = {128, 128, 64, 4, 1}, .elements = Elements::bf16, .regions = 2, .waits = true};
  for (const TiledKernel& kernel : {stores, waits}) {
    EXPECT_TRUE(job_of(kernel, 90));
    EXPECT_THAT(job_of(kernel, 80).error().message, HasSubstr("from a queue are for Hopper"));
    EXPECT_THAT(job_of(kernel, 100).error().message, HasSubstr("from a queue are for Hopper"));
  }
}

}  // namespace
}  // namespace overlaptune::kernels
