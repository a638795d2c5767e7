#pragma once
// Signals that the program answers itself.

#include <csignal>

namespace overlaptune {

/// From now on the first signal of this number calls `handler`, and the second one does what it
/// would do without. A signal that is ignored stays ignored: a shell starts background jobs so
/// (POSIX, "Asynchronous Lists"), and `nohup` all. `flags`: further ones of sigaction.
inline void catch_signal(int number, void (*handler)(int), int flags) {
  struct sigaction present {};
  if (sigaction(number, nullptr, &present) == 0 && present.sa_handler == SIG_IGN) return;
  struct sigaction action {};
  action.sa_handler = handler;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | flags;
  sigemptyset(&action.sa_mask);
  sigaction(number, &action, nullptr);
}

}  // namespace overlaptune
