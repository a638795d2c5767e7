#pragma once
// Files that a program keeps for its user, and that nobody else may have changed or read.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include "core/base/environment.hpp"
#include "core/base/error.hpp"
#include "core/base/whole_file.hpp"

namespace overlaptune {

/// Rights of the group and of others that make a file unfit, as bits of its mode.
inline constexpr mode_t kOthersMayWrite = 0022;
inline constexpr mode_t kOthersMayReadOrWrite = 0066;

/// The content of a regular file that belongs to this user or to root; none if there is no file.
/// A symbolic link is not followed, and a FIFO does not block. Error (`bad_input`): another kind of
/// file, another owner, one of the rights in `unfit`, more than `longest` bytes, or no right to
/// read it.
[[nodiscard]] Expected<std::optional<std::string>> read_own_file(const std::filesystem::path& file,
                                                                 mode_t unfit,
                                                                 std::uint64_t longest);

/// Creates the folder and those above it that are missing, all for this user alone (mode 0700).
/// Folders that exist stay as they are. Returns an errno, or 0.
[[nodiscard]] int make_own_folder(const std::filesystem::path& folder);

/// Writes a file for this user alone (mode 0600), whole or not at all (`write_whole_file`). Returns
/// an errno, or 0; EEXIST if the file is there and is kept.
[[nodiscard]] int write_own_file(const std::filesystem::path& file, std::string_view content,
                                 IfThere if_there);

/// The folder for overlaptune's files of one kind: `overlaptune` in the folder that the variable
/// `xdg` names, else in `below_home` of the user's home. Empty if neither is known. The XDG Base
/// Directory Specification ignores relative paths.
[[nodiscard]] std::filesystem::path own_folder(const Variables& variables, const char* xdg,
                                               const char* below_home);

}  // namespace overlaptune
