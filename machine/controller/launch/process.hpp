#pragma once
// A child process that does not outlive this one, with its standard error (and output).

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <utility>
#include <vector>

#include "core/base/descriptor.hpp"
#include "core/base/error.hpp"
#include "machine/controller/wire/socket.hpp"

namespace overlaptune::cuda {

/// How long a killed process may take to end: a GPU's driver takes seconds to give back tens of
/// gigabytes.
inline constexpr std::chrono::seconds kKillLimit{25};

/// How a process ended.
struct Ending {
  int code = 0;    ///< exit code, if no signal killed it
  int signal = 0;  ///< number of the signal that killed it, or 0
  friend bool operator==(const Ending&, const Ending&) = default;
};

/// In words: "ended with code 1", "killed by signal 11 (Segmentation fault)".
[[nodiscard]] std::string to_string(const Ending& ending);

struct ProcessOptions {
  std::string program;  ///< a path; PATH is not searched
  std::vector<std::string> arguments{};
  std::vector<std::pair<std::string, std::string>> environment{};  ///< beside this process's own
  bool keep_output = false;  ///< keeps standard output apart; otherwise it goes to standard error
};

/// A process in a process group of its own, so that Ctrl-C on the terminal reaches only its parent,
/// which can then finish what is under way. The destructor kills it, and reaps it if it ends within
/// `kKillLimit`. The system kills it when the thread that started it ends, in whatever way.
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
  /// How the process ended; none while it runs. Never waits.
  [[nodiscard]] std::optional<Ending> ending();
  /// Waits for the end of the process; none if it runs longer. Reads its output meanwhile.
  [[nodiscard]] std::optional<Ending> wait(Deadline deadline);
  /// Sends SIGKILL to the whole group, if the process runs. Never waits.
  void kill();

  /// Reads and logs (debug) what the process has written since, so that it never waits for us.
  /// `name`: the name of the process in the log.
  void drain(const std::string& name = "worker");
  /// Descriptor for poll: becomes readable when the process writes to standard error, or ends.
  [[nodiscard]] int descriptor() const { return error_.get(); }
  /// The end of its standard error; a few kilobytes.
  [[nodiscard]] const std::string& last_words() const { return words_; }
  /// Its standard output, if kept; at most 1 MiB.
  [[nodiscard]] const std::string& output() const { return output_text_; }

 private:
  Process(pid_t pid, Descriptor error, Descriptor output)
      : pid_(pid), error_(std::move(error)), output_(std::move(output)) {}

  pid_t pid_;
  Descriptor error_;
  Descriptor output_;
  std::optional<Ending> ending_{};
  std::optional<Deadline> killed_at_{};
  std::string words_{};
  std::string output_text_{};
};

/// The end of a text in one line: "first; second", with control characters escaped. At most
/// `longest` bytes.
[[nodiscard]] std::string last_lines(const std::string& text, std::size_t longest = 400);

}  // namespace overlaptune::cuda
