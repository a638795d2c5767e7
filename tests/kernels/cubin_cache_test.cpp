#include "kernels/compile/cubin_cache.hpp"

#include <atomic>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include "tests/kernels/sources.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune::kernels {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

Cubin sample(char letter, std::size_t bytes = 1000) {
  return {.bytes = std::string(bytes, letter),
          .symbol = "kernel",
          .properties = {.registers = 168,
                         .spill_bytes = 4,
                         .local_bytes = 8,
                         .static_shared_bytes = letter},
          .warnings = {"first", "", "third\n"}};
}

std::string content(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void write(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

void set_age(const fs::path& file, std::chrono::minutes age) {
  fs::last_write_time(file, fs::file_time_type::clock::now() - age);
}

/// The log of the time in which this object lives.
class Log {
 public:
  Log() {
    spdlog::set_default_logger(std::make_shared<spdlog::logger>(
        "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
  }
  ~Log() { spdlog::set_default_logger(before_); }
  Log(const Log&) = delete;
  Log& operator=(const Log&) = delete;
  [[nodiscard]] std::string text() const { return text_.str(); }

 private:
  std::ostringstream text_;
  std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
};

class CubinCacheTest : public testing::Test {
 protected:
  TemporaryFolder temporary;
  fs::path folder = temporary.path() / "deep" / "cache";
  CubinCache cache{{.folder = folder}};
};

TEST_F(CubinCacheTest, finds_what_was_stored_and_nothing_else) {
  EXPECT_EQ(cache.find("a"), std::nullopt);
  EXPECT_EQ(cache.contents().entries, 0U);
  cache.store("a", sample('a'));
  cache.store("b", sample('b'));
  EXPECT_EQ(cache.find("a"), sample('a'));
  EXPECT_EQ(cache.find("b"), sample('b'));
  EXPECT_EQ(cache.find("c"), std::nullopt);
  EXPECT_EQ(CubinCache({.folder = folder}).find("a"), sample('a'));
  EXPECT_EQ(cache.contents().entries, 2U);
  EXPECT_GT(cache.contents().bytes, 2000U);
}

TEST_F(CubinCacheTest, any_damage_is_seen_and_the_entry_removed) {
  cache.store("a", sample('a', 40));
  const fs::path file = cache.file_of("a");
  const std::string whole = content(file);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string changed = whole;
    changed[i] = static_cast<char>(changed[i] ^ 0x10);
    write(file, changed);
    EXPECT_EQ(cache.find("a"), std::nullopt) << "byte " << i;
    EXPECT_FALSE(fs::exists(file)) << "byte " << i;
    write(file, whole.substr(0, i));
    EXPECT_EQ(cache.find("a"), std::nullopt) << "cut at " << i;
  }
  write(file, whole + "x");
  EXPECT_EQ(cache.find("a"), std::nullopt);
  cache.store("a", sample('z'));
  EXPECT_EQ(cache.find("a"), sample('z'));
}

/// SHA-256 of the whole entry, as another program computes it.
std::string sha256sum(const fs::path& file, std::size_t bytes) {
  const std::string command =
      "head -c " + std::to_string(bytes) + " '" + file.string() + "' | sha256sum";
  std::string digits(64, ' ');
  FILE* pipe = popen(command.c_str(), "r");
  EXPECT_EQ(fread(digits.data(), 1, digits.size(), pipe), digits.size());
  EXPECT_EQ(pclose(pipe), 0);
  return digits;
}

TEST_F(CubinCacheTest, an_entry_ends_with_its_sha256) {
  cache.store("a", sample('a'));
  const std::string whole = content(cache.file_of("a"));
  std::string end;
  for (const char byte : whole.substr(whole.size() - 32)) {
    end += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  }
  EXPECT_EQ(end, sha256sum(cache.file_of("a"), whole.size() - 32));
}

TEST_F(CubinCacheTest, an_entry_of_another_key_is_not_taken) {
  cache.store("a", sample('a'));
  fs::rename(cache.file_of("a"), cache.file_of("b"));
  EXPECT_EQ(cache.find("b"), std::nullopt);
}

/// An entry is code that will run.
TEST_F(CubinCacheTest, an_entry_that_others_may_have_changed_is_not_used) {
  const Log log;
  const fs::path file = cache.file_of("a");
  cache.store("a", sample('a'));
  for (const mode_t mode : {0620U, 0602U}) {
    chmod(file.c_str(), mode);
    EXPECT_EQ(cache.find("a"), std::nullopt);
  }
  EXPECT_THAT(log.text(), HasSubstr(file.string() + ": others may write it"));
  EXPECT_THAT(log.text(), HasSubstr("not used, the kernel is compiled again"));
  chmod(file.c_str(), 0644);
  EXPECT_EQ(cache.find("a"), sample('a'));
  if (geteuid() == 0) {
    ASSERT_EQ(chown(file.c_str(), 12345, 12345), 0);
    EXPECT_EQ(cache.find("a"), std::nullopt);
  }
  // A kernel that is compiled again takes the place of the file.
  cache.store("a", sample('z'));
  EXPECT_EQ(cache.find("a"), sample('z'));
}

TEST_F(CubinCacheTest, a_link_or_a_fifo_is_no_entry_and_stops_nobody) {
  const fs::path file = cache.file_of("a");
  cache.store("a", sample('a'));
  fs::rename(file, folder / "elsewhere");
  fs::create_symlink(folder / "elsewhere", file);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  fs::remove(file);
  ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  cache.store("a", sample('z'));
  EXPECT_EQ(cache.find("a"), sample('z'));
}

TEST_F(CubinCacheTest, its_folder_and_entries_are_for_the_user_alone) {
  cache.store("a", sample('a'));
  const auto rights = [](const fs::path& path) { return fs::status(path).permissions(); };
  EXPECT_EQ(rights(folder), fs::perms::owner_all);
  EXPECT_EQ(rights(folder.parent_path()), fs::perms::owner_all);
  EXPECT_EQ(rights(cache.file_of("a")), fs::perms::owner_read | fs::perms::owner_write);
}

/// Its layout and its hash were others; its name has the same form, so it is removed in time.
TEST_F(CubinCacheTest, an_entry_of_an_earlier_version_is_compiled_again) {
  cache.store("a", sample('a'));
  std::string earlier = content(cache.file_of("a"));
  earlier.replace(earlier.find("cubin 3"), 7, "cubin 2");
  write(cache.file_of("a"), earlier);
  EXPECT_EQ(cache.find("a"), std::nullopt);
  EXPECT_FALSE(fs::exists(cache.file_of("a")));
}

TEST_F(CubinCacheTest, those_used_longest_ago_go_first) {
  cache.store("old", sample('o'));
  cache.store("hit", sample('u'));
  cache.store("new", sample('n'));
  set_age(cache.file_of("old"), std::chrono::minutes(20));
  set_age(cache.file_of("hit"), std::chrono::minutes(30));
  set_age(cache.file_of("new"), std::chrono::minutes(10));
  EXPECT_TRUE(cache.find("hit"));
  const CubinCache small({.folder = folder, .largest_bytes = cache.contents().bytes});
  small.store("add", sample('m'));
  EXPECT_FALSE(fs::exists(cache.file_of("old")));
  for (const char* key : {"hit", "new", "add"}) EXPECT_TRUE(small.find(key)) << key;
  EXPECT_LE(small.contents().bytes, small.options().largest_bytes);
}

TEST_F(CubinCacheTest, files_of_others_stay_and_those_of_killed_writers_go) {
  cache.store("a", sample('a'));
  const std::vector<std::string> others{"notes.txt", "writing-is-a-novel",
                                        "0123456789abcdef0123456789abcdef.cubin"};
  for (const std::string& name : others) write(folder / name, "text");
  write(folder / "writing-AbCdEf", "killed");
  write(folder / "writing-GhIjKl", "living");
  set_age(folder / "writing-AbCdEf", std::chrono::minutes(90));
  const auto removed = cache.clear();
  EXPECT_EQ(removed.entries, 1U);
  EXPECT_GT(removed.bytes, 1000U);
  EXPECT_FALSE(fs::exists(folder / "writing-AbCdEf"));
  EXPECT_TRUE(fs::exists(folder / "writing-GhIjKl"));
  for (const std::string& name : others) EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_EQ(cache.contents().entries, 0U);
  EXPECT_EQ(cache.clear().entries, 0U);
}

TEST_F(CubinCacheTest, a_folder_that_cannot_be_written_warns_once) {
  const Log log;
  write(temporary.path() / "file", "");  // a file in place of a folder stops root, too
  const CubinCache none({.folder = temporary.path() / "file" / "cache"});
  none.store("a", sample('a'));
  none.store("b", sample('b'));
  EXPECT_EQ(none.find("a"), std::nullopt);
  EXPECT_EQ(none.contents().entries, 0U);
  const std::string text = log.text();
  EXPECT_THAT(text, HasSubstr("file/cache: cannot be written: Not a directory"));
  EXPECT_EQ(text.find("cannot be written"), text.rfind("cannot be written"));
}

TEST_F(CubinCacheTest, entries_can_be_stored_where_the_folder_can_be_made_and_written) {
  EXPECT_TRUE(CubinCache({.folder = folder / "new" / "cache"}).can_store());
  EXPECT_FALSE(CubinCache({.folder = {}}).can_store());
  EXPECT_FALSE(CubinCache({.folder = folder, .largest_bytes = 0}).can_store());
  write(temporary.path() / "file", "");
  EXPECT_FALSE(CubinCache({.folder = temporary.path() / "file" / "cache"}).can_store());
  if (geteuid() != 0) {
    ASSERT_EQ(chmod((folder / "new").c_str(), 0500), 0);
    EXPECT_FALSE(CubinCache({.folder = folder / "new"}).can_store());
    ASSERT_EQ(chmod((folder / "new").c_str(), 0700), 0);
  }
}

TEST_F(CubinCacheTest, what_is_over_the_limit_alone_is_not_stored) {
  const Log log;
  cache.store("a", sample('a'));
  const CubinCache small({.folder = folder, .largest_bytes = 1500});
  small.store("b", sample('b', 2000));
  EXPECT_FALSE(small.find("b"));
  EXPECT_TRUE(small.find("a"));
  EXPECT_THAT(log.text(), HasSubstr("over the limit of 1500"));
  const CubinCache off({.folder = folder, .largest_bytes = 0});
  off.store("c", sample('c'));
  EXPECT_FALSE(off.find("a"));
  EXPECT_FALSE(fs::exists(off.file_of("c")));
}

TEST_F(CubinCacheTest, many_writers_readers_and_removers_at_once) {
  constexpr int kThreads = 6;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  std::atomic<int> wrong = 0;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      // Stores as a process of its own; the limit leaves room for 5 of 8 entries.
      const CubinCache own({.folder = folder, .largest_bytes = 6000});
      for (int i = 0; i < 60; ++i) {
        const char letter = static_cast<char>('a' + (i * 5 + t) % 8);
        const std::string key(1, letter);
        const auto found = own.find(key);
        if (found && *found != sample(letter)) ++wrong;
        if (!found) own.store(key, sample(letter));
        if (t == 0 && i % 20 == 19) own.clear();
        if (t == 1 && i % 10 == 9) write(own.file_of(key), "damage");
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
  for (const auto& entry : fs::directory_iterator(folder)) {
    EXPECT_EQ(entry.path().extension(), ".kernel");
  }
}

TEST(CubinCacheOptionsTest, come_from_the_environment) {
  const auto read = [](std::map<std::string, std::string> variables) {
    return cubin_cache_options([variables](const char* name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      if (found == variables.end()) return std::nullopt;
      return found->second;
    });
  };
  EXPECT_EQ(read({{"HOME", "/h"}}),
            (CubinCacheOptions{.folder = "/h/.cache/overlaptune", .largest_bytes = 1U << 30}));
  EXPECT_EQ(read({{"HOME", "/h"}, {"XDG_CACHE_HOME", "/x"}})->folder, "/x/overlaptune");
  EXPECT_EQ(read({{"HOME", "/h"}, {"XDG_CACHE_HOME", "x"}})->folder, "/h/.cache/overlaptune");
  EXPECT_EQ(read({{"OVERLAPTUNE_CACHE", "/o"}, {"XDG_CACHE_HOME", "/x"}})->folder, "/o");
  EXPECT_EQ(read({{"OVERLAPTUNE_CACHE_MB", "3"}}),
            (CubinCacheOptions{.folder = "", .largest_bytes = 3U << 20}));
  for (const char* wrong : {"x", "-1", "1.5", "3 ", "99999999999999999999"}) {
    const auto options = read({{"OVERLAPTUNE_CACHE_MB", wrong}});
    ASSERT_FALSE(options) << wrong;
    EXPECT_THAT(options.error().message, HasSubstr("OVERLAPTUNE_CACHE_MB = '"));
  }
}

}  // namespace
}  // namespace overlaptune::kernels
