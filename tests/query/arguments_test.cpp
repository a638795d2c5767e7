// Every mistake of a caller ends in a status and a text that names it, and changes nothing.

#include <array>
#include <cstring>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

class ArgumentsTest : public testing::Test {
 protected:
  ArgumentsTest() { stored::put_winners(folder_ / "a.db", 1); }

  void SetUp() override { ASSERT_EQ(open(), OVT_OK) << ovt_last_error(); }
  void TearDown() override { ovt_close(database_); }

  ovt_status open(const ovt_platform* platform = nullptr) {
    const std::string file = folder_ / "a.db";
    const std::array<const char*, 1> paths{file.c_str()};
    return ovt_open(paths.data(), 1, platform, &database_);
  }

  /// The status of a query, whose answer must not have been touched.
  ovt_status refused(const std::function<void(ovt_problem&, ovt_answer&, ovt_launch&)>& spoil) {
    ovt_problem problem = stored::problem();
    ovt_answer answer;
    std::memset(&answer, 0x5a, sizeof answer);
    answer.size = sizeof answer;
    ovt_launch launch = OVT_GRAPH;
    spoil(problem, answer, launch);
    const ovt_answer before = answer;
    const ovt_status status = ovt_query(database_, &problem, launch, &answer);
    EXPECT_EQ(std::memcmp(&before, &answer, sizeof answer), 0);
    return status;
  }

  TemporaryFolder folder_;
  ovt_database* database_ = nullptr;
};

TEST_F(ArgumentsTest, NullPointersAreRefusedByName) {
  const ovt_problem problem = stored::problem();
  ovt_answer answer{};
  answer.size = sizeof answer;
  EXPECT_EQ(ovt_query(nullptr, &problem, OVT_GRAPH, &answer), OVT_ERROR_ARGUMENT);
  EXPECT_STREQ(ovt_last_error(), "database: NULL");
  EXPECT_EQ(ovt_query(database_, nullptr, OVT_GRAPH, &answer), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_last_error(), HasSubstr("ovt_problem: NULL"));
  EXPECT_EQ(ovt_query(database_, &problem, OVT_GRAPH, nullptr), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_last_error(), HasSubstr("ovt_answer: NULL"));
  EXPECT_EQ(ovt_open(nullptr, 1, nullptr, &database_), OVT_ERROR_ARGUMENT);
  EXPECT_STREQ(ovt_last_error(), "paths: NULL");
  const std::array<const char*, 2> paths{"x.db", nullptr};
  EXPECT_EQ(ovt_open(paths.data(), 2, nullptr, &database_), OVT_ERROR_ARGUMENT);
  EXPECT_STREQ(ovt_last_error(), "paths[1]: NULL");
  EXPECT_EQ(ovt_open(paths.data(), 1, nullptr, nullptr), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_reload(nullptr), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_explain(database_, &problem, OVT_GRAPH, nullptr, 10, nullptr), OVT_ERROR_ARGUMENT);
  ovt_close(nullptr);
}

TEST_F(ArgumentsTest, UnalignedPointersAreRefused) {
  alignas(16) std::array<char, sizeof(ovt_platform) + 16> room{};
  char* odd = room.data() + 1;
  const ovt_problem problem = stored::problem();
  ovt_answer answer{};
  answer.size = sizeof answer;
  const auto as = [odd](auto* type) {
    return static_cast<decltype(type)>(static_cast<void*>(odd));
  };
  EXPECT_EQ(ovt_query(database_, as(static_cast<ovt_problem*>(nullptr)), OVT_GRAPH, &answer),
            OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_last_error(), HasSubstr("ovt_problem: expected a pointer aligned to 8"));
  EXPECT_EQ(ovt_query(database_, &problem, OVT_GRAPH, as(static_cast<ovt_answer*>(nullptr))),
            OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_query(as(static_cast<ovt_database*>(nullptr)), &problem, OVT_GRAPH, &answer),
            OVT_ERROR_ARGUMENT);
  ovt_database* const kept = database_;
  EXPECT_EQ(open(as(static_cast<ovt_platform*>(nullptr))), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(database_, kept);
}

TEST_F(ArgumentsTest, SizesThatNoVersionHasAreRefused) {
  for (const std::size_t size : {std::size_t{0}, sizeof(ovt_problem) - 1, ~std::size_t{0}}) {
    EXPECT_EQ(refused([&](auto& problem, auto&, auto&) { problem.size = size; }),
              OVT_ERROR_ARGUMENT);
    EXPECT_THAT(ovt_last_error(), HasSubstr("ovt_problem.size = " + std::to_string(size)));
  }
  for (const std::size_t size : {std::size_t{0}, sizeof(ovt_answer) - 1, ~std::size_t{0}}) {
    EXPECT_EQ(refused([&](auto&, auto& answer, auto&) { answer.size = size; }), OVT_ERROR_ARGUMENT);
  }
}

TEST_F(ArgumentsTest, ACallerWithANewerHeaderIsServedUnlessItAsksForMore) {
  struct {
    ovt_problem problem = stored::problem();
    std::int64_t later = 0;
  } asked;
  asked.problem.size = sizeof asked;
  struct {
    ovt_answer answer{};
    std::int64_t later = 77;
  } given;
  given.answer.size = sizeof given;
  ASSERT_EQ(ovt_query(database_, &asked.problem, OVT_GRAPH, &given.answer), OVT_OK);
  EXPECT_EQ(given.answer.source, OVT_EXACT);
  EXPECT_EQ(given.later, 0);
  EXPECT_EQ(given.answer.size, sizeof given);
  asked.later = 1;
  EXPECT_EQ(ovt_query(database_, &asked.problem, OVT_GRAPH, &given.answer), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_last_error(), HasSubstr("does not know"));
}

TEST_F(ArgumentsTest, UnknownValuesAndBrokenRulesAreRefusedByName) {
  using Spoil = std::function<void(ovt_problem&, ovt_launch&)>;
  const std::array<std::pair<const char*, Spoil>, 10> cases{{
      {"ovt_problem.op = 5", [](auto& problem, auto&) { problem.op = 5; }},
      {"ovt_problem.op = -1", [](auto& problem, auto&) { problem.op = -1; }},
      {"ovt_problem.dtype = 10", [](auto& problem, auto&) { problem.dtype = 10; }},
      {"launch = 2", [](auto&, auto& launch) { launch = 2; }},
      {"launch = -2147483648", [](auto&, auto& launch) { launch = INT32_MIN; }},
      {"reserved", [](auto& problem, auto&) { problem.reserved = 1; }},
      {"m = 0", [](auto& problem, auto&) { problem.m = 0; }},
      {"n = 8193", [](auto& problem, auto&) { problem.n = 8193; }},
      {"k = ", [](auto& problem, auto&) { problem.k = INT64_MAX; }},
      {"ranks = 1", [](auto& problem, auto&) { problem.ranks = 1; }},
  }};
  for (const auto& [text, spoil] : cases) {
    EXPECT_EQ(
        refused([&spoil = spoil](auto& problem, auto&, auto& launch) { spoil(problem, launch); }),
        OVT_ERROR_ARGUMENT);
    EXPECT_THAT(ovt_last_error(), HasSubstr(text));
  }
}

TEST_F(ArgumentsTest, APlatformMustBeWholeOrNothingButAName) {
  const auto refused_platform = [&](const std::function<void(ovt_platform&)>& spoil) {
    ovt_platform platform = stored::described(stored::platform());
    spoil(platform);
    ovt_database* const before = database_;
    EXPECT_EQ(open(&platform), OVT_ERROR_ARGUMENT);
    EXPECT_EQ(database_, before);
    return std::string(ovt_last_error());
  };
  EXPECT_THAT(refused_platform([](auto& p) { p.size = 8; }), HasSubstr("ovt_platform.size = 8"));
  EXPECT_THAT(refused_platform([](auto& p) { std::memset(p.details, 'x', sizeof p.details); }),
              HasSubstr("ovt_platform.details: expected a NUL"));
  EXPECT_THAT(refused_platform([](auto& p) { p.name[0] = '\0'; }), HasSubstr("ovt_platform.name"));
  EXPECT_THAT(refused_platform([](auto& p) { p.machine[0] = '\0'; }), HasSubstr("machine = ''"));
  EXPECT_THAT(refused_platform([](auto& p) { p.multicast_allowed = 2; }),
              HasSubstr("multicast_allowed = 2"));
}

TEST_F(ArgumentsTest, AnExplanationIsCutToTheRoomThereIs) {
  const ovt_problem problem = stored::problem();
  std::size_t length = 0;
  ASSERT_EQ(ovt_explain(database_, &problem, OVT_GRAPH, nullptr, 0, &length), OVT_OK);
  std::string whole(length, '\0');
  ASSERT_EQ(ovt_explain(database_, &problem, OVT_GRAPH, whole.data(), length + 1, nullptr), OVT_OK);
  EXPECT_THAT(whole, HasSubstr("answer: exact\n"));
  EXPECT_THAT(whole, HasSubstr("groups=1,1001,7190\n"));
  std::array<char, 8> little{};
  little.fill('#');
  ASSERT_EQ(ovt_explain(database_, &problem, OVT_GRAPH, little.data(), 6, nullptr), OVT_OK);
  EXPECT_EQ(std::string(little.data(), 8), whole.substr(0, 5) + std::string("\0##", 3));
}

}  // namespace
}  // namespace overlaptune
