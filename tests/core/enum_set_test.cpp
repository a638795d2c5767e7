#include "core/base/enum_set.hpp"

#include <random>
#include <set>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

/// The values at both ends of the range of a set, and some between.
enum class Letter { a = 0, b = 1, c = 17, d = 31 };
constexpr Letter kLetters[] = {Letter::a, Letter::b, Letter::c, Letter::d};

static_assert(EnumSet<Letter>{}.empty());
static_assert(EnumSet<Letter>{Letter::a, Letter::d}.contains(Letter::d));
static_assert(!EnumSet<Letter>{Letter::a, Letter::d}.contains(Letter::c));

TEST(EnumSet, holds_what_was_put_in) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    EnumSet<Letter> set;
    std::set<Letter> expected;
    for (auto i = random() % 5; i > 0; --i) {
      const Letter letter = kLetters[random() % 4];
      set.insert(letter);
      expected.insert(letter);
    }
    EXPECT_EQ(set.empty(), expected.empty());
    for (const Letter letter : kLetters) EXPECT_EQ(set.contains(letter), expected.contains(letter));
  }
}

TEST(EnumSet, is_equal_whatever_the_order) {
  EXPECT_EQ((EnumSet{Letter::a, Letter::d}), (EnumSet{Letter::d, Letter::a, Letter::d}));
  EXPECT_NE((EnumSet{Letter::a, Letter::d}), (EnumSet{Letter::a}));
  EXPECT_NE((EnumSet{Letter::a}), EnumSet<Letter>{});
}

}  // namespace
}  // namespace overlaptune
