// Several handles at once, in one process and in two.

#include <atomic>
#include <fcntl.h>
#include <iterator>
#include <thread>

#include <SQLiteCpp/SQLiteCpp.h>
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Child;
using samples::Generator;

struct Shared {
  TemporaryFolder folder;
  std::filesystem::path file = folder / "shared.db";
  PlatformId platform = 0;
  TuningRunId run = 0;
  Winner winner = Generator(5).winner();

  Shared() {
    Store store(file, Access::create);
    platform = store.add_platform(Generator(1).platform());
    run = store.begin_tuning_run(platform, "request", Generator(1).provenance());
    winner.candidate.problem = {Op::gemm_all_reduce, 4096, 4096, 1024, Elements::bf16, 8};
    winner.candidate.config = samples::numbered_config(1);
    store.put_winner(run, winner);
  }
};

/// Reads until the writer's last winner is seen; the winners seen may only ever advance. Returns 0:
/// all was well; 1: they went back; 2: candidate and winner disagree.
int read_until(const Shared& shared, int last) {
  const Store store(shared.file, Access::read);
  const auto& key = shared.winner.candidate;
  std::int64_t candidates = 0;
  int newest = 0;
  while (newest < last) {
    const auto found = store.winner(shared.platform, key.problem, key.launch);
    if (!found || samples::number_of(found->winner.candidate.config) < newest) return 1;
    newest = samples::number_of(found->winner.candidate.config);
    if (found->winner.sequential != us(newest) && newest > 1) return 2;
    const auto count = store.info().candidates;
    if (count < candidates || count < newest - 1) return 1;
    candidates = count;
  }
  return 0;
}

void write_until(const Shared& shared, int last) {
  Store store(shared.file, Access::write);
  Winner winner = shared.winner;
  for (int i = 2; i <= last; ++i) {
    winner.candidate.config = samples::numbered_config(i);
    winner.sequential = us(i);
    store.add_candidate(shared.run, winner.candidate);
    store.put_winner(shared.run, winner);
  }
}

TEST(SharingTest, ThreadsAndAnotherProcessReadWhileOneWrites) {
  constexpr int kLast = 800;
  const Shared shared;
  Child other_process([&] { return read_until(shared, kLast); });
  std::atomic<int> wrong = 0;
  std::vector<std::thread> readers;
  readers.reserve(3);
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] { wrong += read_until(shared, kLast); });
  }
  write_until(shared, kLast);
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(other_process.wait(), 0);
  EXPECT_TRUE(Store(shared.file, Access::read).check().empty());
}

TEST(SharingTest, AReaderSeesWhatAnotherProcessCommitted) {
  const Shared shared;
  const Store reader(shared.file, Access::read);
  const auto& key = shared.winner.candidate;
  ASSERT_TRUE(reader.winner(shared.platform, key.problem, key.launch));  // known from here on
  for (int last = 2; last < 12; ++last) {
    Child writer([&] {
      write_until(shared, last);
      return 0;
    });
    ASSERT_EQ(writer.wait(), 0);
    EXPECT_EQ(reader.winner(shared.platform, key.problem, key.launch)->winner.sequential, us(last));
  }
}

TEST(SharingTest, OpeningNeverFailsWhileOthersOpenWriteAndClose) {
  const Shared shared;
  constexpr int kRounds = 150;
  const auto write = [&](int base) {
    return [&shared, base] {
      for (int i = 0; i < kRounds; ++i) {
        Store store(shared.file, Access::write);  // the last one to close takes the log away
        Candidate candidate = shared.winner.candidate;
        for (int ctas = 1; ctas <= 20; ++ctas) {
          candidate.config = Chunked{.comm_ctas = ctas, .chunks = base + i};
          store.add_candidate(shared.run, candidate);
        }
      }
      return 0;
    };
  };
  const auto look = [&] {
    std::int64_t seen = 0;
    while (seen < 2 * 20 * kRounds) {
      const Store store(shared.file, Access::read);
      const auto count = store.info().candidates;
      if (count < seen) return 1;
      seen = count;
    }
    return 0;
  };
  Child first(write(10'000));
  Child second(write(20'000));
  Child reader(look);
  Child another_reader(look);
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  EXPECT_EQ(reader.wait(), 0);
  EXPECT_EQ(another_reader.wait(), 0);
}

TEST(SharingTest, TwoProcessesWriteInTurn) {
  const Shared shared;
  const auto write = [&](int base) {
    return [&shared, base] {
      Store store(shared.file, Access::create);
      for (int i = 0; i < 150; ++i) {
        Candidate candidate = shared.winner.candidate;
        candidate.config = samples::numbered_config(base + i);
        store.add_candidate(shared.run, candidate);
      }
      return 0;
    };
  };
  Child first(write(10'000));
  Child second(write(20'000));
  EXPECT_EQ(first.wait(), 0);
  EXPECT_EQ(second.wait(), 0);
  // The 301st is the candidate of the winner that was there before.
  EXPECT_EQ(Store(shared.file, Access::read).info().candidates, 301);
}

TEST(SharingTest, ADatabaseThatIsKeptWithoutALogGetsNone) {
  const Shared shared;
  SQLite::Database(shared.file.string(), SQLite::OPEN_READWRITE)
      .exec("PRAGMA journal_mode = DELETE");
  {
    const Store store(shared.file, Access::read);
    const auto& key = shared.winner.candidate;
    for (int again = 0; again < 2; ++again) {
      EXPECT_TRUE(store.winner(shared.platform, key.problem, key.launch));
    }
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(shared.folder.path()), {}), 1);
}

/// Asks as the SQLite of another process does before it removes the log: for a lock on the bytes
/// that every reader holds (sqlite.org/lockingv3.html). It does not use SQLite, which in a forked
/// process still believes what it knew of its parent's locks.
bool another_process_may_take_the_log(const std::filesystem::path& file) {
  Child other([&] {
    const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC);
    struct flock readers {};
    readers.l_type = F_WRLCK;
    readers.l_whence = SEEK_SET;
    readers.l_start = 0x4000'0002;
    readers.l_len = 510;
    return descriptor >= 0 && fcntl(descriptor, F_SETLK, &readers) == 0 ? 0 : 1;
  });
  return other.wait() == 0;
}

TEST(SharingTest, OpeningAFileAgainKeepsTheLocksOfTheFirstHandle) {
  const Shared shared;
  {
    Store first(shared.file, Access::write);
    (void)first.info();
    ASSERT_FALSE(another_process_may_take_the_log(shared.file));
    for (const auto access : {Access::read, Access::write}) {
      const Store second(shared.file, access);
      EXPECT_EQ(second.info().winners, 1);
    }
    EXPECT_FALSE(another_process_may_take_the_log(shared.file));
    first.add_candidate(shared.run, shared.winner.candidate);
  }
  EXPECT_TRUE(another_process_may_take_the_log(shared.file));
  EXPECT_TRUE(Store(shared.file, Access::read).check().empty());
}

TEST(SharingTest, ProcessesThatMakeTheSameDatabaseShareIt) {
  const TemporaryFolder folder;
  std::filesystem::path file;
  const auto make = [&] {
    Store store(file, Access::create);
    store.add_platform(Generator(static_cast<std::uint64_t>(getpid())).platform());
    return 0;
  };
  for (int round = 0; round < 20; ++round) {
    file = folder / fmt::format("new-{}.db", round);
    Child a(make);
    Child b(make);
    Child c(make);
    EXPECT_EQ(a.wait(), 0);
    EXPECT_EQ(b.wait(), 0);
    EXPECT_EQ(c.wait(), 0);
    EXPECT_EQ(Store(file, Access::read).platforms().size(), 3U);
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path().string().find(".new-"), std::string::npos) << entry.path();
  }
}

}  // namespace
}  // namespace overlaptune
