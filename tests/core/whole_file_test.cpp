#include "core/base/whole_file.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

class WholeFile : public testing::Test {
 protected:
  WholeFile() { before_ = umask(0027); }
  ~WholeFile() override { umask(before_); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  TemporaryFolder temporary;
  fs::path folder = temporary.path();
  fs::path file = folder / "file";

 private:
  mode_t before_;
};

TEST_F(WholeFile, has_the_rights_that_the_umask_leaves) {
  ASSERT_EQ(write_whole_file(file, "text", IfThere::replace, 0666), 0);
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0640U);
  EXPECT_EQ(content(file), "text");
}

TEST_F(WholeFile, replaces_or_keeps_what_is_there) {
  ASSERT_EQ(write_whole_file(file, "first", IfThere::keep, 0600), 0);
  EXPECT_EQ(write_whole_file(file, "second", IfThere::keep, 0600), EEXIST);
  EXPECT_EQ(content(file), "first");
  ASSERT_EQ(write_whole_file(file, "third", IfThere::replace, 0600), 0);
  EXPECT_EQ(content(file), "third");
  EXPECT_THAT(names(), ElementsAre("file"));
}

TEST_F(WholeFile, replaces_a_link_and_leaves_its_target_alone) {
  std::ofstream(folder / "target") << "of somebody";
  fs::create_symlink("target", file);
  ASSERT_EQ(write_whole_file(file, "text", IfThere::replace, 0600), 0);
  EXPECT_FALSE(fs::is_symlink(file));
  EXPECT_EQ(content(folder / "target"), "of somebody");
  fs::create_symlink("nowhere", folder / "dangling");
  ASSERT_EQ(write_whole_file(folder / "dangling", "text", IfThere::replace, 0600), 0);
  EXPECT_THAT(names(), ElementsAre("dangling", "file", "target"));
}

TEST_F(WholeFile, leaves_nothing_where_it_fails) {
  fs::create_directory(file);
  EXPECT_EQ(write_whole_file(file, "text", IfThere::replace, 0600), EISDIR);
  EXPECT_EQ(write_whole_file(folder / "missing" / "file", "text", IfThere::keep, 0600), ENOENT);
  EXPECT_THAT(names(), ElementsAre("file"));
}

/// A process that writes one file after another, until it is killed.
pid_t writer_of_files(const fs::path& folder, const std::string& text) {
  const pid_t writer = fork();
  if (writer != 0) return writer;
  for (int i = 0; i < 1'000'000; ++i) {
    const fs::path file = folder / ("file" + std::to_string(i));
    if (write_whole_file(file, text, IfThere::keep, 0600) != 0) _exit(1);
  }
  _exit(0);
}

void expect_only_whole_files(const fs::path& folder, int signal) {
  const std::string text(std::size_t{4} << 20, 'x');
  const pid_t writer = writer_of_files(folder, text);
  ASSERT_GT(writer, 0);
  while (fs::is_empty(folder)) poll(nullptr, 0, 1);
  poll(nullptr, 0, 5);  // milliseconds, in the middle of a later file
  kill(writer, signal);
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  ASSERT_TRUE(WIFSIGNALED(status));
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_TRUE(entry.path().filename().string().starts_with("file")) << entry.path();
    EXPECT_EQ(entry.file_size(), text.size()) << entry.path();
  }
}

TEST_F(WholeFile, leaves_nothing_where_its_writer_is_ended) {
  expect_only_whole_files(folder, SIGTERM);
}

TEST_F(WholeFile, leaves_nothing_where_its_writer_is_killed) {
  const int unnamed = open(folder.c_str(), O_TMPFILE | O_WRONLY, 0600);
  if (unnamed < 0) GTEST_SKIP() << "this file system has no files without a name";
  close(unnamed);
  expect_only_whole_files(folder, SIGKILL);
}

}  // namespace
}  // namespace overlaptune
