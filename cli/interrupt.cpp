#include "cli/interrupt.hpp"

#include <csignal>
#include <initializer_list>

#include "core/base/signals.hpp"

namespace overlaptune::cli {
namespace {

volatile std::sig_atomic_t arrived = 0;

extern "C" void remember(int signal) {
  arrived = signal;
}

}  // namespace

void catch_interrupts() {
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) catch_signal(number, remember, SA_RESTART);
}

void report_failed_writes() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
}

int interrupted() {
  return arrived;
}

}  // namespace overlaptune::cli
