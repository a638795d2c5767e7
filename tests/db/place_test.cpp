// Places that cannot be written: full, read-only, or no place at all.

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include <gtest/gtest.h>

#include "db/file/temporary_file.hpp"
#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Child;
using samples::Generator;

constexpr int kNotPossible = 77;

/// Adds candidates until that fails as it should. Returns the number that were acknowledged.
int add_until_full(Store& store, TuningRunId run) {
  for (int i = 0; i < 100'000; ++i) {
    try {
      Candidate candidate = Generator(1).candidate();
      candidate.config = samples::numbered_config(i + 1);
      store.add_candidate(run, candidate);
    } catch (const Failure& failure) {
      if (failure.kind() == ErrorKind::cannot_write) return i;
      throw;
    }
  }
  return -1;
}

/// 0 if the failure is `cannot_write` in one line.
int refuses_to_write(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    const std::string message = failure.what();
    return failure.kind() == ErrorKind::cannot_write && message.find('\n') == message.npos ? 0 : 1;
  }
  return 2;
}

/// Mounts a RAM disk of that size on `folder`, seen by this process only.
bool mount_ram_disk(const std::filesystem::path& folder, const char* size) {
  return unshare(CLONE_NEWNS) == 0 &&
         mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
         mount("none", folder.c_str(), "tmpfs", 0, size) == 0;
}

TEST(PlaceTest, NoFolder) {
  const TemporaryFolder folder;
  const auto inside = folder / "none" / "x.db";
  samples::write_bytes(folder / "file", "text");
  EXPECT_EQ(refuses_to_write([&] { const Store store(inside, Access::create); }), 0);
  EXPECT_EQ(refuses_to_write([&] { const Store store(folder / "file" / "x.db", Access::create); }),
            0);
  EXPECT_EQ(refuses_to_write([&] { const Store store("/proc/x.db", Access::create); }), 0);
}

TEST(PlaceTest, AFileThatMayNotGrowKeepsWhatWasAcknowledged) {
  const TemporaryFolder folder;
  const auto file = folder / "limited.db";
  TuningRunId run = 0;
  {
    Store store(file, Access::create);
    run = store.begin_tuning_run(store.add_platform(Generator(1).platform()), "request",
                                 Generator(1).provenance());
  }
  int ends[2] = {};
  ASSERT_EQ(pipe(ends), 0);
  Child child([&] {
    Store store(file, Access::write);
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{800'000, 800'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return kNotPossible;
    const int added = add_until_full(store, run);
    (void)!write(ends[1], &added, sizeof added);
    return store.info().candidates == added && store.check().empty() ? 0 : 1;
  });
  close(ends[1]);
  int added = 0;
  (void)!read(ends[0], &added, sizeof added);
  const int code = child.wait();
  if (code == kNotPossible) GTEST_SKIP() << "no limit on the size of files here";
  EXPECT_EQ(code, 0);
  EXPECT_GT(added, 10);
  const Store store(file, Access::read);
  EXPECT_EQ(store.info().candidates, added);
  EXPECT_TRUE(store.check().empty());
}

TEST(PlaceTest, NoNewDatabaseWhereFilesMayNotGrow) {
  const TemporaryFolder folder;
  Child child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{8'000, 8'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return kNotPossible;
    return refuses_to_write([&] { const Store store(folder / "new.db", Access::create); });
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(PlaceTest, ACopyThatDoesNotFitGoes) {
  const TemporaryFolder folder;
  const auto file = folder / "f.db";
  {
    Store store(file, Access::create);
    samples::fill(store, 3, 200);
  }
  Child child([&] {
    Store store(file, Access::write);
    const Problem problem = store.winners().front().winner.candidate.problem;
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{100'000, 100'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return kNotPossible;
    return refuses_to_write([&] { (void)store.remove({.problem = problem}); });
  });
  EXPECT_EQ(child.wait(), 0);
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().string().find(".before-"), std::string::npos) << entry.path();
  }
  EXPECT_TRUE(Store(file, Access::read).check().empty());
}

TEST(PlaceTest, ALinkToNothingIsRefusedAndStays) {
  const TemporaryFolder folder;
  const auto link = folder / "link.db";
  std::filesystem::create_symlink(folder / "target.db", link);
  EXPECT_EQ(refuses_to_write([&] { const Store store(link, Access::create); }), 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  { const Store store(folder / "target.db", Access::create); }
  EXPECT_EQ(Store(link, Access::create).info().winners, 0);
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

TEST(PlaceTest, WhatADatabaseThatIsGoneLeftIsNoPartOfANewOne) {
  const TemporaryFolder folder;
  for (const char* suffix : {"-wal", "-journal"}) {
    const auto file = folder / "f.db";
    samples::write_bytes(file.string() + suffix, "pages");
    EXPECT_EQ(refuses_to_write([&] { const Store store(file, Access::create); }), 0);
    EXPECT_FALSE(std::filesystem::exists(file));
    std::filesystem::remove(file.string() + suffix);
  }
}

TEST(PlaceTest, AFullDisk) {
  const TemporaryFolder folder;
  Child child([&] {
    if (!mount_ram_disk(folder.path(), "size=2m")) return kNotPossible;
    const auto file = folder / "full.db";
    int added = 0;
    {
      Store store(file, Access::create);
      const auto run = store.begin_tuning_run(store.add_platform(Generator(1).platform()),
                                              "request", Generator(1).provenance());
      added = add_until_full(store, run);
      if (added < 10 || store.info().candidates != added) return 1;
    }
    {
      const Store again(file, Access::read);
      if (again.info().candidates != added || !again.check().empty()) return 2;
    }
    // There is no space at all: neither for the log of this database nor for another one.
    samples::write_bytes(folder / "ballast", std::string(2 << 20, 'x'));
    const std::string bytes = samples::read_bytes(file);
    const int refused = refuses_to_write([&] {
      Store store(file, Access::write);
      (void)store.add_platform(Generator(2).platform());
    });
    if (refused != 0 || samples::read_bytes(file) != bytes) return 3;
    return refuses_to_write([&] { const Store store(folder / "new.db", Access::create); });
  });
  const int code = child.wait();
  if (code == kNotPossible) GTEST_SKIP() << "no right to mount a RAM disk here";
  EXPECT_EQ(code, 0);
}

TEST(PlaceTest, AReadOnlyDiskIsReadAndNotWritten) {
  const TemporaryFolder folder;
  Child child([&] {
    if (!mount_ram_disk(folder.path(), "size=8m")) return kNotPossible;
    const auto file = folder / "system.db";
    {
      Store store(file, Access::create);
      samples::fill(store, 3, 20);
    }
    const auto expected = samples::content(Store(file, Access::read));
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file.string() + suffix);
    if (mount("none", folder.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
      return 1;
    const std::string bytes = samples::read_bytes(file);
    if (samples::content(Store(file, Access::read)) != expected) return 2;
    if (refuses_to_write([&] { const Store store(file, Access::write); }) != 0) return 3;
    if (refuses_to_write([&] { const Store s(folder / "new.db", Access::create); }) != 0) return 4;
    return samples::read_bytes(file) == bytes ? 0 : 5;
  });
  const int code = child.wait();
  if (code == kNotPossible) GTEST_SKIP() << "no right to mount a RAM disk here";
  EXPECT_EQ(code, 0);
}

/// A creation that was killed leaves its file behind; one that goes on in another process is left
/// alone.
TEST(Creation, TakesAwayWhatKilledOnesLeft) {
  const TemporaryFolder folder;
  const auto file = folder / "new.db";
  const auto abandoned = folder / "new.db.new-0123456789abcdef";
  samples::write_bytes(abandoned, "half a database");
  samples::write_bytes(abandoned.string() + "-journal", "");
  const auto other = folder / "new.db.new-notes";
  samples::write_bytes(other, "mine");
  const db::TemporaryFile busy(file);
  { const Store store(file, Access::create); }
  EXPECT_FALSE(std::filesystem::exists(abandoned));
  EXPECT_FALSE(std::filesystem::exists(abandoned.string() + "-journal"));
  EXPECT_TRUE(std::filesystem::exists(other));
  EXPECT_TRUE(std::filesystem::exists(busy.path()));
}

}  // namespace
}  // namespace overlaptune
