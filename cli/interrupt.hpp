#pragma once
// Ctrl-C, SIGTERM and SIGHUP: a flag that long work looks at between two measurements.

namespace overlaptune::cli {

/// From now on the first SIGINT, SIGTERM or SIGHUP only sets the flag, unless it is ignored; the
/// second one of its kind kills.
/// Commands that measure call this; a signal kills any other command.
void catch_interrupts();

/// From now on writes that cannot succeed (a closed pipe, a file that may not grow) return errors
/// instead of killing.
void report_failed_writes();

/// The signal that arrived, or 0.
[[nodiscard]] int interrupted();

}  // namespace overlaptune::cli
