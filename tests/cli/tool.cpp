#include "tests/cli/tool.hpp"

#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <poll.h>
#include <sstream>
#include <stdexcept>
#include <sys/wait.h>
#include <unistd.h>

namespace overlaptune::tool {
namespace {

std::filesystem::path new_folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "overlaptune-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw std::runtime_error("no temporary folder");
  return pattern;
}

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

}  // namespace

std::string content(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

Folder::Folder() : path_(new_folder()) {}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
  std::filesystem::remove(path_.string() + ".out", ignored);
  std::filesystem::remove(path_.string() + ".err", ignored);
}

std::vector<std::string> Folder::entries() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string Folder::write(const std::string& name, const std::string& text) const {
  std::ofstream(path_ / name, std::ios::binary) << text;
  return name;
}

Process::Process(const Folder& folder, const std::vector<std::string>& arguments,
                 rlim_t largest_file)
    : out_(folder.path().string() + ".out"), err_(folder.path().string() + ".err") {
  std::vector<std::string> all{OVERLAPTUNE_PROGRAM};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  argv.reserve(all.size() + 1);
  for (std::string& argument : all) argv.push_back(argument.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("cannot fork");
  if (pid_ > 0) return;
  // The child makes only calls that are safe after fork.
  const int in = open("/dev/null", O_RDONLY);
  const int out = open(out_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const int err = open(err_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  const rlimit limit{largest_file, RLIM_INFINITY};
  const bool ready = dup2(in, 0) >= 0 && dup2(out, 1) >= 0 && dup2(err, 2) >= 0 &&
                     chdir(folder.path().c_str()) == 0 && setrlimit(RLIMIT_FSIZE, &limit) == 0;
  if (ready) execv(argv.front(), argv.data());
  _exit(127);
}

void Process::signal(int number) const {
  kill(pid_, number);
}

bool Process::is_running() {
  if (!ended_) ended_ = waitpid(pid_, &status_, WNOHANG) == pid_;
  return !ended_;
}

Outcome Process::wait() {
  if (!ended_) ended_ = waitpid(pid_, &status_, 0) == pid_;
  const int status = WIFSIGNALED(status_) ? -WTERMSIG(status_) : WEXITSTATUS(status_);
  return {.status = status, .out = content(out_), .err = content(err_)};
}

void pause(std::chrono::milliseconds time) {
  poll(nullptr, 0, static_cast<int>(time.count()));
}

Outcome run(const Folder& folder, const std::string& command_line, rlim_t largest_file) {
  return Process(folder, words(command_line), largest_file).wait();
}

nlohmann::json json(const Folder& folder, const std::string& command_line) {
  const Outcome outcome = run(folder, command_line + " --json");
  if (outcome.status != 0) {
    throw std::runtime_error(command_line + ": " + std::to_string(outcome.status) + ": " +
                             outcome.err);
  }
  return nlohmann::json::parse(outcome.out);
}

}  // namespace overlaptune::tool
