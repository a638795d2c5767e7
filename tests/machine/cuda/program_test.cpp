// The built program over fake workers, alone and under a launcher.

#include <unistd.h>

#include <gtest/gtest.h>

#include "machine/cuda/connection.hpp"
#include "machine/cuda/installation.hpp"
#include "tests/cli/tool.hpp"
#include "tests/machine/cuda/fixtures.hpp"
#include "tests/machine/cuda/processes.hpp"

namespace overlaptune::cuda {
namespace {

class Program : public testing::Test {
 protected:
  Variable worker_{kWorkerVariable, fake_worker()};
  Variable devices_{"FAKE_DEVICES", "2"};
};

TEST_F(Program, probes_on_workers_of_its_own) {
  const tool::Folder folder;
  const auto document = tool::json(folder, "probe --machine cuda --allow-multicast --db f.db");
  EXPECT_EQ(document.at("platform"), "fake-100-nvlink-x2");
  EXPECT_GT(document.at("measured"), 0);
  EXPECT_TRUE(children_of(getpid()).empty());
}

TEST_F(Program, is_an_agent_on_every_rank_but_the_first) {
  const int port = value_or_throw(Listener::open()).port();
  const tool::Folder first;
  const tool::Folder second;
  const auto start = [&](const tool::Folder& folder, const char* rank) {
    const Variable own_rank("RANK", rank);
    const Variable local_rank("LOCAL_RANK", rank);
    const Variable size("WORLD_SIZE", "2");
    const Variable address("MASTER_ADDR", "127.0.0.1");
    const Variable meeting_port("MASTER_PORT", std::to_string(port));
    return std::make_unique<tool::Process>(
        folder, std::vector<std::string>{"probe", "--machine", "cuda", "--db", "f.db", "--json"});
  };
  const auto agent = start(second, "1");
  const auto controller = start(first, "0");
  const tool::Outcome measured = controller->wait();
  EXPECT_EQ(measured.status, 0) << measured.err;
  EXPECT_EQ(nlohmann::json::parse(measured.out).at("platform"), "fake-100-nvlink-x2");
  const tool::Outcome idle = agent->wait();
  EXPECT_EQ(idle.status, 0) << idle.err;
  EXPECT_EQ(idle.out, "");
  EXPECT_TRUE(second.entries().empty());
}

}  // namespace
}  // namespace overlaptune::cuda
