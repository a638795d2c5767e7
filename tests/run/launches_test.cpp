#include "run/gemm/launches.hpp"

#include <vector>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

/// Operands of layer `layer`: each layer has its own weights.
Operands layer(int number) {
  static const std::vector<char> memory(1 << 20);
  return {.a = memory.data(), .b = memory.data() + 16 * number};
}

class Counted {
 public:
  explicit Counted(std::size_t most)
      : values_([this](const Operands& operands) { return ++made_, operands.b; }, most) {}

  /// Values that were made for one pass through layers `first` to `end` (exclusive).
  int pass(int first, int end) {
    const int before = made_;
    for (int i = first; i < end; ++i) EXPECT_EQ(values_[layer(i)], layer(i).b);
    return made_ - before;
  }
  [[nodiscard]] std::size_t size() const { return values_.size(); }
  void clear() { values_.clear(); }

 private:
  int made_ = 0;
  ByOperands<const void*> values_;
};

TEST(LaunchesTest, AreMadeOnceForEachLayer) {
  Counted values(4096);
  EXPECT_EQ(values.pass(0, 4000), 4000);
  EXPECT_EQ(values.pass(0, 4000), 0);
  EXPECT_EQ(values.pass(2000, 3000), 0);
  values.clear();
  EXPECT_EQ(values.size(), 0U);
  EXPECT_EQ(values.pass(0, 3), 3);
}

TEST(LaunchesTest, TheOneNotUsedForLongestGoesFirst) {
  Counted values(4);
  EXPECT_EQ(values.pass(0, 4), 4);
  EXPECT_EQ(values.pass(0, 1), 0);  // layer 1 is now the oldest
  EXPECT_EQ(values.pass(4, 5), 1);
  EXPECT_EQ(values.size(), 4U);
  EXPECT_EQ(values.pass(2, 5), 0);
  EXPECT_EQ(values.pass(0, 1), 0);
  EXPECT_EQ(values.pass(1, 2), 1);
  EXPECT_EQ(values.size(), 4U);
}

TEST(LaunchesTest, EveryOperandCounts) {
  char memory[64] = {};
  int made = 0;
  ByOperands<int> values([&](const Operands&) { return ++made; }, 16);
  Operands operands;
  EXPECT_EQ(values[operands], 1);
  operands.a = memory;
  EXPECT_EQ(values[operands], 2);
  operands.b = memory;
  EXPECT_EQ(values[operands], 3);
  operands.c = memory;
  EXPECT_EQ(values[operands], 4);
  operands.workspace = memory;
  EXPECT_EQ(values[operands], 5);
  EXPECT_EQ(values[Operands{}], 1);
}

TEST(LaunchesTest, AFailedLaunchIsNotKept) {
  bool fails = true;
  ByOperands<int> values(
      [&](const Operands&) {
        if (fails) throw Failure(ErrorKind::bad_input, "no");
        return 7;
      },
      16);
  EXPECT_THROW(static_cast<void>(values[Operands{}]), Failure);
  fails = false;
  EXPECT_EQ(values[Operands{}], 7);
}

TEST(LaunchesTest, FirstOperandsAreReady) {
  std::vector<Operands> first{layer(0), layer(1)};
  int made = 0;
  Launches launches(first, [&](const Operands&) { return ++made, GeneratedLaunch{}; });
  EXPECT_EQ(made, 2);
  static_cast<void>(launches[layer(1)]);
  EXPECT_EQ(made, 2);
  launches.clear();
  static_cast<void>(launches[layer(1)]);
  EXPECT_EQ(made, 3);
}

}  // namespace
}  // namespace overlaptune::run
