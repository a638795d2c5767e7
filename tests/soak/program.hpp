#pragma once
// Running the built program.

#include <filesystem>
#include <map>
#include <string>
#include <sys/types.h>

namespace overlaptune::soak {

/// Starts `overlaptune` with these arguments (split at blanks) in a folder, with these variables in
/// its environment and its output in `log`. Returns its process id.
[[nodiscard]] pid_t start(const std::filesystem::path& folder, const std::string& arguments,
                          const std::map<std::string, std::string>& environment = {});

/// Waits for a process. Its exit code, or 128 and the signal that ended it.
int wait_for(pid_t pid);

}  // namespace overlaptune::soak
