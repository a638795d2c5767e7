#pragma once
// Text files, read whole.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "core/base/error.hpp"

namespace overlaptune {

/// Largest file that is read, where nothing else is said.
inline constexpr std::size_t kMostTextBytes = 32'000'000;

/// The content of `file` without a byte order mark; of `-` that of the standard input. A pipe is
/// read to its end. Error, each naming the file: missing, neither a file nor a pipe, unreadable,
/// empty, more than `most_bytes`, or no text (UTF-16, UTF-32 or a NUL byte, with its line).
[[nodiscard]] Expected<std::string> read_text_file(const std::filesystem::path& file,
                                                   std::size_t most_bytes = kMostTextBytes);

/// Reads to the end, or to one byte more than `most_bytes`, which is enough to refuse a file of any
/// size. None: `errno` says why it cannot be read.
[[nodiscard]] std::optional<std::string> read_all(int descriptor, std::size_t most_bytes);

/// A file as a sentence calls it: "standard input", "the pipe" of `<(command)`, else by its name.
[[nodiscard]] std::string called(const std::string& file);

}  // namespace overlaptune
