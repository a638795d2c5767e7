#pragma once
// Plans that are wrong on purpose.

namespace overlaptune::run {

/// What validation must find out. (`missing_signal`, of `signaled`: its last group does not start
/// until the plan is released.)
enum class Mutant { none, skipped_tile, skipped_k_step, missing_wait, missing_signal };

}  // namespace overlaptune::run
