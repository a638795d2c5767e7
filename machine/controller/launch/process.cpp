#include "machine/controller/launch/process.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <string_view>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/base/printable.hpp"

namespace overlaptune::cuda {
namespace {

constexpr std::size_t kKeptWords = 4096;
constexpr std::size_t kKeptOutput = std::size_t{1} << 20;

struct Pipe {
  Descriptor read;
  Descriptor write;
};

Expected<Pipe> make_pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return unavailable("cannot make a pipe: " + system_error());
  }
  Pipe pipe{Descriptor(ends[0]), Descriptor(ends[1])};
  fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK);
  return pipe;
}

/// A null-terminated list of pointers to texts, for system calls.
std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> environment_with(
    const std::vector<std::pair<std::string, std::string>>& additions) {
  std::vector<std::string> list;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto replaced = [&](const auto& addition) {
      return text.substr(0, text.find('=')) == addition.first;
    };
    if (std::ranges::none_of(additions, replaced)) list.emplace_back(text);
  }
  for (const auto& [name, value] : additions) list.push_back(name + "=" + value);
  return list;
}

/// Turns the child into the program. Only calls that are safe after fork are allowed here. Returns
/// if it fails.
void become(const char* program, char** arguments, char** environment, int output, int error,
            pid_t parent) {
  setpgid(0, 0);
  // The child does not inherit signals that the parent ignores.
  signal(SIGPIPE, SIG_DFL);
  signal(SIGXFSZ, SIG_DFL);
  signal(SIGINT, SIG_DFL);
  signal(SIGTERM, SIG_DFL);
  const int input = open("/dev/null", O_RDONLY);
  const bool ready = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && input >= 0 && dup2(input, 0) == 0 &&
                     dup2(output, 1) == 1 && dup2(error, 2) == 2;
  // If the parent died before the prctl, its death sends no signal any more.
  if (ready && getppid() == parent) execve(program, arguments, environment);
}

/// Appends what can be read; closes the descriptor at its end.
void read_into(Descriptor& from, std::string& text) {
  std::array<char, 4096> chunk{};
  while (from.is_open()) {
    const ssize_t count = read(from.get(), chunk.data(), chunk.size());
    if (count > 0) {
      text.append(chunk.data(), static_cast<std::size_t>(count));
    } else if (count == 0) {
      from.close();
    } else if (errno != EINTR) {
      return;
    }
  }
}

}  // namespace

std::string to_string(const Ending& ending) {
  if (ending.signal == 0) return fmt::format("ended with code {}", ending.code);
  return fmt::format("killed by signal {} ({})", ending.signal, strsignal(ending.signal));
}

std::string last_lines(const std::string& text, std::size_t longest) {
  std::string line;
  bool gap = false;
  for (const char c : text) {
    if (c == '\n' || c == '\r') {
      gap = !line.empty();
    } else {
      if (gap) line += "; ";
      gap = false;
      line += c;
    }
  }
  line = printable(line);
  if (line.size() <= longest) return line;
  // Starts at a whole UTF-8 character.
  std::size_t start = line.size() - longest;
  while (start < line.size() && (static_cast<unsigned char>(line[start]) & 0xC0U) == 0x80U) ++start;
  return "..." + line.substr(start);
}

Expected<Process> Process::start(const ProcessOptions& options) {
  const auto fail = [&](int failure) {
    return unavailable(
        fmt::format("{}: cannot be started: {}", options.program, std::strerror(failure)));
  };
  auto error = make_pipe();
  if (!error) return error_of(error);
  auto output = make_pipe();
  if (!output) return error_of(output);
  // Closed by a successful exec; otherwise it carries errno.
  auto failure = make_pipe();
  if (!failure) return error_of(failure);

  std::vector<std::string> arguments = options.arguments;
  arguments.insert(arguments.begin(), options.program);
  std::vector<std::string> environment = environment_with(options.environment);
  std::vector<char*> argv = pointers_to(arguments);
  std::vector<char*> envp = pointers_to(environment);
  const int out = options.keep_output ? output->write.get() : error->write.get();
  const pid_t parent = getpid();
  const pid_t pid = fork();
  if (pid < 0) return fail(errno);
  if (pid == 0) {
    become(options.program.c_str(), argv.data(), envp.data(), out, error->write.get(), parent);
    const int code = errno;
    static_cast<void>(!write(failure->write.get(), &code, sizeof code));
    _exit(127);
  }
  setpgid(pid, pid);  // in parent and child, since either may run first
  failure->write.close();
  int code = 0;
  fcntl(failure->read.get(), F_SETFL, 0);
  ssize_t count = 0;
  do {
    count = read(failure->read.get(), &code, sizeof code);
  } while (count < 0 && errno == EINTR);
  Process process(pid, std::move(error->read), std::move(output->read));
  if (count > 0) return fail(code);
  return process;
}

Process::Process(Process&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      error_(std::move(other.error_)),
      output_(std::move(other.output_)),
      ending_(other.ending_),
      killed_at_(std::exchange(other.killed_at_, std::nullopt)),
      words_(std::move(other.words_)),
      output_text_(std::move(other.output_text_)) {}

Process::~Process() {
  kill();
  if (killed_at_ && !wait(*killed_at_ + kKillLimit)) {
    spdlog::warn("process {} does not end although it was killed: its driver may hang", pid_);
  }
}

std::optional<Ending> Process::ending() {
  if (ending_ || pid_ < 0) return ending_;
  siginfo_t info{};
  // Its number is not used again until it is reaped, so its group can be killed safely.
  const int known = waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
  if (known != 0 && errno == ECHILD) {
    ending_ = Ending{.code = -1};  // reaped elsewhere
  } else if (known == 0 && info.si_pid == pid_) {
    ::kill(-pid_, SIGKILL);  // the processes that it started
    int status = 0;
    waitpid(pid_, &status, 0);
    ending_ = WIFSIGNALED(status) ? Ending{.signal = WTERMSIG(status)}
                                  : Ending{.code = WEXITSTATUS(status)};
  }
  return ending_;
}

std::optional<Ending> Process::wait(Deadline deadline) {
  constexpr int kPauseMilliseconds = 10;
  while (!ending()) {
    const int left = milliseconds_until(deadline);
    if (left == 0) return std::nullopt;
    const int pause = left < 0 ? kPauseMilliseconds : std::min(left, kPauseMilliseconds);
    std::array<pollfd, 2> entries{{{.fd = error_.get(), .events = POLLIN, .revents = 0},
                                   {.fd = output_.get(), .events = POLLIN, .revents = 0}}};
    poll(entries.data(), entries.size(), pause);
    drain();
  }
  drain();
  return ending_;
}

void Process::kill() {
  if (pid_ < 0 || killed_at_ || ending()) return;
  if (::kill(-pid_, SIGKILL) != 0) ::kill(pid_, SIGKILL);
  killed_at_ = Clock::now();
}

void Process::drain(const std::string& name) {
  std::string said;
  read_into(error_, said);
  if (!said.empty()) spdlog::debug("{}: {}", name, last_lines(said, kKeptWords));
  words_ += said;
  if (words_.size() > kKeptWords) words_.erase(0, words_.size() - kKeptWords);
  read_into(output_, output_text_);
  if (output_text_.size() > kKeptOutput) output_text_.resize(kKeptOutput);
}

}  // namespace overlaptune::cuda
