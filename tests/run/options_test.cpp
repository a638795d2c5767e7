#include "run/options.hpp"

#include <array>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/abi/values.hpp"
#include "run/c_api/c_arguments.hpp"
#include "run/ranks.hpp"
#include "run/waits/patience.hpp"

namespace overlaptune::run {
namespace {

using std::chrono::milliseconds;
using ::testing::HasSubstr;

TEST(TimeLimitTest, IsInSeconds) {
  EXPECT_EQ(parsed_time_limit("300").value(), milliseconds(300'000));
  EXPECT_EQ(parsed_time_limit("0.25").value(), milliseconds(250));
  EXPECT_EQ(parsed_time_limit("0.001").value(), milliseconds(1));
}

TEST(TimeLimitTest, OtherTextIsRefused) {
  for (const char* const text : {"", "0", "-1", "5s", " 5", "nan", "inf", "1e9", "five"}) {
    const auto limit = parsed_time_limit(text);
    ASSERT_FALSE(limit) << text;
    EXPECT_EQ(limit.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(limit.error().message, std::string("OVERLAPTUNE_TIME_LIMIT = ") + text +
                                         ": expected seconds, from 0.001 to 2000000");
  }
}

TEST(WorldOptionsTest, ADifferenceIsNamed) {
  const WorldOptions mine;
  EXPECT_EQ(difference(mine, WorldOptions{}), "");
  EXPECT_EQ(difference(mine, {.allow_multicast = true}), "allow_multicast = 1, this rank 0");
  EXPECT_EQ(difference(mine, {.exclusive = true}), "exclusive = 1, this rank 0");
  EXPECT_EQ(difference(mine, {.free_sms = 4}), "free_sms = 4, this rank 0");
  EXPECT_EQ(difference(mine, {.time_limit = milliseconds(7)}),
            "time_limit_ms = 7, this rank 300000");
  EXPECT_EQ(difference(mine, {.peer_bytes = 4096}), "peer_bytes = 4096, this rank 0");
  EXPECT_EQ(difference(mine, {.result_bytes = 512}), "result_bytes = 512, this rank 0");
}

TEST(WorldOptionsTest, TheCallersMemoryHasAnAddressForEachRank) {
  const auto at = [](std::uintptr_t address) { return reinterpret_cast<void*>(address); };
  std::array<void*, 2> peers{at(0x200000), at(0x400000)};
  ovt_world_options given{};
  given.size = sizeof given;
  WorldOptions options;
  take_peers(&given, 2, options);
  EXPECT_TRUE(options.peers.empty());
  given.peers = peers.data();
  given.peer_bytes = 10'000;
  take_peers(&given, 2, options);
  EXPECT_EQ(options.peers, std::vector(peers.begin(), peers.end()));
  EXPECT_EQ(options.peer_bytes, 8192U);  // whole units of 4096

  const auto refusal = [&](void* second, std::int64_t bytes) -> std::string {
    peers[1] = second;
    given.peer_bytes = bytes;
    try {
      WorldOptions taken;
      take_peers(&given, 2, taken);
    } catch (const c::Refusal& refused) {
      return refused.message;
    }
    return "";
  };
  EXPECT_THAT(refusal(at(0x400000), 0), HasSubstr("peer_bytes = 0: expected the bytes"));
  EXPECT_THAT(refusal(nullptr, 8192), HasSubstr("peers[1] = 0x0: expected a multiple of 4096"));
  given.result_bytes = 1;
  EXPECT_THAT(refusal(at(0x400000), 8192), HasSubstr("result_bytes = 1: expected 0 with peers"));
  given.result_bytes = 0;
  EXPECT_THAT(refusal(at(0x400010), 8192), HasSubstr("peers[1] = 0x400010: expected a multiple"));
}

TEST(CapturesTest, AreToldByRank) {
  const auto words = [](std::vector<std::uint64_t> by_rank) { return captures_in_words(by_rank); };
  EXPECT_EQ(words({0, 0}), "");
  EXPECT_EQ(words({0, 1}), "1 capture on rank 1");
  EXPECT_EQ(words({140, 0, 3}), "140 captures on rank 0, 3 on rank 2");
}

TEST(WaitUntilTest, HasALimit) {
  try {
    wait_until([] { return false; }, milliseconds(20), "the other rank");
    FAIL();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::machine_unavailable);
    EXPECT_THAT(failure.what(), HasSubstr("the other rank: not ended after 0.02 s"));
  }
  int asked = 0;
  wait_until([&] { return ++asked == 3; }, milliseconds(60'000), "");
  EXPECT_EQ(asked, 3);
}

TEST(WorldEndTest, TheFirstReasonIsKept) {
  WorldEnd end;
  EXPECT_EQ(end.reason(), std::nullopt);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&end, i] { end.set(std::to_string(i)); });
  }
  while (!end.reason()) std::this_thread::yield();
  const auto first = end.reason();
  for (std::thread& each : threads) each.join();
  end.set("later");
  EXPECT_EQ(end.reason(), first);
}

/// Memory that tells when it goes.
class Told : public PeerMemory {
 public:
  explicit Told(std::promise<void>& gone) : gone_(gone) {}
  ~Told() override { gone_.set_value(); }
  [[nodiscard]] std::byte* memory() const override { return nullptr; }
  [[nodiscard]] Expected<void> allocate(std::size_t) override { return {}; }
  [[nodiscard]] Expected<void> open() override { return {}; }
  [[nodiscard]] std::vector<void*> attach(ncclComm_t, bool) override { return {}; }
  [[nodiscard]] std::string out_of_reach() const override { return ""; }
  [[nodiscard]] std::string not_symmetric() const override { return ""; }
  void detach() override {}
  void forget() override {}
  void free() override {}
  [[nodiscard]] std::shared_ptr<void> keeper() const override { return nullptr; }
  [[nodiscard]] std::unique_ptr<PeerMemory> another() const override { return nullptr; }

 private:
  std::promise<void>& gone_;
};

TEST(AbandonedTest, MemoryGoesBehindTheCommunicators) {
  std::promise<void> gone;
  Abandoned what;
  what.comms.resize(3);
  what.memory = std::make_unique<Told>(gone);
  const auto end = gone.get_future();
  abandon(std::move(what), milliseconds(60'000));
  EXPECT_EQ(end.wait_for(milliseconds(0)), std::future_status::ready);
}

}  // namespace
}  // namespace overlaptune::run
