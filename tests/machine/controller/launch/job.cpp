#include "tests/machine/controller/launch/job.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>

#include "machine/controller/launch/installation.hpp"
#include "machine/controller/launch/job_secret.hpp"
#include "machine/controller/wire/connection.hpp"
#include "machine/controller/wire/secret.hpp"
#include "tests/machine/controller/fixtures.hpp"
#include "tests/machine/controller/processes.hpp"

namespace overlaptune::cuda {
namespace {

constexpr const char* kNameVariable = "OVERLAPTUNE_TEST_JOB";

}  // namespace

Environment torchrun_rank(int rank, int size, int port) {
  return {{"RANK", std::to_string(rank)},       {"WORLD_SIZE", std::to_string(size)},
          {"LOCAL_RANK", std::to_string(rank)}, {"LOCAL_WORLD_SIZE", std::to_string(size)},
          {"MASTER_ADDR", "127.0.0.1"},         {"MASTER_PORT", std::to_string(port)}};
}

Environment srun_rank(int rank, int size, int job) {
  return {{"SLURM_PROCID", std::to_string(rank)},
          {"SLURM_NTASKS", std::to_string(size)},
          {"SLURM_LOCALID", std::to_string(rank)},
          {"SLURM_JOB_ID", std::to_string(job)},
          {"SLURM_STEP_ID", "0"},
          {"SLURM_STEP_NUM_NODES", "1"}};
}

int free_port() {
  return value_or_throw(Listener::open()).port();
}

Job::Job(int size, std::function<Environment(int rank)> environment)
    : environment_(std::move(environment)), name_(new_secret()) {
  for (int rank = 0; rank < size; ++rank) folders_.push_back(std::make_unique<tool::Folder>());
}

void Job::start(const std::string& command_line, const std::vector<int>& ranks) {
  std::istringstream words(command_line);
  const std::vector<std::string> arguments{std::istream_iterator<std::string>(words), {}};
  for (auto rank = ranks.rbegin(); rank != ranks.rend(); ++rank) {
    Environment environment = environment_(*rank);
    environment[kWorkerVariable] = fake_worker();
    // Otherwise a file is made in the home of whoever runs the tests.
    environment.try_emplace(kSecretVariable, name_);
    environment["FAKE_DEVICES"] = std::to_string(folders_.size());
    environment[kNameVariable] = name_;
    std::vector<std::unique_ptr<Variable>> set;
    for (const auto& [name, value] : environment) {
      set.push_back(std::make_unique<Variable>(name.c_str(), value));
    }
    processes_[*rank] = std::make_unique<tool::Process>(folder(*rank), arguments);
  }
}

std::vector<tool::Outcome> Job::wait() {
  std::vector<tool::Outcome> outcomes(folders_.size());
  for (const auto& [rank, process] : processes_) {
    outcomes[static_cast<std::size_t>(rank)] = process->wait();
  }
  processes_.clear();
  return outcomes;
}

std::vector<tool::Outcome> Job::run(const std::string& command_line) {
  std::vector<int> ranks;
  for (int rank = 0; rank < static_cast<int>(folders_.size()); ++rank) ranks.push_back(rank);
  start(command_line, ranks);
  return wait();
}

bool Job::leaves_nothing() const {
  return soon([&] { return processes_with(std::string(kNameVariable) + "=" + name_).empty(); });
}

}  // namespace overlaptune::cuda
