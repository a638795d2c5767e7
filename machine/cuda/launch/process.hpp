#pragma once
// A child process that does not outlive this one, with what it says on standard error (and output).

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/error.hpp"
#include "machine/cuda/wire/socket.hpp"

namespace overlaptune::cuda {

/// How long a process that was killed may take until it is gone: the driver of a GPU that gives
/// back tens of gigabytes takes seconds.
inline constexpr std::chrono::seconds kKillLimit{25};

/// How a process ended.
struct Ending {
  int code = 0;    ///< exit code, if no signal killed it
  int signal = 0;  ///< that killed it, or 0
  friend bool operator==(const Ending&, const Ending&) = default;
};

/// "ended with code 1", "killed by signal 11 (Segmentation fault)".
[[nodiscard]] std::string to_string(const Ending& ending);

struct ProcessOptions {
  std::string program;  ///< a path; PATH is not searched
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};  ///< beside this process's own
  bool keep_output = false;  ///< standard output apart; otherwise it goes with standard error
};

/// Killed and reaped at the end, unless it is not gone `kKillLimit` after it was killed. It is in a
/// process group of its own, so that Ctrl-C on the terminal reaches only its parent, which can then
/// finish what is under way; the system kills it when the thread that started it ends, however that
/// happens.
class Process {
 public:
  /// Error (`machine_unavailable`): no such program, no more processes.
  [[nodiscard]] static Expected<Process> start(const ProcessOptions& options);
  ~Process();
  Process(Process&& other) noexcept;
  Process& operator=(Process&&) = delete;
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// None while it runs. Never waits.
  [[nodiscard]] std::optional<Ending> ending();
  /// None if it runs longer. Reads what it says meanwhile.
  [[nodiscard]] std::optional<Ending> wait(Deadline deadline);
  /// SIGKILL to its whole group, if it runs. Never waits.
  void kill();

  /// Reads what it said since, so that it need not wait for us, and logs it (debug).
  /// `name`: of the process, in the log.
  void drain(const std::string& name = "worker");
  /// For poll: becomes readable when it says something, or ends.
  [[nodiscard]] int descriptor() const { return error_.get(); }
  /// The end of what it said on standard error; a few kilobytes.
  [[nodiscard]] const std::string& last_words() const { return words_; }
  /// What it said on standard output, if kept; at most 1 MiB.
  [[nodiscard]] const std::string& output() const { return output_text_; }

 private:
  Process(pid_t pid, FileDescriptor error, FileDescriptor output)
      : pid_(pid), error_(std::move(error)), output_(std::move(output)) {}

  pid_t pid_;
  FileDescriptor error_;
  FileDescriptor output_;
  std::optional<Ending> ending_{};
  std::optional<Deadline> killed_at_{};
  std::string words_{};
  std::string output_text_{};
};

/// The last lines of a text as one: "first; second". At most `longest` bytes.
[[nodiscard]] std::string last_lines(const std::string& text, std::size_t longest = 400);

}  // namespace overlaptune::cuda
