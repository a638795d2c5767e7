#include "core/base/own_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/descriptor.hpp"
#include "core/base/text_file.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;

/// Why the file is not to be trusted; empty if it is.
std::string objection(const struct stat& status, mode_t unfit, std::uint64_t longest) {
  if (!S_ISREG(status.st_mode)) return "expected a regular file";
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return fmt::format("it belongs to user {}; expected {} or root", status.st_uid, geteuid());
  }
  const mode_t wrong = status.st_mode & unfit;
  if (wrong != 0) {
    return fmt::format("others may {} it (mode {:04o}); run `chmod go-rw` on it",
                       (wrong & ~kOthersMayWrite) != 0 ? "read" : "write", status.st_mode & 07777);
  }
  if (static_cast<std::uint64_t>(status.st_size) > longest) {
    return fmt::format("{} bytes; expected at most {}", status.st_size, longest);
  }
  return "";
}

}  // namespace

Expected<std::optional<std::string>> read_own_file(const fs::path& file, mode_t unfit,
                                                   std::uint64_t longest) {
  const auto fail = [&](const std::string& why) { return bad_input(file.string() + ": " + why); };
  const Descriptor descriptor(::open(file.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (descriptor.get() < 0) {
    if (errno == ENOENT || errno == ENOTDIR) return std::nullopt;
    if (errno == ELOOP) return fail("expected a regular file, no symbolic link");
    return fail(std::string("cannot be read: ") + std::strerror(errno));
  }
  struct stat status {};
  if (::fstat(descriptor.get(), &status) != 0) return fail(std::strerror(errno));
  if (const std::string why = objection(status, unfit, longest); !why.empty()) return fail(why);
  auto content = read_all(descriptor.get(), longest);
  if (content && content->size() <= longest) return content;
  const int failure = content ? EFBIG : errno;  // it grew
  return fail(std::string("cannot be read: ") + std::strerror(failure));
}

int make_own_folder(const fs::path& folder) {
  std::error_code ignored;
  if (fs::is_directory(folder, ignored)) return 0;
  if (folder.has_parent_path() && folder.parent_path() != folder) {
    if (const int failure = make_own_folder(folder.parent_path()); failure != 0) return failure;
  }
  // Another process may have been faster.
  if (::mkdir(folder.c_str(), 0700) == 0) return 0;
  if (errno != EEXIST) return errno;
  return fs::is_directory(folder, ignored) ? 0 : ENOTDIR;
}

int write_own_file(const fs::path& file, std::string_view content, IfThere if_there) {
  return write_whole_file(file, content, if_there, 0600);
}

fs::path own_folder(const Variables& variables, const char* xdg, const char* below_home) {
  if (const auto folder = variables(xdg); folder && fs::path(*folder).is_absolute()) {
    return fs::path(*folder) / "overlaptune";
  }
  const auto home = variables("HOME");
  return home && !home->empty() ? fs::path(*home) / below_home / "overlaptune" : fs::path();
}

}  // namespace overlaptune
