// Many threads query while the database changes and is loaded again.

#include <algorithm>
#include <atomic>
#include <thread>

#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

constexpr int kWinners = 50;

/// The edition that an answer is from; 0 if it mixes several, or is of another winner.
int edition(const ovt_answer& answer, int winner) {
  const auto groups = stored::wave_groups(answer);
  if (answer.source != OVT_EXACT || groups.size() != 3 || groups[0] != winner + 1) return 0;
  const auto version = static_cast<int>(groups[1] - 1000);
  const Winner whole = stored::winner(winner, version);
  const bool matches = answer.measured_us == whole.candidate.measured->median.count() &&
                       answer.baseline_us == whole.sequential.count() &&
                       answer.predicted_us == whole.candidate.predicted.count();
  return matches ? version : 0;
}

TEST(ReloadTest, EveryAnswerIsWholeAndNeverOlderThanOneBefore) {
  constexpr int kThreads = 8;
  constexpr int kEditions = 25;
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", kWinners, 1);
  ovt::Database database({folder / "a.db"});
  std::atomic<bool> done = false;
  std::atomic<int> torn = 0;
  std::atomic<int> went_back = 0;
  std::atomic<int> newest_seen = 0;
  std::vector<std::thread> readers;
  readers.reserve(kThreads);
  for (int t = 0; t < kThreads; ++t) {
    readers.emplace_back([&, t] {
      int newest = 1;
      for (int i = t; !done; ++i) {
        const int seen = edition(database.query(stored::problem(i % kWinners + 1)), i % kWinners);
        if (seen == 0) ++torn;
        if (seen < newest) ++went_back;
        newest = std::max(newest, seen);
        if (i % 7 == 0 && database.query(stored::problem(100'000)).source != OVT_BASELINE) ++torn;
      }
      newest_seen = std::max(newest_seen.load(), newest);
    });
  }
  for (int version = 2; version <= kEditions; ++version) {
    stored::put_winners(folder / "b.db", kWinners, version);
    std::filesystem::rename(folder / "b.db", folder / "a.db");
    database.reload();
    EXPECT_EQ(edition(database.query(stored::problem(1)), 0), version);
  }
  done = true;
  for (auto& reader : readers) reader.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(went_back, 0);
  EXPECT_GT(newest_seen, 1);
}

TEST(ReloadTest, SeveralMayReloadAtOnceAndFailuresStayInTheirThread) {
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", kWinners);
  ovt::Database database({folder / "a.db"});
  std::atomic<int> wrong = 0;
  std::vector<std::thread> threads;
  threads.reserve(4);
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        if (ovt_reload(database.handle()) != OVT_OK) ++wrong;
        ovt_answer answer{};
        answer.size = static_cast<std::size_t>(t);
        const ovt_problem problem = stored::problem(1);
        if (ovt_query(database.handle(), &problem, OVT_GRAPH, &answer) == OVT_OK) ++wrong;
        const std::string expected = "ovt_answer.size = " + std::to_string(t) + ":";
        if (std::string(ovt_last_error()).find(expected) == std::string::npos) ++wrong;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace overlaptune
