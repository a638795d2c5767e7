#include <gtest/gtest.h>

#include "tests/counted_assertions.hpp"

namespace overlaptune {
namespace {

class AssertionListener : public testing::EmptyTestEventListener {
  void OnTestStart(const testing::TestInfo& /*test*/) override { executed_assertions = 0; }
  void OnTestEnd(const testing::TestInfo& test) override {
    if (executed_assertions > 0 || test.result()->Skipped() || test.result()->Failed()) return;
    ADD_FAILURE() << "the test executed no assertion, so it cannot fail";
  }
};

/// Before main, which is GoogleTest's own.
const bool kListens = [] {
  testing::UnitTest::GetInstance()->listeners().Append(new AssertionListener);
  return true;
}();

}  // namespace
}  // namespace overlaptune
