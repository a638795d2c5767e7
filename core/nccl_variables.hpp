#pragma once
// NCCL's environment variables, which may also stand in its files.

#include <optional>
#include <string>
#include <vector>

namespace overlaptune {

/// The files that NCCL reads, the first one first: $NCCL_CONF_FILE, or .nccl.conf in the user's
/// home; then /etc/nccl.conf.
[[nodiscard]] std::vector<std::string> nccl_files();

/// The value that NCCL takes for a variable: that of the environment, else that of the first line
/// `NAME=value` of the first file that has one. A file that cannot be read has none.
[[nodiscard]] std::optional<std::string> nccl_variable(
    const std::string& name, const std::vector<std::string>& files = nccl_files());

}  // namespace overlaptune
