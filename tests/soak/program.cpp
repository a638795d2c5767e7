#include "program.hpp"

#include <cstdlib>
#include <fcntl.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace overlaptune::soak {

pid_t start(const std::filesystem::path& folder, const std::string& arguments,
            const std::map<std::string, std::string>& environment) {
  std::vector<std::string> words{OVERLAPTUNE_PROGRAM};
  std::istringstream in(arguments);
  for (std::string word; in >> word;) words.push_back(word);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  const pid_t pid = fork();
  if (pid != 0) return pid;
  const int log = open((folder / "log").c_str(), O_CREAT | O_WRONLY | O_APPEND, 0666);
  if (chdir(folder.c_str()) != 0) _exit(99);
  dup2(log, STDOUT_FILENO);
  dup2(log, STDERR_FILENO);
  for (const auto& [name, value] : environment) setenv(name.c_str(), value.c_str(), 1);
  execv(pointers[0], pointers.data());
  _exit(99);
}

int wait_for(pid_t pid) {
  int status = 0;
  waitpid(pid, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace overlaptune::soak
