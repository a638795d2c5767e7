// Sound files that cannot be used now: another process holds them, a killed one left half a
// transaction, or there are no locks. All are failures of the place, and none changes a byte.

#include <array>
#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <grp.h>
#include <sys/resource.h>
#include <unistd.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "db/file/failure.hpp"
#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Child;
using samples::failure;

class LocksTest : public testing::Test {
 protected:
  LocksTest() {
    Store store(file_, Access::create);
    samples::fill(store, 9, 60);
  }

  /// Another program takes all winners away in a transaction that it does not end.
  static void change_half(SQLite::Database& database) {
    database.exec(
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA synchronous = OFF; "
        "BEGIN EXCLUSIVE; DELETE FROM winners; UPDATE measurements SET probe = probe || 'x'; "
        "UPDATE candidates SET reason = reason || 'x'");
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "f.db";
};

TEST_F(LocksTest, AFileThatAnotherProcessHasToItselfIsNotRead) {
  const auto before = samples::content(Store(file_, Access::read));
  std::array<int, 2> ready{};
  ASSERT_EQ(pipe(ready.data()), 0);
  Child other([&] {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    change_half(database);
    (void)!write(ready[1], "x", 1);
    pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  for (const auto access : {Access::read, Access::settled}) {
    const auto said = failure(ErrorKind::cannot_write, [&] { const Store store(file_, access); });
    EXPECT_NE(said.find("another process keeps it locked"), said.npos) << said;
  }
  other.kill_it();
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("SELECT count(*) FROM winners");
  EXPECT_EQ(samples::content(Store(file_, Access::read)), before);
}

TEST_F(LocksTest, AHotJournalIsLeftAloneUntilItIsRolledBack) {
  const auto before = samples::content(Store(file_, Access::read));
  Child other([&] {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    change_half(database);
    raise(SIGKILL);
    return 0;
  });
  ASSERT_EQ(other.wait(), -1);
  const auto journal = file_.string() + "-journal";
  const std::string bytes = samples::read_bytes(file_);
  const std::string undo = samples::read_bytes(journal);
  ASSERT_FALSE(undo.empty());
  for (const auto access : {Access::read, Access::settled, Access::write, Access::create}) {
    const auto said = failure(ErrorKind::cannot_write, [&] { const Store store(file_, access); });
    EXPECT_NE(said.find(journal), said.npos) << said;
    EXPECT_EQ(samples::read_bytes(file_), bytes);
    EXPECT_EQ(samples::read_bytes(journal), undo);
  }
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("SELECT 1 FROM sqlite_schema");
  EXPECT_EQ(samples::content(Store(file_, Access::read)), before);
  EXPECT_TRUE(Store(file_, Access::write).check().empty());
}

TEST_F(LocksTest, TheCommandThatIsAdvisedNamesTheFileInAnyShell) {
  const std::string name = folder_ / "it's $HOME; (x).db";
  const std::string said = db::hot_journal(name).what();
  const auto from = said.find("`sqlite3 ") + 9;
  const std::string word = said.substr(from, said.find(" .schema`", from) - from);
  const std::filesystem::path printed = folder_ / "printed";
  ASSERT_EQ(std::system(fmt::format("printf %s {} > {}", word, printed.string()).c_str()), 0);
  EXPECT_EQ(samples::read_bytes(printed), name);
}

TEST_F(LocksTest, AJournalThatIsDoneWithDoesNoHarm) {
  const auto before = samples::content(Store(file_, Access::read));
  for (const std::string& done : {std::string(), std::string(512, '\0')}) {  // cut, overwritten
    samples::write_bytes(file_.string() + "-journal", done);
    EXPECT_EQ(samples::content(Store(file_, Access::read)), before);
  }
}

TEST_F(LocksTest, TooManyOpenFilesAreNoFaultOfTheFile) {
  Child child([&] {
    std::vector<int> taken;
    const rlimit limit{64, 64};
    if (setrlimit(RLIMIT_NOFILE, &limit) != 0) return 77;
    while (true) {
      const int descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC);
      if (descriptor < 0) break;
      taken.push_back(descriptor);
    }
    // With one or two descriptors, the file opens, and what SQLite keeps beside it does not.
    for (int free = 0; free < 3; ++free) {
      try {
        const Store store(file_, Access::read);
      } catch (const Failure& failure) {
        const std::string said = failure.what();
        if (failure.kind() != ErrorKind::cannot_write) return 1;
        if (said.find("too many files are open") == said.npos) {
          std::cerr << said << '\n';
          return 2;
        }
      }
      close(taken.back());
      taken.pop_back();
    }
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
}

int error_of_locks = 0;

/// fcntl() of a file system that has no locks.
int without_locks(int descriptor, int command, void* argument) {
  if (command == F_SETLK || command == F_SETLKW || command == F_GETLK) {
    errno = error_of_locks;
    return -1;
  }
  return fcntl(descriptor, command, argument);
}

/// The first number that a lock call of NFS without its daemon gives reads as "busy" to SQLite.
TEST_F(LocksTest, AFileSystemWithoutLocksIsSaidAtOnce) {
  for (const int error : {ENOLCK, ENOSYS, EOPNOTSUPP}) {
    Child child([&] {
      error_of_locks = error;
      sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
      system->xSetSystemCall(system, "fcntl",
                             reinterpret_cast<sqlite3_syscall_ptr>(&without_locks));
      alarm(10);  // a lock that somebody may give back is waited for longer
      for (const auto access : {Access::read, Access::settled, Access::write, Access::create}) {
        const auto& file = access == Access::create ? folder_ / "new.db" : file_;
        const auto said =
            failure(ErrorKind::cannot_write, [&] { const Store store(file, access); });
        if (said.find("this file system has no locks") == said.npos) return 1;
      }
      return std::filesystem::exists(folder_ / "new.db") ? 2 : 0;
    });
    EXPECT_EQ(child.wait(), 0) << error;
  }
}

/// Becomes a user who may not write where the tests may.
bool become_nobody() {
  constexpr uid_t kNobody = 65534;
  return setgroups(0, nullptr) == 0 && setresgid(kNobody, kNobody, kNobody) == 0 &&
         setresuid(kNobody, kNobody, kNobody) == 0;
}

constexpr int kSkipped = 77;

/// The system database of a host may lie on a read-only share without locks.
TEST_F(LocksTest, ASettledDatabaseThatNobodyCanWriteNeedsNoLocks) {
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0555});
  std::filesystem::permissions(file_, std::filesystem::perms{0444});
  const auto before = samples::content(Store(file_, Access::settled));
  Child child([&] {
    if (!become_nobody()) return kSkipped;
    error_of_locks = ENOLCK;
    sqlite3_vfs* system = sqlite3_vfs_find(nullptr);
    system->xSetSystemCall(system, "fcntl", reinterpret_cast<sqlite3_syscall_ptr>(&without_locks));
    if (samples::content(Store(file_, Access::settled)) != before) return 1;
    // One that others may be writing needs them.
    const auto said =
        failure(ErrorKind::cannot_write, [&] { const Store store(file_, Access::read); });
    return said.find("this file system has no locks") == said.npos ? 2 : 0;
  });
  const int code = child.wait();
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  if (code == kSkipped) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(code, 0);
}

/// A program of another user left it. Whether it is hot cannot be seen.
TEST_F(LocksTest, AJournalThatMayNotBeReadCountsAsHot) {
  Child other([&] {
    SQLite::Database database(file_.string(), SQLite::OPEN_READWRITE);
    change_half(database);
    raise(SIGKILL);
    return 0;
  });
  ASSERT_EQ(other.wait(), -1);
  const auto journal = file_.string() + "-journal";
  std::filesystem::permissions(folder_.path(), std::filesystem::perms{0755});
  std::filesystem::permissions(file_, std::filesystem::perms{0644});
  std::filesystem::permissions(journal, std::filesystem::perms{0600});
  Child child([&] {
    if (!become_nobody()) return kSkipped;
    for (const auto access : {Access::read, Access::settled}) {
      const auto said = failure(ErrorKind::cannot_write, [&] { const Store store(file_, access); });
      if (said.find("-journal' cannot be read") == said.npos) return 1;
    }
    return 0;
  });
  const int code = child.wait();
  if (code == kSkipped) GTEST_SKIP() << "only root can become another user";
  EXPECT_EQ(code, 0);
}

TEST_F(LocksTest, AReaderDoesNotDieOfALimitOnTheSizeOfFiles) {
  Child child([&] {
    const rlimit limit{1'000, 1'000};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return 77;
    try {
      const Store store(file_, Access::read);
    } catch (const Failure& failure) {
      return failure.kind() == ErrorKind::cannot_write ? 0 : 1;
    }
    return 0;
  });
  EXPECT_EQ(child.wait(), 0);
}

}  // namespace
}  // namespace overlaptune
