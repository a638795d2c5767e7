#pragma once
// Files that appear whole, or not at all.

#include <filesystem>
#include <string_view>
#include <sys/types.h>

namespace overlaptune {

/// How the name of a file that is being written begins; `kWritingLetters` random ones follow.
inline constexpr std::string_view kWriting = "writing-";
inline constexpr std::size_t kWritingLetters = 6;

enum class IfThere { replace, keep };

/// Writes a file with the rights `mode` (less those that the umask takes away) and flushes it to
/// the disk before it appears under its name; a link of that name is replaced, not followed. Until
/// then the file has no name, so that nothing is left where the process is killed. On a file
/// system that knows no files without a name (NFS), it has one that nobody can foresee, and only
/// SIGKILL leaves it. Returns an errno, or 0; EEXIST if the file is there and is kept.
[[nodiscard]] int write_whole_file(const std::filesystem::path& file, std::string_view content,
                                   IfThere if_there, mode_t mode);

}  // namespace overlaptune
