#pragma once
// The message of what a call throws.

#include <string>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace overlaptune {

/// The message of the `Failure` of kind `bad_input` that `call` throws; empty if it throws none.
template <class F>
std::string failure_of(F&& call) {
  try {
    call();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), ErrorKind::bad_input);
    const std::string message = failure.what();
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    return message;
  }
  ADD_FAILURE() << "nothing was thrown";
  return {};
}

}  // namespace overlaptune
