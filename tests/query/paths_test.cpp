// Paths of every kind: a database under a strange name is read, everything else is refused at once.

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/db/processes.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class PathsTest : public testing::Test {
 protected:
  /// Expects that a path is refused so. The open runs in a process of its own, which ends if it is
  /// kept waiting.
  static void refused(const std::string& path, ovt_status status, const std::string& said) {
    samples::Child child([&] {
      alarm(30);
      const char* const paths[] = {path.c_str()};
      ovt_database* database = nullptr;
      const ovt_status got = ovt_open(paths, 1, nullptr, &database);
      const std::string text = ovt_last_error();
      const bool right = got == status && database == nullptr && text.find(said) != text.npos &&
                         text.find('\n') == text.npos;
      if (!right) std::cerr << got << ": " << text << '\n';
      return right ? 0 : 1;
    });
    EXPECT_EQ(child.wait(), 0) << path.substr(0, 80);
  }

  static void answers(const fs::path& path) {
    const ovt::Database database({path});
    EXPECT_EQ(database.query(stored::problem()).source, OVT_EXACT) << path;
  }

  TemporaryFolder folder_;
};

TEST_F(PathsTest, WhatIsNoFileIsRefusedAndKeepsNobodyWaiting) {
  refused(folder_.path(), OVT_ERROR_DATABASE, "is not a file");
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  refused(pipe, OVT_ERROR_DATABASE, "is not a file");
  fs::create_symlink(pipe, folder_ / "link to a pipe");
  refused(folder_ / "link to a pipe", OVT_ERROR_DATABASE, "is not a file");
  for (const char* device : {"/dev/null", "/dev/zero", "/dev/tty"}) {
    if (fs::exists(device)) refused(device, OVT_ERROR_DATABASE, "is not a file");
  }
}

TEST_F(PathsTest, FilesOfNothing) {
  samples::write_bytes(folder_ / "empty", "");
  refused(folder_ / "empty", OVT_ERROR_DATABASE, "is empty");
  samples::write_bytes(folder_ / "sparse", "");
  std::error_code error;
  fs::resize_file(folder_ / "sparse", std::uintmax_t{1} << 42, error);
  if (error) GTEST_SKIP() << "no file of 4 TiB with holes here: " << error.message();
  refused(folder_ / "sparse", OVT_ERROR_DATABASE, "not an SQLite database");
}

TEST_F(PathsTest, ADatabaseWithFourTerabytesOfHolesBehindItIsRead) {
  stored::put_winners(folder_ / "a.db", 1);
  std::error_code error;
  fs::resize_file(folder_ / "a.db", std::uintmax_t{1} << 42, error);
  if (error) GTEST_SKIP() << "no file of 4 TiB with holes here: " << error.message();
  answers(folder_ / "a.db");
}

TEST_F(PathsTest, NamesOfNothing) {
  refused("", OVT_ERROR_NOT_FOUND, "no such file");
  refused(folder_ / "none.db", OVT_ERROR_NOT_FOUND, "no such file");
  refused(folder_ / "none" / "none.db", OVT_ERROR_NOT_FOUND, "no such file");
  refused(folder_ / std::string(300, 'x'), OVT_ERROR_NOT_FOUND, "no such file");
  refused(folder_ / std::string(5000, 'x'), OVT_ERROR_NOT_FOUND, "database '");  // the text is cut
  fs::create_symlink(folder_ / "loop", folder_ / "loop");
  refused(folder_ / "loop", OVT_ERROR_NOT_FOUND, "no such file");
  stored::put_winners(folder_ / "a.db", 1);
  refused((folder_ / "a.db").string() + "/b.db", OVT_ERROR_NOT_FOUND, "no such file");
}

TEST_F(PathsTest, NamesOfAnyBytes) {
  for (const char* name : {"with blanks .db", "what?mode=memory", "50%25 #1.db", "caf\xe9 \xff\xfe",
                           "µs", "new\nline", "-wal", "'\"\\", ":memory:"}) {
    stored::put_winners(folder_ / name, 1);
    answers(folder_ / name);
  }
  // The root of a file system, or a variable that ends in a slash, before an absolute path.
  answers(fs::path("/" + (folder_ / "µs").string()));
  answers(fs::path("//" + (folder_ / "µs").string()));
}

TEST_F(PathsTest, ANameRelativeToAFolderThatWasLeft) {
  stored::put_winners(folder_ / "a.db", 1);
  samples::Child child([&] {
    fs::current_path(folder_.path());
    ovt::Database database({"a.db"});
    fs::current_path("/");
    database.reload();
    return database.query(stored::problem()).source == OVT_EXACT ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace overlaptune
