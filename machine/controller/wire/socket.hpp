#pragma once
// System basics of every connection: the clock of every wait, and errors and this host in words.

#include <chrono>
#include <string>

namespace overlaptune::cuda {

using Clock = std::chrono::steady_clock;
/// `Deadline::max()`: never.
using Deadline = Clock::time_point;

/// Time-out for poll: milliseconds until `deadline`, at least 0 and rounded up; -1 for never.
[[nodiscard]] int milliseconds_until(Deadline deadline);

/// `errno` in words, as in "Connection refused".
[[nodiscard]] std::string system_error();

/// Name of this host, for messages.
[[nodiscard]] std::string host_name();

}  // namespace overlaptune::cuda
