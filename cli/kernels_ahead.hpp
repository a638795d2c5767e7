#pragma once
// Kernels that are compiled ahead of time for other processes: those that the winners of a database
// need, and the folder that they go to.

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/compile/compile_all.hpp"

namespace overlaptune::cli {

/// The kernels of all winners that GPUs have measured, each once. Throws `Failure` (`bad_input`)
/// where no winner has a generated kernel.
[[nodiscard]] std::vector<kernels::CompileJob> jobs_of_winners(const std::string& database);

/// Stores compiled kernels in a cache that any user may read, with any NVRTC or without one. Throws
/// `Failure` (`cannot_write`).
void store_ahead(const std::filesystem::path& folder, const std::vector<kernels::CompileJob>& jobs,
                 const std::vector<Expected<kernels::Compiled>>& compiled);

}  // namespace overlaptune::cli
