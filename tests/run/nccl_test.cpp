#include "run/nccl.hpp"

#include <cstddef>
#include <cstdlib>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#if __has_include(<nccl_device/impl/core__types.h>)
#include <nccl_device/impl/core__types.h>
#endif

#include "run/memory/window_memory.hpp"
#include "tests/abi/command.hpp"

namespace overlaptune::run {
namespace {

#if __has_include(<nccl_device/impl/core__types.h>)
static_assert(offsetof(WindowFields, first) == offsetof(ncclWindow_vidmem, lsaFlatBase));
static_assert(offsetof(WindowFields, stride) == offsetof(ncclWindow_vidmem, stride4G));
#endif

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

std::string loaded_with(const std::string& folder, const std::string& variables = "") {
  return output_of(variables + "LD_LIBRARY_PATH=\"" + folder +
                   ":$LD_LIBRARY_PATH\" " LOAD_LIBRARY " " RUN_SHARED " 2>&1");
}

TEST(NcclTest, TheLibraryLoadsWithTheFunctionsOf2_27AndNamesWhatIsMissing) {
  EXPECT_THAT(loaded_with(OLD_NCCL_FOLDER),
              AllOf(StartsWith("NCCL 2.27.7 (" OLD_NCCL_FOLDER "/libnccl.so.2)"),
                    HasSubstr("lacks ncclAlltoAll of NCCL 2.28: all-to-all by sends"),
                    HasSubstr("lacks ncclTeamLsa of NCCL 2.28"), HasSubstr("CUDA IPC")));
}

TEST(NcclTest, AFunctionOfAnotherNcclInTheProcessIsNotTaken) {
  EXPECT_THAT(loaded_with(OLD_NCCL_FOLDER, "LD_PRELOAD=" OTHER_NCCL " "),
              AllOf(StartsWith("NCCL 2.27.7 (" OLD_NCCL_FOLDER "/libnccl.so.2)"),
                    HasSubstr("lacks ncclAlltoAll"), HasSubstr("lacks ncclTeamLsa")));
}

TEST(NcclTest, NothingIsMissingThatTheNcclOfTheBuildHas) {
  const std::string said = loaded_with("");
  EXPECT_THAT(said, StartsWith("NCCL " + nccl_version_in_words(NCCL_VERSION_CODE) + " ("));
  EXPECT_THAT(said, Not(HasSubstr("ncclAlltoAll")));
  EXPECT_THAT(said, Not(HasSubstr("ncclTeamLsa")));
}

TEST(NcclTest, WindowsAreMappedByAFunctionOrByTheirLayout) {
  const auto team = [](ncclComm_t) { return NewerNccl::Team{}; };
  const auto pointer = [](ncclWindow_t, std::size_t, int, void**) { return ncclSuccess; };
  EXPECT_FALSE(NewerNccl{.version = 22707}.maps_windows());
  EXPECT_FALSE((NewerNccl{.version = 22707, .team_in_reach = team}.maps_windows()));
  EXPECT_TRUE((NewerNccl{.version = 22803, .team_in_reach = team}.maps_windows()));
  EXPECT_TRUE((NewerNccl{.version = 23207, .peer_pointer = pointer}.maps_windows()));
}

TEST(NcclTest, AWindowsAddressesLie4GiBUnitsApart) {
  auto* const first = reinterpret_cast<std::byte*>(0x300000001000);
  const WindowFields window{.first = first, .stride = 32};
  EXPECT_EQ(address_in(window, 0), first);
  EXPECT_EQ(address_in(window, 3), first + 3 * (std::uint64_t{128} << 30));
}

}  // namespace
}  // namespace overlaptune::run
