#include "db/file/file_size_signal.hpp"

#include <ctime>

namespace overlaptune::db {
namespace {

sigset_t file_size_signal() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGXFSZ);
  return set;
}

}  // namespace

NoFileSizeSignal::NoFileSizeSignal() {
  const sigset_t set = file_size_signal();
  pthread_sigmask(SIG_BLOCK, &set, &before_);
}

NoFileSizeSignal::~NoFileSizeSignal() {
  if (sigismember(&before_, SIGXFSZ) == 1) return;  // the caller waits for it
  const sigset_t set = file_size_signal();
  const timespec at_once{};
  while (sigtimedwait(&set, nullptr, &at_once) == SIGXFSZ) {
  }
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

}  // namespace overlaptune::db
