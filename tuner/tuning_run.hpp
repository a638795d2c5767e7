#pragma once
// The stored run that results of tuning belong to: a new run, or the last one continued.

#include <span>
#include <string>

#include "core/problem.hpp"
#include "db/store.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {

/// The request of a run, as one line of text.
[[nodiscard]] std::string request_of(std::span<const Problem> problems, const TuneOptions& options);

/// Begins a run, or with `options.resume` continues the platform's last run where there is one.
/// Error: `bad_input` where that run had another request.
[[nodiscard]] Expected<TuningRun> open_run(Store& store, PlatformId platform,
                                           std::span<const Problem> problems,
                                           const TuneOptions& options);

}  // namespace overlaptune
