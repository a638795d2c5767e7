// Acknowledged rows are in the database, whatever became of the process that wrote them.

#include <random>
#include <set>

#include <gtest/gtest.h>

#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Child;
using samples::Generator;

/// The i-th candidate of a test; its config tells which one it is.
Candidate numbered(int i) {
  Candidate candidate = Generator(static_cast<std::uint64_t>(i)).candidate();
  candidate.config = samples::numbered_config(i + 1);
  return candidate;
}

TEST(DurabilityTest, EveryAcknowledgedCandidateOutlivesAKillAtTwentyRandomMoments) {
  const TemporaryFolder folder;
  const auto file = folder / "killed.db";
  PlatformId platform = 0;
  TuningRunId run = 0;
  {
    Store store(file, Access::create);
    platform = store.add_platform(Generator(1).platform());
    run = store.begin_tuning_run(platform, "request", Generator(1).provenance());
  }
  std::mt19937 random(20);
  int next = 0;
  std::set<int> acknowledged;
  for (int kill = 0; kill < 20; ++kill) {
    int ends[2] = {};
    ASSERT_EQ(pipe(ends), 0);
    Child child([&] {
      Store store(file, Access::write);
      for (int i = next;; ++i) {
        store.add_candidate(run, numbered(i));
        if (write(ends[1], &i, sizeof i) != sizeof i) return 1;
      }
    });
    close(ends[1]);
    int last = -1;
    ASSERT_EQ(read(ends[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    acknowledged.insert(last);
    usleep(static_cast<useconds_t>(random() % 20'000));
    child.kill_it();
    while (read(ends[0], &last, sizeof last) == static_cast<ssize_t>(sizeof last)) {
      acknowledged.insert(last);
    }
    close(ends[0]);
    next = last + 2;  // the one after may have been written and not acknowledged

    const Store store(file, Access::read);
    std::set<int> found;
    for (const auto& stored : store.all_candidates()) {
      const int i = samples::number_of(stored.candidate.config) - 1;
      EXPECT_EQ(stored.candidate, numbered(i));
      found.insert(i);
    }
    for (const int i : acknowledged) EXPECT_TRUE(found.contains(i)) << i;
    EXPECT_LE(found.size(), acknowledged.size() + static_cast<std::size_t>(kill) + 1);
    ASSERT_TRUE(store.check().empty()) << store.check().front();
  }
  EXPECT_GE(acknowledged.size(), 40U);
}

TEST(DurabilityTest, ADatabaseWhoseMakerWasKilledIsMadeByTheNext) {
  const TemporaryFolder folder;
  for (int moment = 0; moment < 20; ++moment) {
    const auto file = folder / ("new" + std::to_string(moment) + ".db");
    Child child([&] {
      const Store store(file, Access::create);
      return 0;
    });
    usleep(static_cast<useconds_t>(moment) * 400);
    child.kill_it();
    Store store(file, Access::create);
    samples::fill(store, 1, 4);
    EXPECT_TRUE(store.check().empty()) << moment;
  }
}

TEST(DurabilityTest, ADamagedLogCostsOnlyWhatItHeld) {
  const TemporaryFolder folder;
  const auto file = folder / "log.db";
  PlatformId platform = 0;
  {
    Store store(file, Access::create);
    platform = store.add_platform(Generator(1).platform());
  }
  Child child([&] {
    Store store(file, Access::write);
    const auto run = store.begin_tuning_run(platform, "request", Generator(1).provenance());
    for (int i = 0; i < 50; ++i) store.add_candidate(run, numbered(i));
    raise(SIGKILL);  // leaves the log behind
    return 0;
  });
  EXPECT_EQ(child.wait(), -1);
  const auto log = file.string() + "-wal";
  const std::string file_bytes = samples::read_bytes(file);
  const std::string log_bytes = samples::read_bytes(log);
  ASSERT_GT(log_bytes.size(), 50'000U);
  std::mt19937 random(3);
  for (int i = 0; i < 60; ++i) {
    std::string damaged = log_bytes;
    if (i % 3 == 0) {
      damaged.resize(random() % damaged.size());
    } else {
      damaged[random() % damaged.size()] ^= static_cast<char>(1 + random() % 255);
    }
    std::filesystem::remove(file.string() + "-shm");
    samples::write_bytes(file, file_bytes);
    samples::write_bytes(log, damaged);
    const Store store(file, i % 2 == 0 ? Access::read : Access::write);
    const auto found = store.all_candidates();
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(found[k].candidate, numbered(static_cast<int>(k)));
    }
    EXPECT_LE(found.size(), 50U);
    EXPECT_EQ(store.platforms().size(), 1U);
    EXPECT_TRUE(store.check().empty()) << i;
  }
}

}  // namespace
}  // namespace overlaptune
