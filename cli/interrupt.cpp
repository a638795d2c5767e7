#include "cli/interrupt.hpp"

#include <csignal>

namespace overlaptune::cli {
namespace {

volatile std::sig_atomic_t arrived = 0;

extern "C" void remember(int signal) {
  arrived = signal;
}

}  // namespace

void catch_interrupts() {
  struct sigaction action {};
  action.sa_handler = remember;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  // `nohup` has it ignored.
  struct sigaction present {};
  if (sigaction(SIGHUP, nullptr, &present) == 0 && present.sa_handler != SIG_IGN) {
    sigaction(SIGHUP, &action, nullptr);
  }
}

void report_failed_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupted() {
  return arrived;
}

}  // namespace overlaptune::cli
