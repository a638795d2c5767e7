#include "core/base/own_file.hpp"

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OwnFile : public testing::Test {
 protected:
  void expect_refused(const std::string& why, mode_t unfit = kOthersMayWrite) const {
    const auto content = read_own_file(file, unfit, 100);
    ASSERT_FALSE(content) << why;
    EXPECT_EQ(content.error().kind, ErrorKind::bad_input);
    EXPECT_THAT(content.error().message, HasSubstr(file.string() + ": "));
    EXPECT_THAT(content.error().message, HasSubstr(why));
  }

  static mode_t mode_of(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 07777;
  }

  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  fs::path file = folder / "file";
};

TEST_F(OwnFile, is_read_as_it_was_written) {
  EXPECT_EQ(read_own_file(file, kOthersMayReadOrWrite, 100)->has_value(), false);
  ASSERT_EQ(write_own_file(file, "first", IfThere::keep), 0);
  EXPECT_EQ(mode_of(file), 0600U);
  EXPECT_EQ(write_own_file(file, "second", IfThere::keep), EEXIST);
  EXPECT_EQ(**read_own_file(file, kOthersMayReadOrWrite, 100), "first");
  ASSERT_EQ(write_own_file(file, "third", IfThere::replace), 0);
  EXPECT_EQ(**read_own_file(file, kOthersMayReadOrWrite, 100), "third");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1) << "a temporary file was left";
}

TEST_F(OwnFile, is_refused_if_others_may_change_it) {
  ASSERT_EQ(write_own_file(file, "text", IfThere::replace), 0);
  for (const mode_t mode : {0620U, 0602U}) {
    chmod(file.c_str(), mode);
    expect_refused("others may write it");
  }
  chmod(file.c_str(), 0644);
  EXPECT_TRUE(read_own_file(file, kOthersMayWrite, 100));
  expect_refused("others may read it (mode 0644); run `chmod go-rw`", kOthersMayReadOrWrite);
}

TEST_F(OwnFile, is_refused_if_it_belongs_to_somebody_else) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  ASSERT_EQ(write_own_file(file, "text", IfThere::replace), 0);
  ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
  expect_refused("it belongs to user 12345");
}

TEST_F(OwnFile, is_no_link_no_fifo_and_no_folder) {
  ASSERT_EQ(write_own_file(folder / "other", "text", IfThere::replace), 0);
  fs::create_symlink(folder / "other", file);
  expect_refused("no symbolic link");
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  const auto before = std::chrono::steady_clock::now();
  expect_refused("expected a regular file");
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(5));
  fs::remove(file);
  fs::create_directory(file);
  expect_refused("expected a regular file");
}

TEST_F(OwnFile, is_refused_if_it_is_too_long) {
  ASSERT_EQ(write_own_file(file, std::string(100, 'x'), IfThere::replace), 0);
  EXPECT_TRUE(read_own_file(file, kOthersMayWrite, 100));
  ASSERT_EQ(write_own_file(file, std::string(101, 'x'), IfThere::replace), 0);
  expect_refused("101 bytes; expected at most 100");
}

TEST_F(OwnFile, folders_are_made_for_the_user_alone) {
  EXPECT_EQ(make_own_folder(folder / "a" / "b"), 0);
  EXPECT_EQ(make_own_folder(folder / "a" / "b"), 0);
  EXPECT_EQ(mode_of(folder / "a"), 0700U);
  EXPECT_EQ(mode_of(folder / "a" / "b"), 0700U);
  ASSERT_EQ(write_own_file(file, "", IfThere::replace), 0);
  EXPECT_EQ(make_own_folder(file / "c"), ENOTDIR);
}

TEST(OwnFolder, is_where_the_environment_says) {
  using Map = std::map<std::string, std::string>;
  const auto found = [](const Map& variables) {
    return own_folder(
        [&](const char* name) -> std::optional<std::string> {
          const auto value = variables.find(name);
          if (value == variables.end()) return std::nullopt;
          return value->second;
        },
        "XDG_CONFIG_HOME", ".config");
  };
  EXPECT_EQ(found({{"HOME", "/h"}}), "/h/.config/overlaptune");
  EXPECT_EQ(found({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "/x"}}), "/x/overlaptune");
  EXPECT_EQ(found({{"HOME", "/h"}, {"XDG_CONFIG_HOME", "x"}}), "/h/.config/overlaptune");
  EXPECT_EQ(found({}), "");
}

}  // namespace
}  // namespace overlaptune
