// Files that `--out` and `--trace` write.

#include <string>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/cli/tuned.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class OutputFiles : public tool::Tuned {};

/// Commands that write a file, and the file.
const std::vector<std::pair<std::string, std::string>> kWriters{
    {"report --db f.db --out", "report.md"},
    {"db export --db f.db --out", "export.json"},
    {"query --explain" + tool::kKnown + " --trace", "trace.json"}};

/// Links at every name of a temporary file that is made of the number of a process that will run.
void lay_links(const tool::Folder& folder, const std::string& file) {
  constexpr int kNext = 3000;
  for (pid_t process = getpid(); process < getpid() + kNext; ++process) {
    fs::create_symlink("victim", folder / (file + "." + std::to_string(process) + ".tmp"));
  }
}

TEST_F(OutputFiles, are_not_written_through_links_that_somebody_laid) {
  folder->write("victim", "of somebody");
  for (const auto& [command, file] : kWriters) {
    lay_links(*folder, file);
    const tool::Outcome outcome = tool::run(*folder, command + " " + file);
    EXPECT_EQ(outcome.status, 0) << command << outcome.err;
    EXPECT_GT(fs::file_size(*folder / file), 0U) << command;
    EXPECT_EQ(tool::content(*folder / "victim"), "of somebody") << command;
  }
}

TEST_F(OutputFiles, leave_nothing_on_a_full_disk) {
  constexpr rlim_t kLimit = 40'000;  // a reader of a database makes a file of 32 KiB beside it
  ASSERT_EQ(tool::run(*folder, "db export --db f.db --out export.json").status, 0);
  ASSERT_GT(fs::file_size(*folder / "export.json"), kLimit);
  folder->write("export.json", "before");
  const auto names = folder->entries();
  const tool::Outcome outcome = tool::run(*folder, "db export --db f.db --out export.json", kLimit);
  EXPECT_EQ(outcome.status, 6);
  EXPECT_THAT(outcome.err, HasSubstr("export.json: cannot be written: File too large"));
  EXPECT_EQ(tool::content(*folder / "export.json"), "before");
  EXPECT_EQ(folder->entries(), names);
}

TEST_F(OutputFiles, never_replace_a_database) {
  fs::create_symlink("f.db", *folder / "link.md");
  for (const char* name : {"f.db", "link.md"}) {
    EXPECT_EQ(tool::run(*folder, std::string("report --db f.db --out ") + name).status, 2) << name;
  }
  EXPECT_TRUE(fs::is_symlink(*folder / "link.md"));
}

}  // namespace
}  // namespace overlaptune
