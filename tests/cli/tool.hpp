#pragma once
// Runs the built program as a user would.

#include <chrono>
#include <csignal>
#include <filesystem>
#include <string>
#include <string_view>
#include <sys/resource.h>
#include <sys/types.h>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune::tool {

struct Outcome {
  int status = 0;  ///< exit code, or -signal for a process that a signal killed
  std::string out{};
  std::string err{};
};

/// A folder of its own, removed at the end; the program runs in it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  /// Names of the files in the folder.
  [[nodiscard]] std::vector<std::string> entries() const;
  /// Writes a file and returns its name.
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::filesystem::path path_;
};

/// A running `overlaptune` with its standard output and error in files of `folder`'s parent.
class Process {
 public:
  /// `largest_file`: the size in bytes up to which it may write a file, to act as a full disk.
  Process(const Folder& folder, const std::vector<std::string>& arguments,
          rlim_t largest_file = RLIM_INFINITY);
  void signal(int number) const;
  [[nodiscard]] bool is_running();
  Outcome wait();

 private:
  std::filesystem::path out_;
  std::filesystem::path err_;
  pid_t pid_ = 0;
  bool ended_ = false;
  int status_ = 0;
};

/// The content of a file.
std::string content(const std::filesystem::path& file);

/// Waits without <thread>: tests that include it also run under ThreadSanitizer, but here the
/// program is tested, not its threads.
void pause(std::chrono::milliseconds time);

/// Runs it to the end. The command line is split at blanks.
Outcome run(const Folder& folder, const std::string& command_line,
            rlim_t largest_file = RLIM_INFINITY);

/// The standard output as JSON, after a check that the program ended well.
nlohmann::json json(const Folder& folder, const std::string& command_line);

}  // namespace overlaptune::tool
