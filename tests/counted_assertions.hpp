#pragma once
// Counts the assertions of GoogleTest that a test executes. Every source of a test includes this
// (tests/CMakeLists.txt). The listener (assertion_listener.cpp) fails a test that executed none: it
// could not have failed.

#include <atomic>

#include <gtest/gtest.h>

namespace overlaptune {

inline std::atomic<long> executed_assertions{0};

/// Returns 0.
inline int count_assertion() {
  executed_assertions.fetch_add(1, std::memory_order_relaxed);
  return 0;
}

}  // namespace overlaptune

// Every EXPECT_… and ASSERT_… begins with this macro; GoogleTest has `switch (0)` here.
#undef GTEST_AMBIGUOUS_ELSE_BLOCKER_
#define GTEST_AMBIGUOUS_ELSE_BLOCKER_       \
  switch (::overlaptune::count_assertion()) \
  case 0:                                   \
  default:
