#include "tests/cli/tuned.hpp"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <unistd.h>

namespace overlaptune::tool {

/// Every test is a process of its own. The first one tunes for all of them, once for each build of
/// the program.
void tune_once(const Folder& folder) {
  namespace fs = std::filesystem;
  const fs::path program = OVERLAPTUNE_PROGRAM;
  const fs::path cache = program.string() + ".tuned";
  fs::create_directories(cache);
  const int lock = open((cache / "lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(flock(lock, LOCK_EX), 0);
  if (!fs::exists(cache / "tuned.json") ||
      fs::last_write_time(cache / "tuned.json") < fs::last_write_time(program)) {
    const std::string text = json(folder, kTune).dump();
    fs::copy_file(folder / "f.db", cache / "f.db", fs::copy_options::overwrite_existing);
    std::ofstream(cache / "tuned.json") << text;
  }
  fs::copy_file(cache / "f.db", folder / "f.db", fs::copy_options::overwrite_existing);
  fs::copy_file(cache / "tuned.json", folder / "tuned.json");
  close(lock);
}

void Tuned::SetUpTestSuite() {
  folder = new Folder;
  tune_once(*folder);
  std::ifstream in(*folder / "tuned.json");
  tuned = new nlohmann::json(nlohmann::json::parse(in));
}

void Tuned::TearDownTestSuite() {
  delete tuned;
  delete folder;
}

}  // namespace overlaptune::tool
