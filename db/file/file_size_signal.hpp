#pragma once
// The signal that ends a process whose file would exceed its limit (`ulimit -f`).

#include <csignal>

namespace overlaptune::db {

/// Keeps SIGXFSZ from this thread: a write over the limit then fails like one to a full disk. The
/// program ignores the signal; this is for the programs that use the library, which may not.
class NoFileSizeSignal {
 public:
  NoFileSizeSignal();
  ~NoFileSizeSignal();
  NoFileSizeSignal(const NoFileSizeSignal&) = delete;
  NoFileSizeSignal& operator=(const NoFileSizeSignal&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace overlaptune::db
