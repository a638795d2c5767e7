#pragma once
// Work in a process of its own, for tests that kill it or limit it.

#include <csignal>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iostream>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include "core/base/error.hpp"

namespace overlaptune::samples {

/// A forked process that runs `work` and exits with its return value; 99 if it throws.
class Child {
 public:
  explicit Child(const std::function<int()>& work) : pid_(fork()) {
    if (pid_ != 0) return;
    int code = 99;
    try {
      code = work();
    } catch (const std::exception& error) {
      std::cerr << "child: " << error.what() << '\n';
    }
    std::cerr.flush();
    _exit(code);  // no destructors, no output of the parent's buffers
  }
  ~Child() {
    if (running_) kill_it();
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  void kill_it() {
    kill(pid_, SIGKILL);
    (void)wait();
  }
  /// The exit code, or -1 if a signal ended it.
  int wait() {
    int status = 0;
    waitpid(pid_, &status, 0);
    running_ = false;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t pid_;
  bool running_ = true;
};

/// The message of the `Failure` of this kind that `work` must throw: one line.
inline std::string failure(ErrorKind kind, const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    EXPECT_EQ(failure.kind(), kind) << failure.what();
    EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos) << failure.what();
    return failure.what();
  }
  ADD_FAILURE() << "expected a failure";
  return {};
}

}  // namespace overlaptune::samples
