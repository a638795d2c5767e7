#pragma once
// Plans that are wrong on purpose, to test validation.

namespace overlaptune::run {

/// The faults that validation must find. With `missing_signal` the last group of `signaled` does
/// not start until the plan is released.
enum class Mutant { none, skipped_tile, skipped_k_step, missing_wait, missing_signal };

}  // namespace overlaptune::run
