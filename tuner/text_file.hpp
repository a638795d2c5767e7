#pragma once
// Small text files, read whole.

#include <cstddef>
#include <filesystem>
#include <string>

#include "core/error.hpp"

namespace overlaptune {

/// The content of `file`. Error, each naming the file: missing, not a regular file, unreadable,
/// empty, or more than `most_bytes`.
[[nodiscard]] Expected<std::string> read_text_file(const std::filesystem::path& file,
                                                   std::size_t most_bytes);

}  // namespace overlaptune
